package handshake_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/internal/handshake"
	"github.com/pintleauth/pintle/internal/query"
	"github.com/pintleauth/pintle/oauth"
)

func TestHooks(t *testing.T) {
	t.Run("TikTok adds a field to the token request, VK ID one of the callback", func(t *testing.T) {
		o := newOP(t)
		p := o.oauth2()
		p.TokenRequest = func(r *oauth.TokenRequest) error {
			r.Form.Set("client_key", clientID)
			r.Header.Set("X-Odd", "1")
			r.Form.Set("device_id", r.Callback["device_id"])
			return nil
		}
		with := options()
		with.Params = query.Values{{Key: "device_id", Value: "d1"}}
		if _, err := p.Redeem(t.Context(), with); err != nil {
			t.Fatal(err)
		}
		if r := o.last(t, "/token"); r.form.Get("client_key") != clientID || r.form.Get("device_id") != "d1" || r.header.Get("X-Odd") != "1" {
			t.Errorf("form = %v", r.form)
		}
	})
	t.Run("Twitch sends a list as scope, FusionAuth a challenge", func(t *testing.T) {
		o := newOP(t)
		o.answer["/token"] = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", "Basic")
			sendJSON(w, map[string]any{"access_token": "a", "token_type": "bearer", "scope": []string{"a", "b"}})
		}
		p := o.oauth2()
		p.TokenResponse = func(r *oauth.TokenResponse) error {
			r.Header.Del("WWW-Authenticate")
			r.Body["scope"] = "a b"
			return nil
		}
		r, err := p.Redeem(t.Context(), options())
		if err != nil || r.Tokens["scope"] != "a b" {
			t.Errorf("Redeem = %v, %v", r, err)
		}
	})
	t.Run("Entra ID reports an error with status 200", func(t *testing.T) {
		o := newOP(t)
		o.answer["/token"] = saying(200, "application/json", `{"error":"interaction_required","error_description":"about `+theCode+`"}`)
		p := o.oauth2()
		p.TokenResponse = func(r *oauth.TokenResponse) error {
			code, _ := r.Body["error"].(string)
			description, _ := r.Body["error_description"].(string)
			return &handshake.ResponseError{Code: code, Description: description}
		}
		_, err := p.Redeem(t.Context(), options())
		wantError(t, err, "interaction_required")
		e, ok := errors.AsType[*handshake.ResponseError](err)
		if !ok || e.Code != "interaction_required" || strings.Contains(e.Description, theCode) {
			t.Errorf("error %v is %+v", err, e)
		}
	})
	t.Run("DingTalk exchanges JSON", func(t *testing.T) {
		o := newOP(t)
		p := o.oauth2()
		p.Exchange = func(_ context.Context, _ *http.Client, r *oauth.TokenRequest) (*oauth.TokenResponse, error) {
			return &oauth.TokenResponse{Status: 200, Body: map[string]any{"access_token": "for " + r.Form.Get("code"), "token_type": "bearer"}}, nil
		}
		r, err := p.Redeem(t.Context(), options())
		if err != nil || r.Tokens["access_token"] != "for "+theCode {
			t.Errorf("Redeem = %v, %v", r, err)
		}
		p.Exchange = func(context.Context, *http.Client, *oauth.TokenRequest) (*oauth.TokenResponse, error) {
			return nil, nil
		}
		_, err = p.Redeem(t.Context(), options())
		wantError(t, err, "returned nothing")
	})
	t.Run("Apple sends the name beside the code, once", func(t *testing.T) {
		o := newOP(t)
		p := o.provider()
		p.AmendProfile = func(_ context.Context, _ *http.Client, a *oauth.Answer) error {
			a.Profile["user"] = a.Callback["user"]
			return nil
		}
		with := options()
		with.Params = query.Values{{Key: "user", Value: `{"name":{}}`}}
		r, err := p.Redeem(t.Context(), with)
		if err != nil || r.Profile["user"] != `{"name":{}}` {
			t.Errorf("Redeem = %v, %v", r, err)
		}
	})
	t.Run("a profile of the provider's own request", func(t *testing.T) {
		o := newOP(t)
		o.answer["/me"] = saying(200, "application/json", `{"response":[{"id":9007199254740993}]}`)
		p := o.oauth2()
		p.UserInfo.URL = ""
		p.FetchProfile = func(ctx context.Context, c *http.Client, tokens map[string]any) (map[string]any, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.issuer+"/me?access_token="+tokens["access_token"].(string), http.NoBody)
			if err != nil {
				return nil, err
			}
			v, err := handshake.Fetch(c, req)
			if err != nil {
				return nil, err
			}
			return v.(map[string]any)["response"].([]any)[0].(map[string]any), nil
		}
		r, err := p.Redeem(t.Context(), options())
		if err != nil || r.Profile["id"] != json.Number("9007199254740993") {
			t.Fatalf("Redeem = %v, %v", r, err)
		}
		o.answer["/me"] = saying(403, "application/json", `{"id":"forbidden"}`)
		_, err = p.Redeem(t.Context(), options())
		wantError(t, err, "status 403")
	})
	t.Run("SH-13 an error of a hook that has the token in its URL", func(t *testing.T) {
		o := newOP(t)
		p := o.oauth2()
		p.FetchProfile = func(ctx context.Context, c *http.Client, tokens map[string]any) (map[string]any, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://127.0.0.1:1/me?access_token="+tokens["access_token"].(string), http.NoBody)
			if err != nil {
				return nil, err
			}
			resp, err := c.Do(req)
			if err == nil {
				err = resp.Body.Close()
			}
			return nil, err
		}
		_, err := p.Redeem(t.Context(), options())
		wantError(t, err, "[redacted]")
	})
	t.Run("SH-37 a profile that is nil", func(t *testing.T) {
		o := newOP(t)
		p := o.oauth2()
		p.FetchProfile = func(context.Context, *http.Client, map[string]any) (map[string]any, error) { return nil, nil }
		_, err := p.Redeem(t.Context(), options())
		wantError(t, err, "returned no profile")
	})
	t.Run("a hosted domain that may not sign in", func(t *testing.T) {
		o := newOP(t)
		p := o.provider()
		p.CheckClaims = func(claims map[string]any) error {
			if claims["hd"] != "example.test" {
				return errors.New("not of our domain")
			}
			return nil
		}
		_, err := p.Redeem(t.Context(), options())
		wantError(t, err, "not of our domain")
	})
	t.Run("W-19 the client of a hook is as careful as ours", func(t *testing.T) {
		o := newOP(t)
		p := o.oauth2()
		p.FetchProfile = func(ctx context.Context, c *http.Client, _ map[string]any) (map[string]any, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://op.example.test/me", http.NoBody)
			if err != nil {
				return nil, err
			}
			_, err = handshake.Fetch(c, req)
			return nil, err
		}
		_, err := p.Redeem(t.Context(), options())
		wantError(t, err, "not encrypted")
	})
}
