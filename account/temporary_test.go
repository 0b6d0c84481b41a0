package account_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
)

const mustChange = "/auth/account/must-change"

// temporary is what an operator does.
func (s *site) temporary(u *pintle.User) string {
	s.t.Helper()
	chosen, err := s.accounts.Operators().SetTemporaryPassword(s.t.Context(), u.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	return chosen
}

// AC-79, AT-29
func TestATemporaryPasswordWorksOnceAndIsReplaced(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		u := s.seed(ada, goodPassword, true)
		before := s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
		link := s.resetLink(ada)
		first := s.temporary(u)
		before.isSignedInAs("")
		s.browser().get(link).want(http.StatusGone)
		s.browser().signIn(ada, goodPassword).isAt("/auth/signin").isSignedInAs("")

		b := s.browser().signIn(ada, first).isAt(mustChange).isSignedInAs("")
		second := s.browser().signIn(ada, first).isAt("/auth/signin").isSignedInAs("")
		if second.at.Query().Get("error") != "CredentialsSignin" {
			t.Errorf("a second use ends at %s, and not as a wrong password", second.at)
		}
		b.post(mustChange, "password", first).want(http.StatusUnprocessableEntity).says("the password that you have")
		b.post(mustChange, "password", newPassword).isAt("/").isSignedInAs(ada)
		s.browser().signIn(ada, first).isAt("/auth/signin").isSignedInAs("")
		s.browser().signIn(ada, newPassword).isAt("/").isSignedInAs(ada)
		if state := s.state(u); state.Must != "" {
			t.Errorf("the user still must %q", state.Must)
		}
	})
}

// AT-29
func TestATemporaryPasswordThatIsADayOldIsWrong(t *testing.T) {
	t.Parallel()
	for name, former := range map[string]bool{"alone": false, "beside a former table": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s *site
			s = newSite(t, false, func(c *pintle.Config, o *account.Options) {
				if former {
					imports(&s, goodPassword)(c, o)
				}
			})
			u := s.seed(ada, "", true)
			chosen := s.temporary(u)
			age := func(by time.Duration) {
				row := s.factor(u, "password")
				if err := s.rows.DeleteFactor(t.Context(), u.ID, row.Kind, row.ID); err != nil {
					t.Fatal(err)
				}
				row.Step -= by.Milliseconds()
				if err := s.rows.AddFactor(t.Context(), row); err != nil {
					t.Fatal(err)
				}
			}
			age(24 * time.Hour)
			for _, entered := range []string{chosen, goodPassword} {
				b := s.browser().signIn(ada, entered).isAt("/auth/signin").isSignedInAs("")
				if b.at.Query().Get("error") != "CredentialsSignin" {
					t.Errorf("late use ends at %s, and not as a wrong password", b.at)
				}
			}
			age(-time.Minute)
			s.browser().signIn(ada, chosen).isAt(mustChange)
		})
	}
}

// A store removes rows that have expired. Without this one the password in a former table of
// the application would sign in again.
func TestATemporaryPasswordIsNotSwept(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	u := s.seed(ada, "", true)
	s.temporary(u)
	if row := s.factor(u, "password"); !row.Expires.IsZero() {
		t.Errorf("the row expires at %v", row.Expires)
	}
}

// Two sign-ins have found the password to be right before either has used it up.
func TestOfTwoSignInsWithATemporaryPasswordOneGoesOn(t *testing.T) {
	t.Parallel()
	s, f := withFaults(t)
	chosen := s.temporary(s.seed(ada, "", true))
	first, second := s.browser(), s.browser()
	f.onReplace = func() {
		f.onReplace = nil
		first.signIn(ada, chosen).isAt(mustChange)
	}
	second.signIn(ada, chosen).isAt("/auth/signin").isSignedInAs("")
	first.get(mustChange).want(http.StatusOK)
}

// A user who leaves the page on which the password is to be changed needs another one.
func TestAnAbandonedTemporaryPasswordLeavesTheMailAndTheOperator(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	chosen := s.temporary(u)
	s.browser().signIn(ada, chosen).isAt(mustChange)
	s.browser().signIn(ada, chosen).isAt("/auth/signin")
	s.browser().signIn(ada, s.temporary(u)).isAt(mustChange)
	s.browser().get(s.resetLink(ada)).post("/auth/account/reset", "password", newPassword).isAt("/auth/signin")
	s.browser().signIn(ada, newPassword).isAt("/").isSignedInAs(ada)
}

func TestATemporaryPasswordSkipsNoSecondFactor(t *testing.T) {
	t.Parallel()
	s, a, _ := withApp(t, false)
	b := s.browser().signIn(ada, s.temporary(s.user(ada))).isAt(secondFactor)
	b.get(mustChange).want(http.StatusForbidden)
	b.get(secondFactor).post(secondFactor, "code", a.code(t, 0)).isAt(mustChange).isSignedInAs("")
	b.post(mustChange, "password", newPassword).isSignedInAs(ada)
}

// AC-12
func TestATemporaryPasswordIsInNoMailAndInNoLog(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	chosen := s.temporary(u)
	if m := s.wantMail(ada, "was replaced"); strings.Contains(m.Text+m.HTML+s.log(), chosen) || m.Token != "" {
		t.Errorf("the password is in %s", m.Text)
	}
	if len(chosen) != 19 || s.temporary(u) == chosen {
		t.Errorf("the password is %q", chosen)
	}
	unproven := s.seed("bob@example.com", goodPassword, false)
	s.temporary(unproven)
	if got := s.sent("bob@example.com"); len(got) != 0 {
		t.Error("a mail was sent to an address that is not proven")
	}
}

func TestWhoGetsNoTemporaryPassword(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	if _, err := s.accounts.Operators().SetTemporaryPassword(t.Context(), "no such user"); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("an unknown user: %v", err)
	}
	u, err := s.store.CreateUser(t.Context(), &pintle.User{ID: "nameless"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.accounts.Operators().SetTemporaryPassword(t.Context(), u.ID); err == nil || !strings.Contains(err.Error(), "no address") {
		t.Errorf("a user without an address: %v", err)
	}
	if _, err := account.New(account.Options{}).Operators().SetTemporaryPassword(t.Context(), u.ID); err == nil {
		t.Error("without a configuration there is no error")
	}
}

// AC-30: a sign-in between the writes of the operator must not do without a new password.
func TestTheDutyIsWrittenBeforeTheTemporaryPassword(t *testing.T) {
	t.Parallel()
	s, f := withFaults(t)
	u := s.seed(ada, goodPassword, true)
	f.onReplace = func() {
		f.onReplace = nil
		if s.state(u).Must != "password" {
			t.Error("the password is stored before the state says that it has to be changed")
		}
		s.browser().signIn(ada, goodPassword).isAt(mustChange)
	}
	if _, err := s.accounts.Operators().SetTemporaryPassword(t.Context(), u.ID); err != nil {
		t.Fatal(err)
	}
}
