package storetest

import (
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

var sweeperChecks = []check{
	{"expired sessions, mail links, flows and factors are removed, the others stay", func(t *tester) {
		s := t.sweeper()
		w := t.mess(3, 2)
		n, err := s.Sweep(t.ctx, time.Now(), 1000)
		t.ok("Sweep", err)
		if n != w.expired() {
			t.Errorf("Sweep removed %d rows, want %d", n, w.expired())
		}
		w.swept(t)
		n, err = s.Sweep(t.ctx, time.Now(), 1000)
		t.ok("Sweep", err)
		if n != 0 {
			t.Errorf("Sweep removed %d rows after it had removed all, want 0", n)
		}
	}},
	{"a sweep removes no more than its limit, and the next goes on", func(t *tester) {
		s := t.sweeper()
		w := t.mess(4, 3)
		left := w.expired()
		for left > 0 {
			n, err := s.Sweep(t.ctx, time.Now(), 3)
			t.ok("Sweep", err)
			if want := min(3, left); n != want {
				t.Fatalf("Sweep of at most 3 of %d removed %d rows, want %d", left, n, want)
			}
			left -= n
		}
		w.swept(t)
	}},
	{"a sweep of nothing removes nothing", func(t *tester) {
		s := t.sweeper()
		w := t.mess(1, 1)
		for _, limit := range []int{0, -1} {
			n, err := s.Sweep(t.ctx, time.Now(), limit)
			t.ok("Sweep", err)
			if n != 0 {
				t.Errorf("Sweep of at most %d removed %d rows", limit, n)
			}
		}
		n, err := s.Sweep(t.ctx, time.Now().Add(-365*24*time.Hour), 1000)
		t.ok("Sweep", err)
		if n != 0 {
			t.Errorf("Sweep of what expired a year ago removed %d rows, want 0", n)
		}
		w.whole(t)
		for _, s := range w.dead {
			t.live(s, w.user)
		}
	}},
	{"what expires at the given instant, or after it, stays", func(t *tester) {
		s := t.sweeper()
		u := t.someone()
		at := now().Add(-time.Hour)
		before, exactly := newSession(u.ID), newSession(u.ID)
		before.Expires, exactly.Expires = at.Add(-time.Second), at
		t.createSession(before)
		t.createSession(exactly)
		_, err := s.Sweep(t.ctx, at, 1000)
		t.ok("Sweep", err)
		t.ended(before.Token)
		t.live(exactly, u)
	}},
	{"a session that was extended stays", func(t *tester) {
		s := t.sweeper()
		u := t.someone()
		session := newSession(u.ID)
		session.Expires = now().Add(-time.Hour)
		t.createSession(session)
		session.Expires = now().Add(time.Hour)
		t.ok("UpdateSession", t.sessions().UpdateSession(t.ctx, session.Token, pintle.SessionUpdate{Expires: session.Expires}))
		_, err := s.Sweep(t.ctx, time.Now(), 1000)
		t.ok("Sweep", err)
		t.live(session, u)
	}},
}

// A mess is a user with sessions, mail links, flows and factors, some of which have
// expired.
type mess struct {
	user                     *pintle.User
	live, dead               []*pintle.StoredSession
	openLinks, deadLinks     []*pintle.Verification
	openFlows, deadFlows     []*accountstore.Flow
	liveFactors, deadFactors []*accountstore.Factor
}

func (t *tester) mess(sessions, links int) *mess {
	t.Helper()
	w := &mess{user: t.someone()}
	if t.can.Sessions {
		for i := range sessions {
			dead := newSession(w.user.ID)
			dead.Expires = now().Add(-time.Duration(i+1) * time.Hour)
			w.dead = append(w.dead, t.createSession(dead))
			w.live = append(w.live, t.createSession(newSession(w.user.ID)))
		}
	}
	if t.can.Verifications {
		for i := range links {
			dead := newVerification()
			dead.Expires = now().Add(-time.Duration(i+1) * time.Minute)
			w.deadLinks = append(w.deadLinks, t.createVerification(dead))
			w.openLinks = append(w.openLinks, t.createVerification(newVerification()))
		}
	}
	if t.store.AccountStore() != nil {
		for i := range links {
			age := time.Duration(i+1) * time.Minute
			flow, factor, live := newFlow(w.user.ID, reset), newFactor(w.user.ID, device), newFactor(w.user.ID, device)
			flow.Expires, factor.Expires, live.Created = now().Add(-age), now().Add(-age), live.Created.Add(age)
			w.deadFlows = append(w.deadFlows, t.createFlow(flow))
			w.openFlows = append(w.openFlows, t.createFlow(newFlow(w.user.ID, reset)))
			w.deadFactors = append(w.deadFactors, t.addFactor(factor))
			w.liveFactors = append(w.liveFactors, t.addFactor(live))
		}
	}
	return w
}

func (w *mess) expired() int {
	return len(w.dead) + len(w.deadLinks) + len(w.deadFlows) + len(w.deadFactors)
}

// swept checks that the expired is gone and the rest is there.
func (w *mess) swept(t *tester) {
	t.Helper()
	for _, s := range w.dead {
		t.ended(s.Token)
	}
	for _, v := range w.deadLinks {
		t.unusable(v.Identifier, v.Token)
	}
	for _, f := range w.deadFlows {
		t.noFlow(f.ID)
	}
	if t.store.AccountStore() != nil {
		t.factors(w.user.ID, w.liveFactors...)
	}
	w.whole(t)
}

// whole checks that what has not expired is there.
func (w *mess) whole(t *tester) {
	t.Helper()
	for _, s := range w.live {
		t.live(s, w.user)
	}
	for _, v := range w.openLinks {
		t.uses(v)
	}
	for _, f := range w.openFlows {
		t.flow(f)
	}
	if t.store.AccountStore() == nil {
		return
	}
	found, err := t.rows().Factors(t.ctx, w.user.ID)
	t.ok("Factors", err)
	live := 0
	for _, f := range found {
		if f.Expires.After(now()) {
			live++
		}
	}
	if live != len(w.liveFactors) {
		t.Errorf("%d factors are there that have not expired, want %d", live, len(w.liveFactors))
	}
}
