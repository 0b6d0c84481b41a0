package account_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// sessions counts the sessions of a user in the database.
func (s *site) sessions(u *pintle.User) int {
	s.t.Helper()
	n := 0
	for _, err := range s.store.UserSessions(s.t.Context(), u.ID) {
		if err != nil {
			s.t.Fatal(err)
		}
		n++
	}
	return n
}

// AC-61: the user leaves the browser at the page after the proof, and another person has used the
// account before.
func TestAProofThatIsLeftAtTheNextPageEndsTheSessionsOfBefore(t *testing.T) {
	for name, c := range map[string]struct {
		must, at string
		changes  []func(*pintle.Config, *account.Options)
	}{
		"a password that is due":           {must: "password", at: mustChange},
		"a second factor that is required": {at: enrol, changes: []func(*pintle.Config, *account.Options){required}},
		"a lost address":                   {must: "know-address-lost", at: "/auth/account/address-lost"},
	} {
		t.Run(name, func(t *testing.T) {
			inBothKinds(t, func(t *testing.T, tokens bool) {
				s := newSite(t, tokens, c.changes...)
				u := s.seed(ada, goodPassword, false)
				s.trojans(u)
				s.changeState(u.ID, func(state *accountstore.State) { state.Must = c.must })
				thief := s.browser().startSession(u, time.Minute, "pwd", "otp").isSignedInAs(ada)
				waits := s.browser().signIn(ada, goodPassword).isAt(prove)
				b := s.browser().signIn(ada, goodPassword).isAt(prove)
				b.post(prove, "code", s.code()).isAt(c.at).isSignedInAs("")
				if s.user(ada).EmailVerified.IsZero() {
					t.Error("the address is not proven")
				}
				thief.isSignedInAs("")
				if waits.get(prove); waits.at.Path == prove {
					t.Error("another sign-in of before still waits")
				}
				if kinds := s.storedKinds(u); strings.Contains(kinds, "device") || strings.Contains(kinds, "totp") {
					t.Errorf("after the proof the user has %q", kinds)
				}
				b.get(c.at).isAt(c.at) // the sign-in itself goes on
			})
		})
	}
}

// AC-61: after the password has been changed the user has one session, and the one of before is
// none of it.
func TestAProofAndAChangedPasswordLeaveOneSession(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		u := s.seed(ada, goodPassword, false)
		s.changeState(u.ID, func(state *accountstore.State) { state.Must = "password" })
		thief := s.browser().startSession(u, time.Minute, "pwd").isSignedInAs(ada)
		b := s.browser().signIn(ada, goodPassword).isAt(prove).post(prove, "code", s.code()).isAt(mustChange)
		b.post(mustChange, "password", newPassword).isAt("/").isSignedInAs(ada)
		thief.isSignedInAs("")
		if n := s.sessions(u); !tokens && n != 1 {
			t.Errorf("the user has %d sessions", n)
		}
		s.browser().signIn(ada, newPassword).isAt("/").isSignedInAs(ada)
	})
}

// AC-61, AC-30, AT-7: whichever call of the store fails, a proven address has no session of before,
// and the user can go on.
func TestAFaultDuringTheFirstProofKeepsNoThiefSignedIn(t *testing.T) {
	for name, must := range map[string]string{"to a session": "", "to another password": "password"} {
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n++ {
				s, f := withFaults(t)
				u := s.seed(ada, goodPassword, false)
				s.changeState(u.ID, func(state *accountstore.State) { state.Must = must })
				thief := s.browser().startSession(u, time.Minute, "pwd").isSignedInAs(ada)
				b := s.browser().signIn(ada, goodPassword).isAt(prove)
				code := s.code()
				f.arm(n)
				b.stay().post(prove, "code", code)
				hit := f.hit.Load()
				f.arm(0)
				if !s.user(ada).EmailVerified.IsZero() && thief.who() != "" {
					t.Errorf("call %d: the address is proven, and the thief is signed in", n)
				}
				if !hit {
					if s.user(ada).EmailVerified.IsZero() || n < 12 {
						t.Errorf("after %d calls the address is proven at %v", n, s.user(ada).EmailVerified)
					}
					return
				}
				again := s.browser().signIn(ada, goodPassword)
				if again.at.Path == prove {
					again.post(prove, "again", "1").post(prove, "code", s.code())
				}
				if must == "password" {
					again.isAt(mustChange).post(mustChange, "password", newPassword)
				}
				again.isSignedInAs(ada)
				thief.isSignedInAs("")
			}
		})
	}
}
