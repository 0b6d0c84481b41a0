package account_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
)

func TestTheAccountShowsWhenThePasswordWasChosen(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	s.seed(ada, goodPassword, true)
	b := s.browser().signIn(ada, goodPassword).get("/auth/account/password")
	b.post("/auth/account/password", "current", goodPassword, "password", newPassword).want(http.StatusOK)
	today := time.Now().UTC().Format(time.DateOnly)
	b.get("/auth/account").says(today)
	set, _ := b.get("/auth/account/me").json()["password"].(map[string]any)
	if changed, _ := set["changed"].(string); !strings.HasPrefix(changed, today) {
		t.Errorf("the password was changed at %q, want %s", changed, today)
	}
}

// AC-15: a token in a header is that of a program. Account pages set cookies, and are for
// browsers.
func TestASessionInAHeaderUsesNoAccountPage(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, func(c *pintle.Config, _ *account.Options) { c.Session.AllowBearer = true })
		s.seed(ada, goodPassword, true)
		held := s.browser().signIn(ada, goodPassword).isSignedInAs(ada).sessionCookie()
		for _, path := range []string{"/auth/account/me", "/auth/account/prove", "/auth/account/password"} {
			r := s.browser().request(http.MethodGet, path, nil)
			r.Header.Set("Authorization", "Bearer "+held)
			r.Header.Set("Accept", "application/json")
			s.browser().send(r).want(http.StatusUnauthorized)
		}
	})
}
