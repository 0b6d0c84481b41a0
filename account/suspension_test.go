package account_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// fail counts wrong codes of a user that are older than the window of the limit.
func (s *site) fail(u *pintle.User, times int) {
	s.t.Helper()
	for range times {
		if _, err := s.rows.CountFailure(s.t.Context(), u.ID, time.Now().Add(-time.Hour), time.Minute, 1000); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *site) state(u *pintle.User) *accountstore.State {
	s.t.Helper()
	state, err := s.rows.State(s.t.Context(), u.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	return state
}

// told returns how many mails to an address have a word in their subject.
func (s *site) told(to, word string) (n int) {
	for _, m := range s.sent(to) {
		if strings.Contains(m.Subject, word) {
			n++
		}
	}
	return n
}

// AT-52
func TestTheHundredthWrongCodeInARowIsRecordedAndMailed(t *testing.T) {
	t.Parallel()
	s, a, codes := withApp(t, false)
	u := s.user(ada)
	s.fail(u, 98)
	s.half().post(secondFactor, "code", a.code(t, 7)).want(http.StatusUnprocessableEntity)
	if s.state(u).Suspended || s.told(ada, "no longer accepted") != 0 {
		t.Error("99 wrong codes suspend the app")
	}
	b := s.half().post(secondFactor, "code", a.code(t, 7)).want(http.StatusUnprocessableEntity)
	if !s.state(u).Suspended {
		t.Error("the state does not say that codes are suspended")
	}
	if n := s.told(ada, "no longer accepted"); n != 1 {
		t.Errorf("%d mails tell of it", n)
	}
	if !strings.Contains(s.log(), "too many wrong codes in a row") {
		t.Error("the operator is not told")
	}
	b.post(secondFactor, "code", a.code(t, 0)).want(http.StatusForbidden)
	// A recovery code that is wrong is one more, and no further mail.
	b.post(secondFactor, "code", "0000-0000-0000-0000").want(http.StatusUnprocessableEntity)
	if n := s.told(ada, "no longer accepted"); n != 1 {
		t.Errorf("%d mails tell of it", n)
	}
	b.post(secondFactor, "code", codes[0]).isSignedInAs(ada)
	if state := s.state(u); state.Suspended || state.Streak != 0 {
		t.Errorf("after a recovery code the state is %+v", state)
	}
	s.half().post(secondFactor, "code", a.code(t, 0)).isSignedInAs(ada)
}

func TestTheHundredthCodeMayBeRight(t *testing.T) {
	t.Parallel()
	s, a, _ := withApp(t, false)
	u := s.user(ada)
	s.fail(u, 99)
	s.half().post(secondFactor, "code", a.code(t, 0)).isSignedInAs(ada)
	if state := s.state(u); state.Suspended || state.Streak != 0 {
		t.Errorf("the state is %+v", state)
	}
}

func TestAnOperatorEndsASuspension(t *testing.T) {
	t.Parallel()
	s, _, _ := withApp(t, false)
	u := s.user(ada)
	s.fail(u, 100)
	s.changeState(u.ID, func(state *accountstore.State) { state.Suspended = true })
	if err := s.accounts.Operators().ResetSecondFactor(t.Context(), u.ID); err != nil {
		t.Fatal(err)
	}
	if state := s.state(u); state.Suspended || state.Streak != 0 {
		t.Errorf("the state is %+v", state)
	}
}

// AT-52: a thief of a session asks for a mail in each of several browsers.
func TestMailedCodesOfOneUserShareTheirAttempts(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		s.demand("/danger", account.Demand{MaxAge: tenMinutes})
		u := s.seed(ada, "", true)
		const confirm = "/auth/account/confirm"
		wrong := func(b *browser) { b.post(confirm, "method", "mail", "code", other(s.code())) }
		begin := func() *browser {
			b := s.browser().startSession(u, time.Hour, "fed").get(confirm)
			return b.post(confirm, "method", "mail", "again", "1").want(http.StatusOK)
		}
		for range 2 {
			b := begin()
			for range 5 {
				wrong(b)
				b.want(http.StatusUnprocessableEntity)
			}
		}
		third := begin()
		third.post(confirm, "method", "mail", "code", s.code()).want(http.StatusTooManyRequests)
		third.get("/danger").isAt(confirm)
		if got := s.state(u).Streak; got != 10 {
			t.Errorf("%d wrong codes are counted", got)
		}
	})
}

func TestAMailedCodeOfASuspendedUserConfirmsNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	s.demand("/danger", account.Demand{MaxAge: tenMinutes})
	u := s.seed(ada, "", true)
	b := s.browser().startSession(u, time.Hour, "fed").get("/danger").confirmBy("again", "1")
	code := s.code()
	s.fail(u, 99)
	b.confirmBy("again", "", "code", other(code)).want(http.StatusUnprocessableEntity)
	if !s.state(u).Suspended {
		t.Error("the hundredth wrong code suspends nothing")
	}
	b.post("/auth/account/confirm", "method", "mail", "code", code).want(http.StatusForbidden)
	if err := s.rows.CountSuccess(t.Context(), u.ID, time.Now()); err != nil { // the state alone
		t.Fatal(err)
	}
	b.post("/auth/account/confirm", "method", "mail", "code", code).want(http.StatusForbidden)
	b.get("/danger").isAt("/auth/account/confirm")
}

func TestARightMailedCodeIsNoFailure(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	s.demand("/danger", account.Demand{MaxAge: tenMinutes})
	u := s.seed(ada, "", true)
	s.fail(u, 20)
	s.browser().startSession(u, time.Hour, "fed").get("/danger").confirmBy("again", "1").confirmBy("again", "", "code", s.code()).says("done")
	if got := s.state(u).Streak; got != 0 {
		t.Errorf("%d failures are counted", got)
	}
}

// AT-8, AC-31: the ban of a user whose session is still there.
func TestABannedUserConfirmsNothing(t *testing.T) {
	ban := func(state *accountstore.State) { state.BannedUntil = accountstore.Forever }
	t.Run("before", func(t *testing.T) {
		inBothKinds(t, func(t *testing.T, tokens bool) {
			s := newSite(t, tokens)
			s.demand("/danger", account.Demand{MaxAge: tenMinutes})
			u := s.seed(ada, goodPassword, true)
			b := s.browser().startSession(u, time.Hour, "pwd").get("/danger")
			s.changeState(u.ID, ban)
			b.confirmBy("password", goodPassword).want(http.StatusUnauthorized).isSignedInAs("")
			if names := b.cookieNames(); len(names) != 0 {
				t.Errorf("a session was renewed: %v", names)
			}
		})
	})
	t.Run("meanwhile", func(t *testing.T) {
		t.Parallel()
		s, f := withFaults(t)
		s.demand("/danger", account.Demand{MaxAge: tenMinutes})
		u := s.seed(ada, goodPassword, true)
		b := s.browser().startSession(u, time.Hour, "pwd").get("/danger")
		f.onState = func() { f.onState = nil; s.changeState(u.ID, ban) }
		b.confirmBy("password", goodPassword).want(http.StatusUnauthorized).isSignedInAs("")
	})
	t.Run("the address", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, false)
		u := s.seed(ada, "", false)
		b := s.browser().startSession(u, 0, "fed").get("/auth/account/prove").post("/auth/account/prove", "again", "1")
		s.changeState(u.ID, ban)
		b.post("/auth/account/prove", "code", s.code()).want(http.StatusUnauthorized).isSignedInAs("")
		if !s.user(ada).EmailVerified.IsZero() {
			t.Error("a banned user has proven the address")
		}
	})
}

// AC-60: the user who loses an address keeps no session and no code of it, also if they were begun
// while it was taken.
func TestTheUserWhoLosesAnAddressKeepsNothingOfIt(t *testing.T) {
	t.Parallel()
	f := &fault{}
	s := newSite(t, false, withGitHub, func(c *pintle.Config, _ *account.Options) { c.Store = faultyStore{c.Store, f} })
	eve := s.seed(ada, "", false)
	s.link(eve, "github")
	b := s.browser().signUp(ada).get(s.lastMail().URL).post("/auth/account/address-choice", "choice", "new").says("Choose a password")
	var thief *browser
	f.onUpdate = func() {
		thief = s.browser().startSession(eve, 0, "fed").isSignedInAs(ada)
		thief.get("/auth/account/prove").post("/auth/account/prove", "again", "1").want(http.StatusOK)
	}
	b.post("/auth/account/sign-up-finish", "password", goodPassword).isSignedInAs(ada)
	if u := s.user(ada); thief == nil || u == nil || u.ID == eve.ID {
		t.Fatal("the address was not taken")
	}
	thief.isSignedInAs("")
	if n, err := s.rows.CountFlows(t.Context(), eve.ID, "prove", time.Now()); n != 0 || err != nil {
		t.Errorf("%d flows have the address, %v", n, err)
	}
}
