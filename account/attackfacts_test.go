package account_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
)

// A provider may report a method twice. The old proof stays old when the session begins
// again.
func TestAMethodThatIsReportedTwiceIsNotProvenAgain(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withGitHub, func(_ *pintle.Config, o *account.Options) { o.SecondFactor.SkipFor = []string{"github"} })
		calls := s.demand("/danger", account.Demand{MaxAge: tenMinutes, Level: account.TwoFactors})
		u := s.seed(ada, goodPassword, true)
		b, old := s.browser(), time.Now().Add(-time.Hour)
		b.startSessionBy(s.auth, u, pintle.Authentication{
			Time: time.Now(), Started: old, Provider: "github", Methods: []string{"fed", "fed:mfa", "fed:mfa", "pwd"},
			Proofs: map[string]time.Time{"fed": old, "fed:mfa": old, "pwd": time.Now()},
		})
		b.stay().get("/danger").want(http.StatusSeeOther)
		b.post("/auth/account/password", "current", goodPassword, "password", newPassword).want(http.StatusSeeOther)
		b.get("/danger").want(http.StatusSeeOther)
		if *calls != 0 {
			t.Error("the old proof of two factors counts as a new one")
		}
	})
}
