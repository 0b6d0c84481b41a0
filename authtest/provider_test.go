package authtest_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

// greetingSite starts an application that greets the signed-in user.
func greetingSite(t *testing.T, auth *pintle.Auth) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("/", greeting(auth))
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv
}

func TestAReadyProviderSignsInOverEveryProtocol(t *testing.T) {
	tests := []struct {
		name     string
		client   *authtest.Client // nil leaves the identity provider open
		provider func(*authtest.IdentityProvider) *pintle.OAuth
		auth     string
	}{
		{"OpenID Connect, open", nil, func(p *authtest.IdentityProvider) *pintle.OAuth { return p.OIDC("acme") }, ""},
		{"OAuth 2.0, open", nil, func(p *authtest.IdentityProvider) *pintle.OAuth { return p.OAuth2("acme") }, ""},
		{
			"OpenID Connect, a client with a secret", &authtest.Client{Secret: "s3cr&t"},
			func(p *authtest.IdentityProvider) *pintle.OAuth { return p.OIDC("acme") }, authtest.ClientSecretBasic,
		},
		{
			"OpenID Connect, a secret in the body", &authtest.Client{Secret: "s3cr&t", AuthMethod: authtest.ClientSecretPost},
			func(p *authtest.IdentityProvider) *pintle.OAuth { return p.OIDC("acme") }, authtest.ClientSecretPost,
		},
		{
			"OAuth 2.0, a public client", &authtest.Client{},
			func(p *authtest.IdentityProvider) *pintle.OAuth { return p.OAuth2("acme") }, authtest.ClientAuthNone,
		},
		{
			"OAuth 1.0a", &authtest.Client{Secret: "s3cr&t"},
			func(p *authtest.IdentityProvider) *pintle.OAuth { return p.OAuth1("acme") }, "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			idp := authtest.Start(t, authtest.Options{AutoConsent: true, RequirePKCE: true})
			if tt.client != nil {
				tt.client.ID = "acme"
				idp.Register(*tt.client)
			}
			cfg := pintle.Config{
				Providers: []pintle.Provider{tt.provider(idp)},
				Secrets:   []string{appSecret},
				Getenv:    func(string) string { return "" },
			}
			auth := newAuth(t, cfg)
			srv := greetingSite(t, auth)
			if tt.client != nil {
				tt.client.RedirectURIs = []string{srv.URL + "/auth/callback/acme"}
				idp.Register(*tt.client)
			}
			idp.SignInAs(authtest.Person{Subject: "42", Name: "Kim", Email: "kim@example.com"})
			resp := authtest.SignInWith(t, authtest.HTTPClient(t, auth, srv.URL, nil), srv.URL+"/auth", "acme")
			if got := bodyText(t, resp); got != "Hello Kim <kim@example.com>" {
				t.Errorf("the application shows %s %q, want a greeting for Kim", resp.Status, got)
			}
			if last, ok := idp.LastRequest(authtest.TokenEndpoint); tt.auth != "" && (!ok || last.ClientAuth != tt.auth) {
				t.Errorf("the client authenticated with %q, want %q", last.ClientAuth, tt.auth)
			}
		})
	}
}

func TestAProviderNeedsAnAddressAndOAuth1AClient(t *testing.T) {
	for name, f := range map[string]func(){
		"no issuer":                   func() { authtest.NewIdentityProvider(authtest.Options{}).OIDC("acme") },
		"OAuth 1.0a without a client": func() { authtest.Start(t, authtest.Options{}).OAuth1("acme") },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic for the missing setting")
				}
			}()
			f()
		})
	}
}

func TestSignInWithReportsWhyItFails(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	for name, c := range map[string]*http.Client{
		"no cookies":        srv.Client(),
		"no sign-in routes": authtest.HTTPClient(t, nil, srv.URL, nil),
	} {
		t.Run(name, func(t *testing.T) {
			var j judge
			authtest.SignInWith(&j, c, srv.URL+"/auth", "acme")
			if j.verdict == "" {
				t.Error("the test continues")
			}
		})
	}
}
