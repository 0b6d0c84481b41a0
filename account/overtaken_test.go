package account_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// apps returns how many authenticator apps and recovery codes a user has.
func (s *site) apps(u *pintle.User) (apps, codes int) {
	s.t.Helper()
	rows, err := s.rows.Factors(s.t.Context(), u.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, row := range rows {
		switch row.Kind {
		case "totp":
			apps++
		case "recovery":
			codes++
		}
	}
	return apps, codes
}

func (s *site) wantNoApp(u *pintle.User) {
	s.t.Helper()
	if apps, codes := s.apps(u); apps != 0 || codes != 0 {
		s.t.Errorf("the user has %d apps and %d recovery codes of a thief", apps, codes)
	}
}

// AT-8: an operator resets the second factor while a thief of a session adds one.
func TestAnAppThatAnOperatorsResetOvertakesIsNotKept(t *testing.T) {
	reset := func(s *site, u *pintle.User) func() {
		return func() {
			if err := s.accounts.Operators().ResetSecondFactor(s.t.Context(), u.ID); err != nil {
				s.t.Error(err)
			}
		}
	}
	check := func(s *site, u *pintle.User) {
		s.t.Helper()
		s.wantNoApp(u)
		if state, err := s.rows.State(s.t.Context(), u.ID); err != nil || state.Must != "enrol" {
			s.t.Errorf("the user must %q, %v", state.Must, err)
		}
	}
	t.Run("the first app of a session", func(t *testing.T) {
		t.Parallel()
		s, f := withFaults(t)
		u := s.seed(ada, goodPassword, true)
		thief := s.browser().signIn(ada, goodPassword).get("/auth/account/totp")
		key, a := thief.key()
		thief.post("/auth/account/totp", "key", key, "code", a.code(t, 0)).isAt("/auth/account/recovery-codes")
		f.onUse = func() { f.onUse = nil; reset(s, u)() }
		thief.post("/auth/account/recovery-codes", "saved", "1").want(http.StatusUnauthorized).isSignedInAs("")
		check(s, u)
	})
	t.Run("a further app of a session", func(t *testing.T) {
		t.Parallel()
		s, f := withFaults(t)
		u := s.seed(ada, goodPassword, true)
		awayFromTheNextStep()
		thief := s.browser().signIn(ada, goodPassword)
		thief.addApp("totp")
		thief.get("/auth/account/totp")
		key, a := thief.key()
		f.onEnd = reset(s, u)
		thief.post("/auth/account/totp", "key", key, "code", a.code(t, 0)).want(http.StatusUnauthorized).isSignedInAs("")
		check(s, u)
	})
	waiting := func(t *testing.T) (*site, *fault, *pintle.User, *browser) {
		f := &fault{}
		s := newSite(t, false, required, func(c *pintle.Config, _ *account.Options) { c.Store = faultyStore{c.Store, f} })
		u := s.seed(ada, goodPassword, true)
		s.changeState(u.ID, func(state *accountstore.State) { state.Must = "enrol" })
		thief := s.browser().signIn(ada, goodPassword).isAt(enrol)
		thief.post(enrol, "code", s.code())
		key, a := thief.key()
		thief.post(enrol, "key", key, "code", a.code(t, 0)).says("Save your recovery codes")
		return s, f, u, thief
	}
	t.Run("the first app of a sign-in that waits, at any moment", func(t *testing.T) {
		t.Parallel()
		overtaken := 0
		for call := 1; ; call++ {
			s, f, u, thief := waiting(t)
			left, over := call, false
			f.onState = func() {
				if left--; left == 0 {
					f.onState, over = nil, true
					overtaken++
					reset(s, u)()
				}
			}
			thief.post(enrol, "saved", "1")
			f.onState = nil
			if !over {
				break
			}
			thief.isSignedInAs("")
			check(s, u)
		}
		if overtaken < 4 {
			t.Errorf("the reset came in %d times, want 4 at least", overtaken)
		}
	})
	t.Run("a reset of the password while a sign-in adds its first app", func(t *testing.T) {
		t.Parallel()
		s, f, u, thief := waiting(t)
		owner := s.browser().get(s.resetLink(ada))
		f.onUse = func() {
			f.onUse = nil
			owner.post("/auth/account/reset", "password", newPassword).isAt("/auth/signin")
		}
		thief.post(enrol, "saved", "1").isSignedInAs("")
		check(s, u)
	})
}

// AT-8: a thief of a session adds an app while the owner of the account resets the
// password, and would lock the owner out.
func TestAnAppThatIsAddedDuringAResetOfThePasswordIsNotKept(t *testing.T) {
	begun := func(s *site) (thief, owner *browser) {
		thief = s.browser().signIn(ada, goodPassword).get("/auth/account/totp")
		key, a := thief.key()
		thief.post("/auth/account/totp", "key", key, "code", a.code(s.t, 0)).isAt("/auth/account/recovery-codes")
		return thief, s.browser().get(s.resetLink(ada))
	}
	t.Run("the reset is within the request that adds", func(t *testing.T) {
		t.Parallel()
		s, f := withFaults(t)
		u := s.seed(ada, goodPassword, true)
		thief, owner := begun(s)
		f.onUse = func() {
			f.onUse = nil
			owner.post("/auth/account/reset", "password", newPassword).isAt("/auth/signin")
		}
		thief.post("/auth/account/recovery-codes", "saved", "1").want(http.StatusUnauthorized).isSignedInAs("")
		s.wantNoApp(u)
		owner.signIn(ada, newPassword).isSignedInAs(ada)
	})
	t.Run("the request that adds is within the reset", func(t *testing.T) {
		t.Parallel()
		s, f := withFaults(t)
		u := s.seed(ada, goodPassword, true)
		thief, owner := begun(s)
		f.onUse = func() {
			f.onUse = nil
			thief.post("/auth/account/recovery-codes", "saved", "1").want(http.StatusOK)
		}
		owner.post("/auth/account/reset", "password", newPassword).isAt("/auth/signin")
		s.wantNoApp(u)
		thief.isSignedInAs("")
		if m := s.lastMail(); !strings.Contains(m.Subject, "second factor was removed") {
			t.Errorf("the last mail is %q", m.Subject)
		}
		owner.signIn(ada, newPassword).isSignedInAs(ada)
	})
	t.Run("the reset is between the check of the session and that of the password", func(t *testing.T) {
		t.Parallel()
		s, f := withFaults(t)
		u := s.seed(ada, goodPassword, true)
		awayFromTheNextStep()
		thief := s.browser().signIn(ada, goodPassword)
		_, codes := thief.addApp("totp")
		thief.get("/auth/account/totp")
		key, a := thief.key()
		owner := s.browser().get(s.resetLink(ada))
		f.onState = func() {
			f.onState = nil
			owner.post("/auth/account/reset", "password", newPassword, "code", codes[0]).isAt("/auth/signin")
		}
		thief.post("/auth/account/totp", "key", key, "code", a.code(t, 0)).want(http.StatusUnauthorized).isSignedInAs("")
		if apps, _ := s.apps(u); apps != 1 {
			t.Errorf("the user has %d apps", apps)
		}
	})
	t.Run("what the owner had stays", func(t *testing.T) {
		t.Parallel()
		s, a, _ := withApp(t, false)
		s.browser().get(s.resetLink(ada)).post("/auth/account/reset", "password", newPassword, "code", a.code(t, 0)).isAt("/auth/signin")
		if apps, codes := s.apps(s.user(ada)); apps != 1 || codes != 10 {
			t.Errorf("the user has %d apps and %d codes", apps, codes)
		}
	})
}

// A thief of a session removes the password while its owner resets it.
func TestARemovalDoesNotRemoveThePasswordOfAReset(t *testing.T) {
	for name, former := range map[string]bool{"of this package": false, "of a former table": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fault{}
			var s *site
			s = newSite(t, false, withGitHub, func(c *pintle.Config, o *account.Options) {
				c.Store = faultyStore{c.Store, f}
				if former {
					imports(&s, goodPassword)(c, o)
				}
			})
			u := s.seed(ada, goodPassword, true)
			s.link(u, "github")
			thief := s.browser().signIn(ada, goodPassword).get("/auth/account/password")
			owner := s.browser().get(s.resetLink(ada))
			f.onEnd = func() { owner.post("/auth/account/reset", "password", newPassword).isAt("/auth/signin") }
			thief.post("/auth/account/password", "remove", "1").want(http.StatusConflict).isSignedInAs("")
			if !s.passwordIs(ada, newPassword) {
				t.Error("the password of the owner is removed")
			}
		})
	}
}
