package storetest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/providersession"
)

// RunRevocation tests the lists that open returns, as [Run] tests stores:
//
//	func TestRevocations(t *testing.T) {
//		storetest.RunRevocation(t, func(t *testing.T) pintle.RevocationStore { return newList(t) })
//	}
//
// open may return the same list each time: every check uses new ids. A list
// with a method Sweep like that of [pintle.Store] is swept, and one that is a
// [providersession.Marker] is tested as such.
func RunRevocation(t *testing.T, open func(*testing.T) pintle.RevocationStore) {
	for _, c := range revocationChecks {
		t.Run(c.name, func(t *testing.T) { c.run(newRevocationTester(t, open(t))) })
	}
}

type sweeper interface {
	Sweep(ctx context.Context, before time.Time, limit int) (int, error)
}

// A revocationCheck is one promise of [pintle.RevocationStore].
type revocationCheck struct {
	name string
	run  func(*revocationTester)
}

var revocationChecks = []revocationCheck{
	{"a session that was not ended goes on", func(t *revocationTester) {
		t.goesOn(unique(), unique(), now())
		t.goesOn(unique(), unique(), time.Time{})
		t.goesOn("", "", time.Time{})
	}},
	{"a session that was ended stays ended, and no other is", func(t *revocationTester) {
		user, session := unique(), unique()
		for range 2 { // as when a user presses the button twice
			t.ok("Revoke", t.list.Revoke(t.ctx, pintle.TokenSession{UserID: user, ID: session}, later()))
		}
		for range 3 {
			t.over(user, session, now())
		}
		t.over(user, session, time.Time{})
		t.over(user, session, now().Add(time.Hour)) // a clock that is ahead revives nothing
		t.goesOn(user, unique(), now())
		t.goesOn(user, unique(), time.Time{})
		t.goesOn(unique(), unique(), now())
	}},
	{"all sessions of a user end that have begun, and no other user's", func(t *revocationTester) {
		user, other := unique(), unique()
		last := now() // a token says in whole seconds when it began
		t.ok("RevokeUser", t.list.RevokeUser(t.ctx, user, later()))
		for _, began := range []time.Time{last, last.Add(-time.Minute), last.Add(-365 * 24 * time.Hour), time.Unix(0, 0)} {
			t.over(user, unique(), began)
		}
		t.goesOn(other, unique(), now())
	}},
	{"a session of unknown beginning ends with the others", func(t *revocationTester) {
		user := unique()
		t.ok("RevokeUser", t.list.RevokeUser(t.ctx, user, later()))
		t.over(user, unique(), time.Time{})
	}},
	{"a user who signs in again stays signed in, in any time zone", func(t *revocationTester) {
		user, last := unique(), now()
		t.ok("RevokeUser", t.list.RevokeUser(t.ctx, user, later()))
		for _, zone := range []*time.Location{time.UTC, time.FixedZone("east", 14*60*60), time.FixedZone("west", -12*60*60)} {
			t.goesOn(user, unique(), now().Add(5*time.Second).In(zone))
			t.over(user, unique(), last.Add(-5*time.Second).In(zone))
		}
	}},
	{"a later mark counts, too", func(t *revocationTester) {
		user := unique()
		t.ok("RevokeUser", t.list.RevokeUser(t.ctx, user, later()))
		began := time.Now().Truncate(time.Second).Add(time.Second)
		t.goesOn(user, unique(), began)
		t.wait(time.Until(began))
		t.ok("RevokeUser", t.list.RevokeUser(t.ctx, user, later()))
		t.over(user, unique(), began)
	}},
	{"no call shortens how long another's mark is kept", func(t *revocationTester) {
		user, session, last := unique(), unique(), now()
		past := last.Add(-time.Hour)
		t.ok("Revoke", t.list.Revoke(t.ctx, pintle.TokenSession{UserID: user, ID: session}, later()))
		t.ok("Revoke", t.list.Revoke(t.ctx, pintle.TokenSession{UserID: user, ID: session}, past))
		t.ok("RevokeUser", t.list.RevokeUser(t.ctx, user, later()))
		t.ok("RevokeUser", t.list.RevokeUser(t.ctx, user, past))
		t.sweep()
		t.over(user, session, now().Add(time.Hour))
		t.over(user, unique(), last)
	}},
	{"a user is no session, and a session no user", func(t *revocationTester) {
		a, b := unique(), unique()
		t.ok("Revoke", t.list.Revoke(t.ctx, pintle.TokenSession{UserID: a, ID: b}, later()))
		t.goesOn(b, a, now())
		t.goesOn(b, unique(), now())
		t.goesOn(a, a, now())
		t.goesOn(a+b, "", now())
		t.goesOn("", a+b, now())
		t.ok("RevokeUser", t.list.RevokeUser(t.ctx, b, later()))
		t.goesOn(a, unique(), now())
		t.goesOn(unique(), b, now())
	}},
	{"sessions without an id are those of their user", func(t *revocationTester) {
		user, other := unique(), unique()
		t.ok("Revoke", t.list.Revoke(t.ctx, pintle.TokenSession{UserID: user, ID: ""}, later()))
		t.over(user, "", now())
		t.goesOn(other, "", now())
		t.goesOn(user, unique(), now())
	}},
	{"ids are compared byte by byte, whatever they are", func(t *revocationTester) {
		for _, odd := range []string{"é", "\x00", "\xff", "a b", "%", "*", "'", `\`, "日本", strings.Repeat("x", 3000)} {
			user, session, last := unique()+odd, unique()+odd, now()
			t.ok("Revoke", t.list.Revoke(t.ctx, pintle.TokenSession{UserID: user, ID: session}, later()))
			t.over(user, session, now())
			t.goesOn(user, session+" ", now())
			t.goesOn(user, strings.ToUpper(session), now())
			t.ok("RevokeUser", t.list.RevokeUser(t.ctx, user, later()))
			t.over(user, unique(), last)
			t.goesOn(strings.ToUpper(user), unique(), now())
		}
	}},
	{"concurrent calls are all recorded", func(t *revocationTester) {
		user, session, last := unique(), unique(), now()
		var all sync.WaitGroup
		errs := make(chan error, 40)
		for range cap(errs) / 2 {
			all.Go(func() { errs <- t.list.RevokeUser(t.ctx, user, later()) })
			all.Go(func() { errs <- t.list.Revoke(t.ctx, pintle.TokenSession{UserID: user, ID: session}, later()) })
		}
		all.Wait()
		close(errs)
		for err := range errs {
			t.ok("a concurrent call", err)
		}
		t.over(user, session, now().Add(time.Hour))
		t.over(user, unique(), last)
	}},
	{"a call whose context has ended fails", func(t *revocationTester) {
		ctx, cancel := context.WithCancel(t.ctx)
		cancel()
		if _, err := t.list.Revoked(ctx, pintle.TokenSession{UserID: unique(), ID: unique(), SignedIn: now()}); err == nil {
			t.Error("Revoked with a context that has ended returned no error: without a look-up the session counts as valid")
		}
		if err := t.list.Revoke(ctx, pintle.TokenSession{UserID: unique(), ID: unique()}, later()); err == nil {
			t.Error("Revoke with a context that has ended returned no error")
		}
		if err := t.list.RevokeUser(ctx, unique(), later()); err == nil {
			t.Error("RevokeUser with a context that has ended returned no error")
		}
	}},
	{"a mark ends the sessions that have it and began until then, and no others", func(t *revocationTester) {
		marker, sid, sub := t.marker(), mark(), mark()
		end := now().Add(-time.Hour)
		t.ok("EndMarked", marker.EndMarked(t.ctx, sid, end, later()))
		for name, marks := range map[string][3]providersession.Mark{
			"the first mark": {sid, sub, mark()}, "the last mark": {mark(), sub, sid}, "the only mark": {{}, sid, {}},
		} {
			for _, began := range []time.Time{end, end.Add(-time.Minute), {}} {
				if !t.marked(unique(), began, marks) {
					t.Errorf("by %s: a session that began at %s goes on", name, instant(began))
				}
			}
			if t.marked(unique(), end.Add(5*time.Second), marks) {
				t.Errorf("by %s: a session that began later has ended", name)
			}
		}
		for name, marks := range map[string][3]providersession.Mark{"no mark": {}, "other marks": {mark(), sub, {}}} {
			if t.marked(unique(), time.Time{}, marks) {
				t.Errorf("a session with %s has ended", name)
			}
		}
	}},
	{"a session with marks ends by its id and by its user", func(t *revocationTester) {
		t.marker()
		user, session, last := unique(), unique(), now()
		with := pintle.TokenSession{UserID: user, ID: session, SignedIn: last, Marks: [3]providersession.Mark{mark(), mark(), mark()}}
		other := with
		other.ID = unique()
		t.ok("Revoke", t.list.Revoke(t.ctx, with, later()))
		for _, s := range []pintle.TokenSession{with, {UserID: user, ID: session, SignedIn: last, Marks: [3]providersession.Mark{mark()}}} {
			ended, err := t.list.Revoked(t.ctx, s)
			if t.ok("Revoked", err); !ended {
				t.Error("a session that was ended by its id goes on, because of its marks")
			}
		}
		ended, err := t.list.Revoked(t.ctx, other)
		if t.ok("Revoked", err); ended {
			t.Error("a session has ended with another that has its marks")
		}
		t.ok("RevokeUser", t.list.RevokeUser(t.ctx, user, later()))
		ended, err = t.list.Revoked(t.ctx, other)
		if t.ok("Revoked", err); !ended {
			t.Error("a session whose user was ended goes on, because of its marks")
		}
	}},
	{"the latest end of a mark counts, for as long as any call says", func(t *revocationTester) {
		marker, m := t.marker(), mark()
		end := now().Add(-time.Hour)
		t.ok("EndMarked", marker.EndMarked(t.ctx, m, end, later()))
		t.ok("EndMarked", marker.EndMarked(t.ctx, m, end.Add(-time.Hour), now().Add(-time.Hour)))
		t.sweep()
		if !t.marked(unique(), end, [3]providersession.Mark{m}) {
			t.Error("an earlier end has taken the place of a later one")
		}
		t.ok("EndMarked", marker.EndMarked(t.ctx, m, end.Add(time.Minute), later()))
		if !t.marked(unique(), end.Add(time.Minute), [3]providersession.Mark{m}) {
			t.Error("a later end is not counted")
		}
		ctx, cancel := context.WithCancel(t.ctx)
		cancel()
		if err := marker.EndMarked(ctx, mark(), end, later()); err == nil {
			t.Error("EndMarked with a context that has ended returned no error")
		}
	}},
	{"a sweep removes what may be forgotten, a few at a time", func(t *revocationTester) {
		s, ok := t.list.(sweeper)
		if !ok {
			t.Skipf("%T has no method Sweep", t.list)
		}
		t.sweep()
		kept, session, last := unique(), unique(), now()
		marker, marks := t.list.(providersession.Marker)
		t.ok("Revoke", t.list.Revoke(t.ctx, pintle.TokenSession{UserID: kept, ID: session}, later()))
		t.ok("RevokeUser", t.list.RevokeUser(t.ctx, kept, later()))
		stale := now().Add(-time.Minute)
		for range 3 {
			t.ok("Revoke", t.list.Revoke(t.ctx, pintle.TokenSession{UserID: unique(), ID: unique()}, stale))
			if marks {
				t.ok("EndMarked", marker.EndMarked(t.ctx, mark(), last, stale))
			} else {
				t.ok("RevokeUser", t.list.RevokeUser(t.ctx, unique(), stale))
			}
		}
		t.ok("RevokeUser", t.list.RevokeUser(t.ctx, unique(), stale))
		for i, want := range []int{4, 3, 0} {
			n, err := s.Sweep(t.ctx, time.Now(), 4)
			t.ok("Sweep", err)
			if n != want {
				t.Errorf("sweep %d of at most 4 removed %d, want %d", i+1, n, want)
			}
		}
		for _, limit := range []int{0, -1} {
			if n, err := s.Sweep(t.ctx, time.Now().Add(time.Hour), limit); n != 0 || err != nil {
				t.Errorf("Sweep of at most %d returned %d, %v", limit, n, err)
			}
		}
		t.over(kept, session, now().Add(time.Hour))
		t.over(kept, unique(), last)
	}},
}

// A revocationTester is what one check works with.
type revocationTester struct {
	testing.TB
	ctx  context.Context // a check is one call
	list pintle.RevocationStore
}

func newRevocationTester(t testing.TB, list pintle.RevocationStore) *revocationTester {
	ctx, cancel := context.WithTimeout(t.Context(), checkTimeout)
	t.Cleanup(cancel)
	return &revocationTester{TB: t, ctx: ctx, list: list}
}

// later is when the tokens of a check have expired.
func later() time.Time { return now().Add(30 * 24 * time.Hour) }

func (t *revocationTester) ok(what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// marker returns the list, if it ends sessions by marks.
func (t *revocationTester) marker() providersession.Marker {
	t.Helper()
	marker, is := t.list.(providersession.Marker)
	if !is {
		t.Skipf("%T is no providersession.Marker", t.list)
	}
	return marker
}

// mark returns a mark that no other check has.
func mark() providersession.Mark { return providersession.KeyOf(unique()).Mark() }

func (t *revocationTester) marked(userID string, signedIn time.Time, marks [3]providersession.Mark) bool {
	t.Helper()
	ended, err := t.list.Revoked(t.ctx, pintle.TokenSession{UserID: userID, ID: unique(), SignedIn: signedIn, Marks: marks})
	t.ok("Revoked", err)
	return ended
}

func (t *revocationTester) over(userID, sessionID string, signedIn time.Time) {
	t.Helper()
	if !t.asked(userID, sessionID, signedIn) {
		t.Errorf("the session %.40q of %.40q that began at %s goes on, want it ended", sessionID, userID, instant(signedIn))
	}
}

func (t *revocationTester) goesOn(userID, sessionID string, signedIn time.Time) {
	t.Helper()
	if t.asked(userID, sessionID, signedIn) {
		t.Errorf("the session %.40q of %.40q that began at %s has ended, want it to go on", sessionID, userID, instant(signedIn))
	}
}

func (t *revocationTester) asked(userID, sessionID string, signedIn time.Time) bool {
	t.Helper()
	ended, err := t.list.Revoked(t.ctx, pintle.TokenSession{UserID: userID, ID: sessionID, SignedIn: signedIn})
	t.ok("Revoked", err)
	return ended
}

// sweep removes all that may be forgotten now.
func (t *revocationTester) sweep() {
	t.Helper()
	s, ok := t.list.(sweeper)
	if !ok {
		return
	}
	for {
		n, err := s.Sweep(t.ctx, time.Now(), 100)
		t.ok("Sweep", err)
		if n < 100 {
			return
		}
	}
}

func (t *revocationTester) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-t.ctx.Done():
		t.Fatal(t.ctx.Err())
	}
}
