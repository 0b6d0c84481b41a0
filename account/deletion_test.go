package account_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// deletes asks for the deletion of the account.
func (b *browser) deletes() *browser {
	b.t.Helper()
	return b.get("/auth/account/delete").isAt("/auth/account/delete").post("/auth/account/delete", "confirmed", "1")
}

// AC-90, AT-49
func TestAUserDeletesTheAccountAndKeepsIt(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		u := s.seed(ada, goodPassword, true)
		s.remember(u)
		other := s.browser().signIn(ada, goodPassword)
		reset := s.resetLink(ada)
		b := s.browser().signIn(ada, goodPassword).beginsAddress(newAddress)
		change := s.mailOf("address-confirm").URL
		b.get("/auth/account/delete").says(time.Now().Add(14 * 24 * time.Hour).UTC().Format(time.DateOnly))
		b.post("/auth/account/delete").want(http.StatusUnprocessableEntity).says("Tick the box").isSignedInAs(ada)
		if !s.state(u).DeleteAt.IsZero() {
			t.Fatal("the deletion is planned without the tick")
		}
		b.deletes().isAt("/auth/signin").says("Your account will be deleted").isSignedInAs("")
		other.isSignedInAs("")
		s.browser().get(reset).want(http.StatusGone)
		s.browser().get(change).want(http.StatusGone)
		if kinds := s.storedKinds(u); kinds != "password" {
			t.Errorf("the user still has %s", kinds)
		}
		if in := time.Until(s.state(u).DeleteAt); in < 14*24*time.Hour-time.Minute || in > 14*24*time.Hour {
			t.Errorf("the user is deleted in %v", in)
		}
		if m := s.wantMail(ada, "will be deleted"); m.Token != "" || strings.Contains(m.Text, "token=") {
			t.Errorf("the mail has a token: %s", m.Text)
		}
		// The address stays taken, and no answer tells that the user is deleted.
		s.browser().signUp(ada)
		s.wantMail(ada, "You have an account")

		n, err := s.accounts.DeleteDue(t.Context())
		if n != 0 || err != nil {
			t.Fatalf("DeleteDue before the time: %d, %v", n, err)
		}
		b.signIn(ada, goodPassword).isAt("/auth/account/keep").isSignedInAs("")
		b.get("/auth/account").isAt("/auth/signin")
		b.signIn(ada, goodPassword).post("/auth/account/keep").isSignedInAs(ada)
		if !s.state(u).DeleteAt.IsZero() {
			t.Error("the deletion is still planned")
		}
		s.wantMail(ada, "is kept")
		s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
	})
}

// AT-49: a second factor is asked for before the account can be kept.
func TestKeepingAnAccountTakesTheWholeSignIn(t *testing.T) {
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	code := s.app(u)
	s.changeState(u.ID, func(state *accountstore.State) { state.DeleteAt = time.Now().Add(time.Hour) })
	b := s.browser().signIn(ada, goodPassword).isAt("/auth/account/second-factor")
	b.get("/auth/account/keep").want(http.StatusForbidden)
	b.post("/auth/account/keep").want(http.StatusForbidden)
	if s.state(u).DeleteAt.IsZero() {
		t.Fatal("the account was kept after one factor")
	}
	b.get("/auth/account/second-factor").post("/auth/account/second-factor", "code", code()).isAt("/auth/account/keep").isSignedInAs("")
	b.post("/auth/account/keep").isSignedInAs(ada)
}

// AC-90: the job, the callback of the application, and the order of the two.
func TestTheJobDeletesUsersWhoseTimeIsOver(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		var calls []string
		fails := true
		s := newSite(t, tokens, withGitHub, func(_ *pintle.Config, o *account.Options) {
			o.Deletion.Delete = func(_ context.Context, u *pintle.User) error {
				calls = append(calls, u.Email)
				if fails {
					return errors.New("the files cannot be removed")
				}
				return nil
			}
		})
		u, bob := s.seed(ada, goodPassword, true), s.seed("bob@example.com", goodPassword, true)
		s.link(u, "github")
		s.browser().signIn(ada, goodPassword).deletes()
		s.browser().signIn("bob@example.com", goodPassword).deletes()
		past := func(state *accountstore.State) { state.DeleteAt = time.Now().Add(-time.Second) }
		s.changeState(u.ID, past)
		n, err := s.accounts.DeleteDue(t.Context())
		if n != 0 || err == nil || !strings.Contains(err.Error(), "the files cannot be removed") {
			t.Errorf("DeleteDue with a callback that fails: %d, %v", n, err)
		}
		if s.user(ada) == nil {
			t.Fatal("the user is deleted, and what the application has is not")
		}
		s.browser().signIn(ada, goodPassword).isSignedInAs("")
		fails = false
		if n, err = s.accounts.DeleteDue(t.Context()); n != 1 || err != nil {
			t.Errorf("DeleteDue: %d, %v", n, err)
		}
		if len(calls) != 2 || s.user(ada) != nil || s.user("bob@example.com") == nil || s.state(bob).DeleteAt.IsZero() {
			t.Errorf("the callback was called for %q", calls)
		}
		if got := s.state(u); got.Version != 0 {
			t.Errorf("the state of the user is left: %+v", got)
		}
		s.wantMail(ada, "is deleted")
		if n, err = s.accounts.DeleteDue(t.Context()); n != 0 || err != nil || len(calls) != 2 {
			t.Errorf("DeleteDue once more: %d, %v", n, err)
		}
		s.browser().signIn(ada, goodPassword).isSignedInAs("")
		s.browser().proves(ada) // the address is free
	})
}

// AC-90: two processes delete the same user at the same time.
func TestTwoJobsDeleteAUserOnce(t *testing.T) {
	first, second := make(chan struct{}), make(chan struct{})
	var calls atomic.Int32
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		o.Deletion.Delete = func(context.Context, *pintle.User) error {
			if calls.Add(1) == 1 {
				close(first)
				<-second
			}
			return nil
		}
	})
	u := s.seed(ada, goodPassword, true)
	s.changeState(u.ID, func(state *accountstore.State) { state.DeleteAt = time.Now().Add(-time.Second) })
	var deleted int
	var err error
	var wg sync.WaitGroup
	wg.Go(func() { deleted, err = s.accounts.DeleteDue(t.Context()) })
	<-first
	again, failed := s.accounts.DeleteDue(t.Context())
	close(second)
	wg.Wait()
	if deleted+again != 1 || err != nil || failed != nil || s.user(ada) != nil {
		t.Errorf("DeleteDue: %d, %v, and at the same time %d, %v", deleted, err, again, failed)
	}
	if n := s.count(ada, "deletion-done"); n != 1 {
		t.Errorf("%d mails tell of it", n)
	}
}

// AC-31: of a deletion and a user who keeps the account at the same moment one goes on.
func TestAUserWhoKeepsTheAccountAtTheLastMomentIsNotDeleted(t *testing.T) {
	var s *site
	var u *pintle.User
	called := 0
	f := &fault{}
	s = newSite(t, false, func(c *pintle.Config, o *account.Options) {
		c.Store = faultyStore{c.Store, f}
		o.Deletion.Delete = func(context.Context, *pintle.User) error { called++; return nil }
	})
	u = s.seed(ada, goodPassword, true)
	s.changeState(u.ID, func(state *accountstore.State) { state.DeleteAt = time.Now().Add(-time.Second) })
	f.onState = func() {
		f.onState = nil
		s.changeState(u.ID, func(state *accountstore.State) { state.DeleteAt = time.Time{} })
	}
	if n, err := s.accounts.DeleteDue(t.Context()); n != 0 || err != nil || called != 0 || s.user(ada) == nil {
		t.Errorf("DeleteDue: %d, %v; the callback was called %d times", n, err, called)
	}
	if !s.state(u).BannedUntil.IsZero() {
		t.Error("the user is banned")
	}
}

// AC-90: time 0.
func TestAnApplicationCanDeleteAtOnce(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		called := 0
		s := newSite(t, tokens, func(_ *pintle.Config, o *account.Options) {
			o.Deletion = account.Deletion{After: -1, Delete: func(context.Context, *pintle.User) error { called++; return nil }}
		})
		s.seed(ada, goodPassword, true)
		s.browser().signIn(ada, goodPassword).get("/auth/account/delete").says("at once")
		b := s.browser().signIn(ada, goodPassword).deletes().isAt("/auth/signin").says("Your account is deleted").isSignedInAs("")
		if s.user(ada) != nil || called != 1 {
			t.Errorf("the callback was called %d times, and the user is %+v", called, s.user(ada))
		}
		s.wantMail(ada, "is deleted")
		b.get("/auth/account").isAt("/auth/signin")
	})
}

// AT-47: an unlocked screen.
func TestADeletionNeedsAFreshProof(t *testing.T) {
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	b := s.browser().startSession(u, time.Hour, "pwd")
	b.get("/auth/account/delete").isAt("/auth/account/confirm")
	b.post("/auth/account/delete", "confirmed", "1").want(http.StatusForbidden)
	if !s.state(u).DeleteAt.IsZero() {
		t.Error("the deletion is planned")
	}
}

// AT-47: forms that other sites send with a session that may delete the account, and the form of
// an operator who acts as the user.
func TestADeletionIsAskedForByAPageOfTheSiteAndByItsUser(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		d := newDesk(t, tokens)
		fresh, other := d.browser().startSession(d.user, 0, "pwd"), d.browser()
		token, foreign := fresh.token(), other.token()
		for name, attack := range map[string]struct{ token, header, value string }{
			"no token":               {"", "Accept", "text/html"},
			"token of other browser": {foreign, "Accept", "text/html"},
			"another site":           {token, "Sec-Fetch-Site", "cross-site"},
			"a sibling domain":       {token, "Sec-Fetch-Site", "same-site"},
			"another origin":         {token, "Origin", "https://evil.example"},
		} {
			form := url.Values{"confirmed": {"1"}, "csrfToken": {attack.token}}
			r := fresh.request(http.MethodPost, "/auth/account/delete", strings.NewReader(form.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set(attack.header, attack.value)
			if fresh.send(r); fresh.status != http.StatusForbidden || !d.state(d.user).DeleteAt.IsZero() {
				t.Errorf("%s: %d; the deletion is planned: %t", name, fresh.status, !d.state(d.user).DeleteAt.IsZero())
			}
			d.changeState(d.user.ID, func(state *accountstore.State) { state.DeleteAt = time.Time{} })
			fresh.startSession(d.user, 0, "pwd") // a deletion ends the sessions
		}
		d.begin().post("/auth/account/delete", "confirmed", "1").want(http.StatusForbidden).says("You act as another user.")
		if !d.state(d.user).DeleteAt.IsZero() {
			t.Error("an operator who acts has planned the deletion")
		}
		// The same form of the page of the site, so that what is missing above is what is refused.
		fresh.post("/auth/account/delete", "confirmed", "1").isAt("/auth/signin")
		if d.state(d.user).DeleteAt.IsZero() {
			t.Error("the user cannot delete the account")
		}
	})
}

// AC-90: a reset of the password overtakes the request of a thief.
func TestADeletionThatAResetOvertakesIsNotPlanned(t *testing.T) {
	s, f := withFaults(t)
	u := s.seed(ada, goodPassword, true)
	thief := s.browser().signIn(ada, goodPassword).get("/auth/account/delete")
	link := s.resetLink(ada)
	f.onEnd = func() {
		f.onEnd = nil
		s.browser().get(link).post("/auth/account/reset", "password", newPassword).isAt("/auth/signin")
	}
	thief.post("/auth/account/delete", "confirmed", "1").want(http.StatusUnauthorized)
	if !s.state(u).DeleteAt.IsZero() {
		t.Error("the deletion is planned")
	}
}

// AC-90, AT-8: a reset overtakes the request of a thief while it plans the deletion.
func TestADeletionThatAResetOvertakesAtAnyMomentIsNotPlanned(t *testing.T) {
	t.Parallel()
	for call := 1; call <= 5; call++ {
		s, f := withFaults(t)
		u := s.seed(ada, goodPassword, true)
		thief := s.browser().signIn(ada, goodPassword).get("/auth/account/delete")
		token, left := thief.token(), call
		f.onState = func() {
			if left--; left == 0 {
				f.onState = nil
				s.browser().get(s.resetLink(ada)).post("/auth/account/reset", "password", newPassword).isAt("/auth/signin")
			}
		}
		thief.post("/auth/account/delete", "csrfToken", token, "confirmed", "1").want(http.StatusUnauthorized)
		if left > 0 || !s.passwordIs(ada, newPassword) {
			t.Fatalf("call %d of State: the password was not reset", call)
		}
		if !s.state(u).DeleteAt.IsZero() || s.count(ada, "deletion-planned") != 0 {
			t.Errorf("call %d of State: the deletion is planned", call)
		}
	}
}

// AT-7, AC-34, AC-90: after a fault at any call of the store, a deletion that is planned is told.
func TestAFaultDuringADeletionHidesNoPlan(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		s, f := withFaults(t)
		u := s.seed(ada, goodPassword, true)
		b := s.browser().signIn(ada, goodPassword).get("/auth/account/delete")
		token := b.token()
		f.arm(n)
		b.stay().post("/auth/account/delete", "csrfToken", token, "confirmed", "1")
		hit := f.hit.Load()
		f.arm(0)
		planned := !s.state(u).DeleteAt.IsZero()
		if told := s.count(ada, "deletion-planned"); planned != (told == 1) {
			t.Errorf("call %d: planned: %t, and %d mails tell of it", n, planned, told)
		}
		if !hit {
			if !planned || n < 8 {
				t.Errorf("after %d calls: planned: %t", n, planned)
			}
			return
		}
	}
}

// AC-90, AT-52: a thief who knows the password asks for the deletion, and types wrong codes until
// the time to keep the account is over.
func TestAUserWhoseCodesAreSuspendedIsNotDeletedByTheJob(t *testing.T) {
	s := newSite(t, false)
	u, bob := s.seed(ada, goodPassword, true), s.seed("bob@example.com", goodPassword, true)
	for _, due := range []*pintle.User{u, bob} {
		s.changeState(due.ID, func(state *accountstore.State) { state.DeleteAt = time.Now().Add(-time.Second) })
	}
	s.fail(u, 100)
	n, err := s.accounts.DeleteDue(t.Context())
	if n != 1 || err == nil || !strings.Contains(err.Error(), u.ID) || s.user(ada) == nil || s.user("bob@example.com") != nil {
		t.Errorf("DeleteDue: %d, %v", n, err)
	}
	if !s.state(u).BannedUntil.IsZero() {
		t.Error("the user is banned")
	}
	if err := s.accounts.Operators().ResetSecondFactor(t.Context(), u.ID); err != nil {
		t.Fatal(err)
	}
	if n, err := s.accounts.DeleteDue(t.Context()); n != 1 || err != nil || s.user(ada) != nil {
		t.Errorf("DeleteDue after an operator has decided: %d, %v", n, err)
	}
}

func TestAnApplicationCanTakeTheDeletionOut(t *testing.T) {
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) { o.Deletion.Off = true })
	s.seed(ada, goodPassword, true)
	b := s.browser().signIn(ada, goodPassword)
	b.get("/auth/account/delete").want(http.StatusNotFound)
	b.post("/auth/account/delete", "confirmed", "1").want(http.StatusNotFound)
	if b.get("/auth/account"); strings.Contains(b.page, "Delete your account") {
		t.Error("the page of the account leads there")
	}
}

// AC-214: Auth.js beside this program signs in a user who has deleted the account.
func TestASessionOfAuthJSOfADeletedUserIsNotAccepted(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		u := s.seed(ada, goodPassword, true)
		b := s.browser().shareSession(u, tokens).isSignedInAs(ada)
		s.changeState(u.ID, func(state *accountstore.State) { state.DeleteAt = time.Now().Add(time.Hour) })
		b.isSignedInAs("")
	})
}
