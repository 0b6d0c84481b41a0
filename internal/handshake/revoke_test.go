package handshake_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pintleauth/pintle/internal/handshake"
)

// newRevoking returns a provider whose metadata has a revocation endpoint, which answers so.
func newRevoking(t testing.TB, answer http.HandlerFunc) *op {
	t.Helper()
	o := newOP(t)
	o.document = func(d map[string]any) { d["revocation_endpoint"] = o.issuer + "/revoke" }
	o.answer["/revoke"] = answer
	return o
}

func accepted(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }

func TestATokenIsRevokedByTheAuthenticatedClient(t *testing.T) {
	o := newRevoking(t, accepted)
	basic := o.provider()
	if err := basic.Revoke(t.Context(), "refresh-1", "refresh_token"); err != nil {
		t.Fatal(err)
	}
	got := o.last(t, "/revoke")
	if id, secret, ok := (&http.Request{Header: got.header}).BasicAuth(); !ok || id != clientID || secret != clientSecret {
		t.Errorf("the client authenticates as %q: %v", id, got.header)
	}
	want := url.Values{"token": {"refresh-1"}, "token_type_hint": {"refresh_token"}}
	if d := cmp.Diff(want, got.form); d != "" || got.method != http.MethodPost || len(got.query) > 0 {
		t.Errorf("%s with the query %v and the form (-want +got):\n%s", got.method, got.query, d)
	}

	post := o.provider()
	post.AuthMethod = "client_secret_post"
	signed := o.provider()
	signed.AuthMethod, signed.PrivateKey = "private_key_jwt", ecdsaKey()
	for name, p := range map[string]*handshake.Provider{"client_secret": post, "client_assertion": signed} {
		if err := p.Revoke(t.Context(), "access-1", "access_token"); err != nil {
			t.Fatal(err)
		}
		if form := o.last(t, "/revoke").form; form.Get(name) == "" || form.Get("client_id") != clientID || form.Get("token") != "access-1" {
			t.Errorf("without %s: %v", name, form)
		}
	}
}

func TestTheRevocationEndpointMayBeConfigured(t *testing.T) {
	o := newOP(t)
	o.answer["/end"] = accepted
	p := o.provider()
	p.Revocation.URL = o.issuer + "/end"
	if err := p.Revoke(t.Context(), "refresh-1", "refresh_token"); err != nil || o.count("/end") != 1 {
		t.Errorf("Revoke: %v, %d requests", err, o.count("/end"))
	}
	// An OAuth 2 provider with an issuer for the iss parameter has metadata that a sign-in
	// does not need.
	o = newRevoking(t, accepted)
	p = &handshake.Provider{
		ID: "op", Issuer: o.issuer, ClientID: clientID, ClientSecret: clientSecret,
		Authorization: handshake.Endpoint{URL: o.issuer + "/authorize"}, Token: handshake.Endpoint{URL: o.issuer + "/token"},
		UserInfo: handshake.Endpoint{URL: o.issuer + "/userinfo"},
	}
	if err := p.Revoke(t.Context(), "refresh-1", "refresh_token"); err != nil || o.count("/revoke") != 1 {
		t.Errorf("Revoke: %v, %d requests", err, o.count("/revoke"))
	}
	o = newOP(t)
	if err := o.provider().Revoke(t.Context(), "refresh-1", "refresh_token"); !errors.Is(err, handshake.ErrNoRevocation) {
		t.Errorf("without an endpoint: %v, want ErrNoRevocation", err)
	}
}

// RPT-31, SH-75: a revocation that failed is an error.
func TestARevocationThatFailedIsAnError(t *testing.T) {
	elsewhere := newOP(t)
	tests := []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"refused", saying(400, "application/json", `{"error":"invalid_client","error_description":"refresh-1 is unknown"}`), "revocation endpoint answered status 400"},
		{"an error with status 200", saying(200, "application/json", `{"error":"invalid_request"}`), "invalid_request"},
		{"temporarily down", saying(503, "text/plain", ""), "503"},
		{"sent elsewhere", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.issuer+"/token", http.StatusTemporaryRedirect)
		}, "307"},
		{"cut", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(http.StatusOK)
		}, "unexpected EOF"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := newRevoking(t, tt.answer).provider().Revoke(t.Context(), "refresh-1", "refresh_token")
			wantError(t, err, tt.want)
			if strings.Contains(err.Error(), "refresh-1") || elsewhere.count("/token") > 0 {
				t.Errorf("%v, and %d requests elsewhere", err, elsewhere.count("/token"))
			}
		})
	}
	t.Run("no answer", func(t *testing.T) {
		release := make(chan struct{})
		o := newRevoking(t, func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		})
		t.Cleanup(func() { close(release) })
		// Without an issuer: discovery would have to be as fast.
		p := &handshake.Provider{
			ID: "op", ClientID: clientID, ClientSecret: clientSecret, Timeout: 50 * time.Millisecond,
			Authorization: handshake.Endpoint{URL: o.issuer + "/authorize"}, Token: handshake.Endpoint{URL: o.issuer + "/token"},
			UserInfo: handshake.Endpoint{URL: o.issuer + "/userinfo"}, Revocation: handshake.Endpoint{URL: o.issuer + "/revoke"},
		}
		wantError(t, p.Revoke(t.Context(), "refresh-1", "refresh_token"), "revocation")
	})
	for name, url := range map[string]string{"not encrypted": "http://op.example.test/revoke", "a script": "javascript:alert(1)", "with a user": "https://a:b@op.example.test/revoke"} {
		t.Run(name, func(t *testing.T) {
			o := newOP(t)
			o.document = func(d map[string]any) { d["revocation_endpoint"] = url }
			wantError(t, o.provider().Revoke(t.Context(), "refresh-1", "refresh_token"), "revocation endpoint")
		})
	}
}

// The endpoint need not know the kind of the token.
func TestATokenThatCannotBeRevokedIsNoFailure(t *testing.T) {
	o := newRevoking(t, saying(400, "application/json", `{"error":"unsupported_token_type"}`))
	if err := o.provider().Revoke(t.Context(), "access-1", "access_token"); err != nil {
		t.Error(err)
	}
	wantError(t, o.provider().Revoke(t.Context(), "", "access_token"), "token is missing")
}
