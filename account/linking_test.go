package account_test

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/authtest"
)

// AC-110: an account that is linked signs in for good, so a stolen session must not link one.
func TestLinkingAnAccountDemandsTheStrongestProof(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for name, test := range map[string]struct {
			ago     time.Duration
			methods []string
			app     bool
			linked  bool
		}{
			"a password of now":                    {0, []string{"pwd"}, false, true},
			"a password of an hour ago":            {time.Hour, []string{"pwd"}, false, false},
			"nothing recorded":                     {0, nil, false, false},
			"a password of a user with an app":     {0, []string{"pwd"}, true, false},
			"both factors of a user with an app":   {0, []string{"pwd", "otp"}, true, true},
			"both factors of an hour ago, and app": {time.Hour, []string{"pwd", "otp"}, true, false},
		} {
			t.Run(name, func(t *testing.T) {
				idp := authtest.NewIdentityProvider(authtest.Options{AutoConsent: true})
				server := httptest.NewServer(idp)
				defer server.Close()
				idp.Issuer = server.URL
				idp.SignInAs(authtest.Person{Subject: "thief", Email: "thief@example.com"})
				asked := 0
				s := newSite(t, tokens, func(c *pintle.Config, _ *account.Options) {
					c.Providers, c.HTTPClient = append(c.Providers, idp.OIDC("acme")), server.Client()
					c.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) { asked++; return "", nil }
				})
				u := s.seed("ada@example.com", goodPassword, true)
				if test.app {
					s.app(u)
				}
				b := s.browser().startSession(u, test.ago, test.methods...)
				b.get("/auth/signin").post("/auth/signin/acme")
				accounts, err := s.store.UserAccounts(t.Context(), u.ID)
				if err != nil {
					t.Fatal(err)
				}
				if got := len(accounts) == 1; got != test.linked {
					t.Errorf("linked is %t, want %t; the browser is at %s: %s", got, test.linked, b.at, b.page)
				}
				if !test.linked {
					b.isAt("/auth/account/confirm").isSignedInAs("ada@example.com")
				}
				if got := asked > 0; got != test.linked {
					t.Errorf("the callback of the application was asked: %t, want %t", got, test.linked)
				}
			})
		}
	})
}
