package account_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/password"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/throttle"
)

// AT-20: whichever hash a user has, a check takes as long as the slower kind at least.
func TestAHashOfAFormerSystemIsComputedForEveryAddress(t *testing.T) {
	t.Parallel()
	former := func(cost int) string {
		hash, err := bcrypt.GenerateFromPassword([]byte("any password"), cost)
		if err != nil {
			t.Fatal(err)
		}
		return string(hash)
	}
	for name, tt := range map[string]struct {
		former string
		hasher *password.Hasher
	}{
		"a slow former system": {former(11), &password.Hasher{Memory: 64, Passes: 1}},
		"a quick one":          {former(4), &password.Hasher{Memory: 32 << 10, Passes: 4}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
				o.Passwords.Hasher, o.Passwords.FormerHash = tt.hasher, tt.former
				o.Passwords.Import = func(_ context.Context, u *pintle.User) (string, error) {
					if u.Email == "former@example.com" {
						return tt.former, nil
					}
					return "", nil
				}
			})
			s.hasher = tt.hasher
			s.seed("former@example.com", "", true)
			s.seed("new@example.com", goodPassword, true)
			s.seed("none@example.com", "", true)
			slower := time.Duration(0)
			for _, hash := range []string{"", tt.former} {
				least := time.Hour
				for range 3 {
					began := time.Now()
					if _, err := tt.hasher.Verify(t.Context(), hash, "a wrong password"); err != nil {
						t.Fatal(err)
					}
					least = min(least, time.Since(began))
				}
				slower = max(slower, least)
			}
			for _, email := range []string{"former@example.com", "new@example.com", "none@example.com", "unknown@example.com"} {
				b := s.browser().get("/auth/signin").stay()
				form := b.token()
				began := time.Now()
				b.postQuietly("/auth/callback/credentials", form, "email", email, "password", "a wrong password")
				if took := time.Since(began); took < slower/2 {
					t.Errorf("%s: a check takes %v, and a hash of the slower kind %v", email, took, slower)
				}
			}
		})
	}
}

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

func TestAFormerHashThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	o := account.Options{Mail: func(context.Context, *pintle.Message) error { return nil }}
	o.Passwords.FormerHash = "5f4dcc3b5aa765d61d8327deb882cf99"
	_, err := pintle.New(pintle.Config{
		Store: memstore.New(), URL: "https://app.example.com", Secrets: []string{strings.Repeat("x", 40)}, Accounts: account.New(o),
		Getenv: func(string) string { return "" },
	})
	if err == nil || !strings.Contains(err.Error(), "FormerHash") {
		t.Errorf("New: %v", err)
	}
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
