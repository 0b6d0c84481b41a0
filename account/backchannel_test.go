package account_test

import (
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/oauth"
)

// RPX-30, RPX-40, RPX-46: a change of the account replaces the session, and the provider could not
// end the new one: it does not know its id, and no sign-in there began it. So the user signs in again.
func TestAChangeLeavesNoSessionThatTheProviderCannotEnd(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for provider, goesOn := range map[string]bool{"sso": false, "refusing": false, "other": true} {
			s := newSite(t, tokens, func(c *pintle.Config, _ *account.Options) {
				sso := func(id string) *pintle.OAuth {
					return &pintle.OAuth{ID: id, Protocol: oauth.OIDC, Issuer: "https://" + id + ".example", ClientID: "id", ClientSecret: "secret"}
				}
				ending, refusing := sso("sso"), sso("refusing")
				ending.BackChannelLogout, refusing.EndSessionsOnRefusal = true, true
				c.Providers = append(c.Providers, ending, refusing, sso("other"))
			})
			u := s.seed(ada, goodPassword, true)
			b := s.browser()
			b.startSessionBy(b.auth, u, pintle.Authentication{Time: time.Now(), Methods: []string{"fed"}, Provider: provider})
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
