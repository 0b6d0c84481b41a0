package provider_test

import (
	"net/url"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/provider"
)

// standard is a sign-out with the parameters of the standard.
const standard = "client_id=app&id_token_hint=token&post_logout_redirect_uri=https%3A%2F%2Fapp.example%2Fauth%2Fsignout%2Fid&state=abc"

func TestSignOutsHaveTheParametersOfTheService(t *testing.T) {
	auth0 := provider.Options{Issuer: "https://tenant.auth0.com/"}
	cognito := provider.Options{Issuer: "https://cognito-idp.eu-central-1.amazonaws.com/pool"}
	for name, tt := range map[string]struct {
		provider *pintle.OAuth
		end      string // the endpoint that the host chose
		address  string // that of the provider afterwards
		want     string // the query, empty for that of the standard
	}{
		"Auth0": {
			provider.Auth0(auth0), "", "https://tenant.auth0.com/v2/logout",
			"client_id=app&returnTo=https%3A%2F%2Fapp.example%2Fauth%2Fsignout%2Fid%3Fstate%3Dabc",
		},
		"Auth0 with the endpoint of the standard": {
			provider.Auth0(auth0), "https://tenant.auth0.com/oidc/logout", "https://tenant.auth0.com/oidc/logout", "",
		},
		"Cognito": {
			provider.Cognito(cognito), "https://login.example/logout", "https://login.example/logout",
			"client_id=app&logout_uri=https%3A%2F%2Fapp.example%2Fauth%2Fsignout%2Fid",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := tt.provider
			p.EndSessionAtProvider, p.EndSession = true, oauth.Endpoint{URL: tt.end}
			if err := p.Complete(p); err != nil {
				t.Fatal(err)
			}
			u := &url.URL{Scheme: "https", Host: "service.example", RawQuery: standard}
			if p.Quirks.EndSession != nil {
				if err := p.Quirks.EndSession(u); err != nil {
					t.Fatal(err)
				}
			} else if tt.want != "" {
				t.Fatal("the parameters are those of the standard")
			}
			if want := tt.want; u.RawQuery != want && (want != "" || u.RawQuery != standard) || p.EndSession.URL != tt.address {
				t.Errorf("%s?%s, want %s?%s", p.EndSession.URL, u.RawQuery, tt.address, want)
			}
		})
	}
	own := provider.Auth0(auth0)
	own.EndSessionAtProvider = true
	called := false
	own.Quirks.EndSession = func(*url.URL) error { called = true; return nil }
	if err := own.Complete(own); err != nil || own.EndSession.URL != "" {
		t.Errorf("with a function of the host: %q, %v", own.EndSession.URL, err)
	}
	if err := own.Quirks.EndSession(&url.URL{}); err != nil || !called {
		t.Errorf("the function of the host is not called (%v)", err)
	}
	off := provider.Auth0(auth0)
	if off.Complete != nil {
		if err := off.Complete(off); err != nil || off.EndSession.URL != "" || off.Quirks.EndSession != nil {
			t.Errorf("without EndSessionAtProvider: %q, %v", off.EndSession.URL, err)
		}
	}
}

func TestRevocationEndpointsAreThoseOfTheService(t *testing.T) {
	gitlab := provider.GitLab(provider.Options{Issuer: "https://git.example"})
	if err := gitlab.Complete(gitlab); err != nil || gitlab.Revocation.URL != "https://git.example/oauth/revoke" {
		t.Errorf("GitLab: %q, %v", gitlab.Revocation.URL, err)
	}
	if at := provider.Discord(provider.Options{}).Revocation.URL; at != "https://discord.com/api/oauth2/token/revoke" {
		t.Errorf("Discord: %q", at)
	}
}
