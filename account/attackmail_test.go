package account_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/throttle"
)

// A flood of mails from other clients uses up what anyone can cause. The codes that
// follow a right password, or a session, are not among that.
func TestAFloodOfMailsDoesNotKeepAUserFromTheirCode(t *testing.T) {
	t.Parallel()
	flood := func(s *site) {
		for range 6 {
			s.browser().get("/auth/account/forgot").post("/auth/account/forgot", "email", ada)
		}
	}
	t.Run("before the first factor", func(t *testing.T) {
		s := newSite(t, false, required)
		s.seed(ada, goodPassword, true)
		flood(s)
		b := s.browser().signIn(ada, goodPassword).isAt("/auth/account/enrol")
		b.post("/auth/account/enrol", "code", s.code()).want(http.StatusOK).key()
	})
	t.Run("while the address is unproven", func(t *testing.T) {
		s := newSite(t, false)
		s.seed(ada, goodPassword, false)
		flood(s)
		b := s.browser().signIn(ada, goodPassword).isAt("/auth/account/prove")
		b.post("/auth/account/prove", "again", "1").want(http.StatusOK)
		b.post("/auth/account/prove", "code", s.code()).isSignedInAs(ada)
	})
	t.Run("to confirm", func(t *testing.T) {
		s := newSite(t, false)
		u := s.seed(ada, "", true)
		b := s.browser().startSession(u, time.Hour, "mail")
		flood(s)
		b.get("/auth/account/confirm").post("/auth/account/confirm", "method", "mail", "again", "1").want(http.StatusOK)
		s.code()
	})
	t.Run("the codes have the limit of the mails", func(t *testing.T) {
		s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
			o.Passwords.Guard = &throttle.Guard{MailsPerAddress: throttle.Limit{Burst: 2, Every: time.Hour}}
		})
		s.seed(ada, goodPassword, false)
		for range 4 {
			s.browser().signIn(ada, goodPassword).isAt("/auth/account/prove")
		}
		if n := len(s.sent(ada)); n != 2 {
			t.Errorf("%d codes were mailed, want 2", n)
		}
	})
}
