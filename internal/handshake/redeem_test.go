package handshake_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pintleauth/pintle/internal/handshake"
	"github.com/pintleauth/pintle/internal/query"
)

// oauth2 returns a plain OAuth 2 client of o.
func (o *op) oauth2() *handshake.Provider {
	return &handshake.Provider{
		ID: "op", ClientID: clientID, ClientSecret: clientSecret, PKCE: true,
		Authorization: handshake.Endpoint{URL: o.issuer + "/authorize"},
		Token:         handshake.Endpoint{URL: o.issuer + "/token"},
		UserInfo:      handshake.Endpoint{URL: o.issuer + "/userinfo"},
	}
}

func TestOpenIDConnectSignIn(t *testing.T) {
	o := newOP(t)
	o.tokens = func(m map[string]any) { m["session_state"], m["id"] = "x", json.RawMessage("76561197960287930123") }
	o.claims = func(m map[string]any) { m["big"] = json.RawMessage("9007199254740993") }
	before := time.Now().Unix()
	r, err := o.provider().Redeem(t.Context(), options())
	if err != nil {
		t.Fatal(err)
	}
	at, _ := r.Tokens["expires_at"].(int64)
	if at < before+3600 || at > time.Now().Unix()+3600 {
		t.Errorf("expires_at = %v, want an hour from now", r.Tokens["expires_at"])
	}
	delete(r.Tokens, "expires_at")
	delete(r.Tokens, "id_token")
	want := map[string]any{
		"access_token": "access-5d41402a", "token_type": "bearer", "scope": "openid", "session_state": "x",
		"expires_in": json.Number("3600"), "id": json.Number("76561197960287930123"),
	}
	if d := cmp.Diff(want, r.Tokens); d != "" {
		t.Errorf("tokens (-want +got):\n%s", d)
	}
	if r.Profile["sub"] != "sub-alice" || r.Profile["big"] != json.Number("9007199254740993") {
		t.Errorf("profile = %v", r.Profile)
	}
	if d := cmp.Diff(r.IDTokenClaims, r.Profile); d != "" {
		t.Errorf("the profile is not the claims:\n%s", d)
	}
	if o.count("/userinfo") != 0 {
		t.Error("userinfo was requested although the ID token has the profile")
	}

	sent := o.last(t, "/token")
	wantForm := url.Values{
		"grant_type": {"authorization_code"}, "code": {theCode}, "redirect_uri": {redirectURI}, "code_verifier": {theVerifier},
	}
	if d := cmp.Diff(wantForm, sent.form); d != "" || sent.method != "POST" {
		t.Errorf("%s token request (-want +got):\n%s", sent.method, d)
	}
	if got := sent.header.Get("Content-Type"); got != "application/x-www-form-urlencoded;charset=UTF-8" {
		t.Errorf("Content-Type = %q", got)
	}
	if got := sent.header.Get("Accept"); got != "application/json" {
		t.Errorf("Accept = %q", got)
	}
}

func TestOAuth2SignIn(t *testing.T) {
	o := newOP(t)
	o.profile = func(m map[string]any) { delete(m, "sub"); m["id"] = json.RawMessage("9007199254740993") }
	p := o.oauth2()
	p.UserInfo.Params = query.Values{{Key: "user.fields", Value: "a,b"}}
	p.Token.Params = query.Values{{Key: "v", Value: "5.131"}}
	r, err := p.Redeem(t.Context(), options())
	if err != nil {
		t.Fatal(err)
	}
	if r.Profile["id"] != json.Number("9007199254740993") {
		t.Errorf("profile = %v: the id lost digits", r.Profile)
	}
	if r.IDTokenClaims != nil {
		t.Error("an ID token that nothing verified was believed")
	}
	if _, ok := r.Tokens["id_token"].(string); !ok {
		t.Error("the ID token is not among the tokens")
	}
	sent := o.last(t, "/userinfo")
	if got := sent.header.Get("Authorization"); got != "Bearer access-5d41402a" || sent.method != "GET" {
		t.Errorf("RP-13 userinfo by %s with Authorization %q", sent.method, got)
	}
	if got := sent.query.Get("user.fields"); got != "a,b" {
		t.Errorf("user.fields = %q", got)
	}
	if got := o.last(t, "/token").query.Get("v"); got != "5.131" {
		t.Errorf("v = %q", got)
	}
}

func TestOAuth2WithADocumentVerifiesTheIDTokenToo(t *testing.T) {
	o := newOP(t)
	o.claims = func(m map[string]any) { delete(m, "nonce") }
	p := &handshake.Provider{ID: "op", ClientID: clientID, ClientSecret: clientSecret, Issuer: o.issuer}
	r, err := p.Redeem(t.Context(), options())
	if err != nil {
		t.Fatal(err)
	}
	if r.IDTokenClaims["sub"] != "sub-alice" || r.Profile["name"] != "Alice From Userinfo" {
		t.Errorf("claims = %v, profile = %v", r.IDTokenClaims, r.Profile)
	}
	o.key = otherKey()
	_, err = p.Redeem(t.Context(), options())
	wantError(t, err, "id token")
}

func TestTokenResponsesThatAreRefused(t *testing.T) {
	set := func(name string, v any) func(*op) {
		return func(o *op) { o.tokens = func(m map[string]any) { m[name] = v } }
	}
	omit := func(name string) func(*op) {
		return func(o *op) { o.tokens = func(m map[string]any) { delete(m, name) } }
	}
	answer := func(h http.HandlerFunc) func(*op) { return func(o *op) { o.answer["/token"] = h } }
	tests := []struct {
		name string
		lie  func(*op)
		want string
	}{
		{"a server error", answer(saying(500, "text/plain", "Internal Server Error")), "status 500"},
		{"an error", answer(saying(400, "application/json", `{"error":"invalid_grant","error_description":"expired"}`)), `status 400 "invalid_grant": "expired"`},
		{"SH-13 an error that repeats the request", answer(saying(400, "application/json", `{"error":"invalid_grant","error_description":"code `+theCode+` of `+clientSecret+`"}`)), "[redacted]"},
		{"a challenge", answer(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", `Basic realm="op"`)
			sendJSON(w, map[string]any{"access_token": "a", "token_type": "bearer"})
		}), "WWW-Authenticate"},
		{"a page", answer(saying(200, "text/html", "<!doctype html><h1>Sorry</h1>")), "not a JSON object"},
		{"half an object", answer(saying(200, "application/json", `{"access_token":"at_0`)), "not a JSON object"},
		{"nothing", answer(saying(200, "application/json", "")), "not a JSON object"},
		{"a list", answer(saying(200, "application/json", "[]")), "not a JSON object"},
		{"null", answer(saying(200, "application/json", "null")), "not a JSON object"},
		{"two objects", answer(saying(200, "application/json", `{"access_token":"a","token_type":"bearer"}{}`)), "not a JSON object"},
		{"a form without FormTokenBody", answer(saying(200, "application/x-www-form-urlencoded", "access_token=a&token_type=bearer")), "not a JSON object"},
		{"created", answer(saying(201, "application/json", `{"access_token":"a","token_type":"bearer"}`)), "status 201"},
		{"an error in a success", answer(saying(200, "application/json", `{"error":"bad_verification_code"}`)), "bad_verification_code"},
		{"a dropped connection", answer(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), "POST"},
		{"no access token", omit("access_token"), "access_token is missing"},
		{"an empty access token", set("access_token", ""), "access_token is missing"},
		{"an access token that is no text", set("access_token", 5), "access_token is missing"},
		{"RP-5 no token type", omit("token_type"), "TokenTypeOptional"},
		{"RP-5 an unknown token type", set("token_type", "mac"), `"mac" is not bearer`},
		{"RP-5 a token that needs a proof", set("token_type", "DPoP"), "dpop, but no proof was sent"},
		{"a token type that is no text", set("token_type", []string{"bearer"}), "token_type"},
		{"a lifetime that is no number", set("expires_in", "soon"), "expires_in"},
		{"a negative lifetime", set("expires_in", -5), "expires_in"},
		{"a lifetime without end", set("expires_in", "Inf"), "expires_in"},
		{"a lifetime that is not a number", set("expires_in", "NaN"), "expires_in"},
		{"a lifetime that is a list", set("expires_in", []int{5}), "expires_in"},
		{"a lifetime beyond all time", set("expires_in", 1e300), "expires_in"},
		{"a refresh token that is no text", set("refresh_token", 5), "refresh_token is a number"},
		{"an empty refresh token", set("refresh_token", ""), "refresh_token"},
		{"a scope that is a list", set("scope", []string{"openid"}), "scope is a list"},
		{"RP-5 no ID token", omit("id_token"), "id token is missing"},
		{"an ID token that is null", set("id_token", nil), "id token is missing"},
		{"an ID token that is an object", set("id_token", map[string]any{"jwt": true}), "id_token is an object"},
		{"BCP-21 a response without end", answer(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"access_token":"` + strings.Repeat("x", 2<<20) + `"}`))
		}), "larger than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := newOP(t)
			tt.lie(o)
			r, err := o.provider().Redeem(t.Context(), options())
			wantError(t, err, tt.want)
			if r != nil {
				t.Error("SH-51 there is a result beside the error")
			}
			if o.count("/token") > 2 { // net/http may repeat on a dropped connection
				t.Errorf("SH-77 the code was sent %d times", o.count("/token"))
			}
		})
	}
}

func TestAnUnknownClientIsToldWhatToCompare(t *testing.T) {
	const remedy = "compare ClientID and ClientSecret (AUTH_OP_ID, AUTH_OP_SECRET)"
	for _, tt := range []struct {
		status int
		body   string
		told   bool
	}{
		{400, `{"error":"invalid_client"}`, true},
		{401, `{}`, true},
		{401, `{"error":"invalid_client"}`, true},
		{400, `{"error":"invalid_grant"}`, false},
		{500, `{}`, false},
	} {
		o := newOP(t)
		o.answer["/token"] = saying(tt.status, "application/json", tt.body)
		_, err := o.provider().Redeem(t.Context(), options())
		if err == nil || strings.Contains(err.Error(), remedy) != tt.told {
			t.Errorf("status %d with %s: %v", tt.status, tt.body, err)
		}
	}
}

func TestTokenErrorHasStatusCodeAndURI(t *testing.T) {
	o := newOP(t)
	o.answer["/token"] = saying(400, "application/json", `{"error":"invalid_grant","error_description":"code `+theCode+` is spent","error_uri":"https://op.example.test/e"}`)
	_, err := o.provider().Redeem(t.Context(), options())
	e, ok := errors.AsType[*handshake.TokenError](err)
	if !ok || e.Status != 400 || e.Code != "invalid_grant" || e.URI != "https://op.example.test/e" {
		t.Fatalf("error %v is %+v", err, e)
	}
	if strings.Contains(e.Description, theCode) {
		t.Errorf("SH-13 Description = %q", e.Description)
	}
	if _, ok := errors.AsType[*handshake.ResponseError](err); ok {
		t.Error("a rejected code is reported like a denied consent")
	}
}

// A redirect would carry the code and the client secret to another address.
func TestRedirectOfTheTokenEndpointIsNotFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		o := newOP(t)
		o.answer["/token"] = func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", status) }
		p := o.provider()
		p.Client = &http.Client{} // whose default is to follow
		_, err := p.Redeem(t.Context(), options())
		wantError(t, err, "status 3")
		if o.count("/elsewhere") != 0 {
			t.Errorf("BCP-12 a %d was followed", status)
		}
	}
}

func TestSlowTokenEndpointIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &op{issuer: "https://op.example.test", answer: map[string]http.HandlerFunc{}}
		o.answer["/token"] = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
		p := o.oauth2()
		p.Client, p.Timeout = &http.Client{Transport: direct{o}}, 3*time.Second
		start := time.Now()
		_, err := p.Redeem(t.Context(), options())
		wantError(t, err, "deadline exceeded")
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("BCP-21 gave up after %v, want 3s", took)
		}
	})
}

func TestTokenResponsesThatAreTolerated(t *testing.T) {
	raw := func(contentType, body string) func(*op, *handshake.Provider) {
		return func(o *op, _ *handshake.Provider) { o.answer["/token"] = saying(200, contentType, body) }
	}
	tests := []struct {
		name string
		set  func(*op, *handshake.Provider)
		want map[string]any
	}{
		{"JSON labelled as text", raw("text/plain", `{"access_token":"a","token_type":"BEARER"}`), map[string]any{"access_token": "a", "token_type": "bearer"}},
		{"a byte order mark", raw("application/json", "\ufeff"+`{"access_token":"a","token_type":"bearer"}`), map[string]any{"access_token": "a", "token_type": "bearer"}},
		{"null members", raw("application/json", `{"access_token":"a","token_type":"bearer","refresh_token":null,"expires_in":null,"scope":null}`), map[string]any{"access_token": "a", "token_type": "bearer"}},
		{"tokens that end at once, or never", raw("application/json", `{"access_token":"a","token_type":"bearer","expires_in":0}`), map[string]any{"access_token": "a", "token_type": "bearer", "expires_in": json.Number("0")}},
		{"an expiry of the provider's own is not taken for ours", raw("application/json", `{"access_token":"a","token_type":"bearer","expires_at":5}`), map[string]any{"access_token": "a", "token_type": "bearer"}},
		{"Q13 no token type, where it is known", func(o *op, p *handshake.Provider) {
			p.TokenTypeOptional = true
			o.answer["/token"] = saying(200, "application/json", `{"access_token":"a","user_id":210700286123456789}`)
		}, map[string]any{"access_token": "a", "token_type": "bearer", "user_id": json.Number("210700286123456789")}},
		{"a form, where it is known", func(o *op, p *handshake.Provider) {
			p.FormTokenBody = true
			o.answer["/token"] = saying(200, "text/plain; charset=utf-8", "access_token=a%2Bb&token_type=bearer&expires_in=0\n")
		}, map[string]any{"access_token": "a+b", "token_type": "bearer", "expires_in": json.Number("0")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := newOP(t)
			p := o.oauth2()
			tt.set(o, p)
			r, err := p.Redeem(t.Context(), options())
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, r.Tokens); d != "" {
				t.Errorf("tokens (-want +got):\n%s", d)
			}
		})
	}
}

func TestExpiryAsText(t *testing.T) {
	o := newOP(t)
	o.tokens = func(m map[string]any) { m["expires_in"] = " 7200 " }
	r, err := o.provider().Redeem(t.Context(), options())
	if err != nil {
		t.Fatal(err)
	}
	if at, _ := r.Tokens["expires_at"].(int64); r.Tokens["expires_in"] != json.Number("7200") || at < time.Now().Unix()+7199 {
		t.Errorf("expires_in = %v, expires_at = %v", r.Tokens["expires_in"], at)
	}
}

func TestRedeemSendsNothingWithoutWhatBindsIt(t *testing.T) {
	tests := []struct {
		name   string
		change func(*handshake.RedeemOptions)
		want   string
	}{
		{"BCP-6, SH-85 the verifier", func(o *handshake.RedeemOptions) { o.Verifier = "" }, "verifier is missing"},
		{"ASVS-10.5.1 the nonce", func(o *handshake.RedeemOptions) { o.Nonce = "" }, "nonce is missing"},
		{"the code", func(o *handshake.RedeemOptions) { o.Code = "" }, "code is missing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := newOP(t)
			with := options()
			tt.change(&with)
			_, err := o.provider().Redeem(t.Context(), with)
			wantError(t, err, tt.want)
			if len(o.requests) != 0 {
				t.Errorf("%d requests were sent", len(o.requests))
			}
		})
	}
}
