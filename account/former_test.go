package account_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/throttle"
)

func TestAUserOfAFormerSystemSignsInBesideTheHashForTheTime(t *testing.T) {
	t.Parallel()
	hash, err := bcrypt.GenerateFromPassword([]byte(goodPassword), 4)
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		o.Passwords.FormerHash = string(hash) // also if it is one of a real user
		o.Passwords.Import = func(_ context.Context, u *pintle.User) (string, error) {
			if u.Email == ada {
				return string(hash), nil
			}
			return "", nil
		}
	})
	s.seed(ada, "", true)
	s.seed("none@example.com", "", true)
	s.seed("new@example.com", newPassword, true)
	s.browser().signIn(ada, newPassword).isSignedInAs("")
	s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
	s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
	for _, email := range []string{"none@example.com", "new@example.com", "unknown@example.com"} {
		s.browser().signIn(email, goodPassword).isSignedInAs("")
	}
	s.browser().signIn("new@example.com", newPassword).isSignedInAs("new@example.com")
}

// A thief of a session has ten guesses at the password, on whichever page, and whatever the
// limits of the process are.
func TestASessionHasTenPasswordsOnAllPages(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, func(_ *pintle.Config, o *account.Options) {
			none := throttle.Limit{Burst: -1}
			o.Passwords.Guard = &throttle.Guard{PerAccountAndClient: none, PerClient: none, PerAccount: none, PerDevice: none}
		})
		u := s.seed(ada, goodPassword, true)
		const change, confirm = "/auth/account/password", "/auth/account/confirm"
		thief := s.browser().startSession(u, 0, "pwd").get(change)
		for range 5 {
			thief.post(change, "current", "a wrong password", "password", newPassword).want(http.StatusUnprocessableEntity)
			thief.post(confirm, "password", "a wrong password").want(http.StatusUnprocessableEntity)
		}
		thief.post(change, "current", goodPassword, "password", newPassword).want(http.StatusTooManyRequests)
		thief.post(confirm, "password", goodPassword).want(http.StatusTooManyRequests)
		if !s.passwordIs(ada, goodPassword) {
			t.Error("the password has changed")
		}
		owner := s.browser().startSession(u, time.Minute, "pwd").get(change)
		owner.stay().post(change, "current", goodPassword, "password", newPassword).want(http.StatusSeeOther)
	})
}
