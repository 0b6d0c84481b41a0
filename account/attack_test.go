package account_test

import (
	"net/http"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/password"
)

// outdate gives a user a hash with settings of before, which a right password renews.
func (s *site) outdate(u *pintle.User) {
	s.t.Helper()
	hash, err := (&password.Hasher{Memory: 128, Passes: 1}).Hash(s.t.Context(), goodPassword)
	if err != nil {
		s.t.Fatal(err)
	}
	row := s.factor(u, "password")
	row.Secret = hash
	if err := s.rows.ReplaceFactor(s.t.Context(), row); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) factor(u *pintle.User, kind string) *accountstore.Factor {
	s.t.Helper()
	rows, err := s.rows.Factors(s.t.Context(), u.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, row := range rows {
		if row.Kind == kind {
			return row
		}
	}
	s.t.Fatalf("the user has no factor %q", kind)
	return nil
}

// AT-31, AC-72: a thief knows the password and changes it, while its owner resets it.
func TestAChangeWithTheOldPasswordDoesNotReplaceTheOneOfAReset(t *testing.T) {
	t.Parallel()
	s, f := withFaults(t)
	u := s.seed(ada, goodPassword, true)
	thief := s.browser().signIn(ada, goodPassword).isSignedInAs(ada).get("/auth/account/password")
	s.outdate(u)
	owner := s.browser().get(s.resetLink(ada))
	f.onReplace = func() { // the old password was right
		f.onReplace = nil
		owner.post("/auth/account/reset", "password", newPassword).isAt("/auth/signin")
	}
	thief.post("/auth/account/password", "current", goodPassword, "password", "the password of a thief").isSignedInAs("")
	if !s.passwordIs(ada, newPassword) {
		t.Error("the password is not that of the owner")
	}
}

// AT-8, AC-31: a thief with a session adds an app, while the owner of the account resets the
// password.
func TestAChangeThatAResetOvertakesStartsNoSession(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		f := &fault{}
		s := newSite(t, tokens, func(c *pintle.Config, _ *account.Options) { c.Store = faultyStore{c.Store, f} })
		s.seed(ada, goodPassword, true)
		thief := s.browser().signIn(ada, goodPassword).isSignedInAs(ada).get("/auth/account/totp")
		key, a := thief.key()
		thief.post("/auth/account/totp", "key", key, "code", a.code(t, 0)).isAt("/auth/account/recovery-codes")
		owner := s.browser().get(s.resetLink(ada))
		f.onUse = func() {
			f.onUse = nil
			owner.post("/auth/account/reset", "password", newPassword).isAt("/auth/signin")
		}
		thief.post("/auth/account/recovery-codes", "saved", "1").want(http.StatusUnauthorized).isSignedInAs("")
		if !s.passwordIs(ada, newPassword) {
			t.Error("the password is not that of the owner")
		}
	})
}

// AT-31: a thief knows the password that is to be changed, and chooses another one while
// its owner resets it, at any moment of the request.
func TestAPasswordThatIsDueDoesNotReplaceTheOneOfAReset(t *testing.T) {
	t.Parallel()
	overtaken := 0
	for call := 1; call <= 6; call++ {
		s, f := withFaults(t)
		u := s.seed(ada, goodPassword, true)
		s.changeState(u.ID, func(state *accountstore.State) { state.Must = "password" })
		thief := s.browser().signIn(ada, goodPassword).isAt("/auth/account/must-change")
		owner := s.browser().get(s.resetLink(ada))
		left := call
		f.onState = func() {
			if left--; left == 0 {
				f.onState = nil
				overtaken++
				owner.post("/auth/account/reset", "password", newPassword)
			}
		}
		thief.post("/auth/account/must-change", "password", "the password of a thief")
		f.onState = nil
		if owner.at.Path != "/auth/signin" {
			break // the request of the thief was over, or had ended the reset
		}
		thief.isSignedInAs("")
		if !s.passwordIs(ada, newPassword) {
			t.Errorf("a reset after call %d of State: the password is not that of the owner", call)
		}
	}
	if overtaken < 2 {
		t.Errorf("the reset came in %d times, want 2 at least", overtaken)
	}
}

// AT-8, AC-31: a ban while a request is under way.
func TestABannedUserGetsNoSessionByAChange(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		u := s.seed(ada, goodPassword, true)
		b := s.browser().signIn(ada, goodPassword).isSignedInAs(ada).get("/auth/account/password")
		s.changeState(u.ID, func(state *accountstore.State) { state.BannedUntil = accountstore.Forever })
		b.post("/auth/account/password", "current", goodPassword, "password", newPassword).
			want(http.StatusUnauthorized).isSignedInAs("")
	})
}
