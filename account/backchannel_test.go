package account_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/oauth"
)

// RPX-30, RPX-40: a change of the account replaces the session, and the new one would not be known
// by the id that the provider ends. So the user signs in again.
func TestAChangeLeavesNoSessionThatTheProviderCannotEnd(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for provider, goesOn := range map[string]bool{"sso": false, "other": true} {
			s := newSite(t, tokens, func(c *pintle.Config, _ *account.Options) {
				sso := func(id string) *pintle.OAuth {
					return &pintle.OAuth{ID: id, Protocol: oauth.OIDC, Issuer: "https://" + id + ".example", ClientID: "id", ClientSecret: "secret"}
				}
				ending := sso("sso")
				ending.BackChannelLogout = true
				c.Providers = append(c.Providers, ending, sso("other"))
			})
			u := s.seed(ada, goodPassword, true)
			b := s.browser()
			w := httptest.NewRecorder()
			_, _, err := b.auth.StartSession(w, b.request(http.MethodGet, "/", nil), u, pintle.StartOptions{
				Authentication: pintle.Authentication{Time: time.Now(), Methods: []string{"fed"}, Provider: provider},
			})
			if err != nil {
				t.Fatal(err)
			}
			here, err := url.Parse(b.server.URL)
			if err != nil {
				t.Fatal(err)
			}
			b.client.Jar.SetCookies(here, w.Result().Cookies())
			b.get("/auth/account/password").post("/auth/account/password", "current", goodPassword, "password", newPassword)
			if goesOn {
				b.isSignedInAs(ada)
				continue
			}
			b.isSignedInAs("")
			s.browser().signIn(ada, newPassword).isSignedInAs(ada)
		}
	})
}
