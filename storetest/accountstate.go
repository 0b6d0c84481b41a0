package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/pintleauth/pintle/accountstore"
)

var stateChecks = []check{
	{"a user without a row has the zero state, and their id in it", func(t *tester) {
		t.rows()
		t.changeState(newState(unique()))
		for _, id := range append(similar(), unique(), strings.Repeat("x", 255)) {
			t.noState(id)
		}
	}},
	{"a state reads back as it was stored, in each change", func(t *tester) {
		id := unique()
		s := t.changeState(newState(id))
		t.state(s)
		s = t.changeState(&accountstore.State{UserID: id, Version: s.Version})
		t.state(s)
		full := newState(id)
		full.Version, full.Must = s.Version, "enrol"
		s = t.changeState(full)
		t.state(s)
		if s.Version != 3 {
			t.Errorf("the third change made version %d", s.Version)
		}
	}},
	{"a state without anything in it reads back as such", func(t *tester) {
		for _, roles := range [][]string{nil, {}} {
			id := unique()
			t.state(t.changeState(&accountstore.State{UserID: id, Roles: roles}))
		}
	}},
	{"a role may be any text, and they stay in their order", func(t *tester) {
		for _, roles := range [][]string{hostile, {""}, {"", ""}, {"b", "a", "b"}, {"null"}, {"[]"}} {
			s := &accountstore.State{UserID: unique(), Roles: roles}
			t.state(t.changeState(s))
		}
	}},
	{"the longest texts of a state are kept", func(t *tester) {
		s := newState(strings.Repeat("é", 127) + "x")
		s.BanReason, s.Must, s.Claim = strings.Repeat("山", 666)+"xy", strings.Repeat("m", 255), strings.Repeat("c", 255)
		for i := range 100 {
			s.Roles = append(s.Roles, fmt.Sprint(strings.Repeat("r", 250), i))
		}
		t.state(t.changeState(s))
	}},
	{"the times of a state are kept to the millisecond", func(t *tester) {
		t.rows()
		t.eachInstant(func(_ string, at time.Time) {
			s := &accountstore.State{UserID: unique(), BannedUntil: at, DeleteAt: at, Created: at, LastSignIn: at}
			t.state(t.changeState(s))
			found, err := t.rows().State(t.ctx, s.UserID)
			t.ok("State", err)
			t.wholeMilliseconds(found.BannedUntil, found.DeleteAt, found.Created, found.LastSignIn)
		})
	}},
	{"a ban for ever reads back as accountstore.Forever", func(t *tester) {
		s := newState(unique())
		s.BannedUntil = accountstore.Forever
		t.changeState(s)
		found, err := t.rows().State(t.ctx, s.UserID)
		t.ok("State", err)
		if !found.BannedUntil.Equal(accountstore.Forever) {
			t.Errorf("a ban until accountstore.Forever ends at %s", found.BannedUntil)
		}
	}},
	{"a change of another version is a conflict, and changes nothing", func(t *tester) {
		id := unique()
		change := newState(id)
		for _, version := range []int64{1, -1, 7} {
			change.Version = version
			t.conflict("ChangeState of a user without a row", t.rows().ChangeState(t.ctx, change))
			t.noState(id)
		}
		s := newState(id)
		s.Must = "enrol"
		for range 2 {
			s = t.changeState(s)
			for _, version := range []int64{0, s.Version - 1, s.Version + 1, -1} {
				change.Version = version
				t.conflict("ChangeState of another version", t.rows().ChangeState(t.ctx, change))
				t.state(s)
			}
		}
	}},
	{"a change leaves the states of other users", func(t *tester) {
		t.rows()
		var states []*accountstore.State
		for i, id := range similar() {
			s := newState(id)
			s.Must = fmt.Sprint(i)
			states = append(states, t.changeState(s))
		}
		for i, s := range states {
			s.Claim = fmt.Sprint(i)
			states[i] = t.changeState(s)
		}
		for _, s := range states {
			t.state(s)
		}
	}},
	{"a state that was passed or returned is the caller's", func(t *tester) {
		rows := t.rows()
		want := newState(unique())
		passed := *want
		passed.Roles = append([]string(nil), want.Roles...)
		before := describedState(&passed)
		t.ok("ChangeState", rows.ChangeState(t.ctx, &passed))
		t.same("the state that was passed", describedState(&passed), before)
		want.Version = 1
		passed.Must, passed.Roles[0] = "spoiled", "spoiled"
		found, err := rows.State(t.ctx, want.UserID)
		t.ok("State", err)
		t.same("State", describedState(found), describedState(want))
		found.Must = "spoiled"
		for i := range found.Roles {
			found.Roles[i] = "spoiled"
		}
		t.state(want)
	}},
	{"a change does not write the streak", func(t *tester) {
		id, at := unique(), now()
		t.counts(id, at, time.Hour, 10, accountstore.Failures{Counted: true, Recent: 1, Oldest: at, Streak: 1})
		s := newState(id)
		s.Streak = 99
		t.changeState(s)
		s.Version, s.Streak = 1, 1
		t.state(s)
		s.Streak = 0
		t.changeState(s)
		s.Version, s.Streak = 2, 1
		t.state(s)
		t.counts(id, at, time.Hour, 10, accountstore.Failures{Counted: true, Recent: 2, Oldest: at, Streak: 2})
	}},
}

// eachInstant calls f with times of each kind that a row of an [accountstore.Store]
// has to keep.
func (t *tester) eachInstant(f func(what string, at time.Time)) {
	base := now().Add(time.Hour)
	f("milliseconds", base.Add(123*time.Millisecond))
	f("a trailing zero", base.Add(100*time.Millisecond))
	f("no fraction", base)
	f("999 ms", base.Add(999*time.Millisecond))
	f("less than a millisecond", base.Add(7*time.Millisecond+999*time.Microsecond))
	f("another zone", base.Add(7*time.Millisecond).In(time.FixedZone("east", 5*3600+30*60)))
	f("the hour that is there twice", time.Date(2031, 10, 26, 1, 30, 0, int(time.Millisecond), time.UTC))
	f("after 2038", time.Date(2038, 2, 1, 0, 0, 0, int(time.Millisecond), time.UTC))
	f("the year 9999", time.Date(9999, 12, 31, 23, 59, 59, int(999*time.Millisecond), time.UTC))
	f("none", time.Time{})
}

// wholeMilliseconds checks that times that were read have no fractions of a
// millisecond, in any store: what was read from two is equal then.
func (t *tester) wholeMilliseconds(read ...time.Time) {
	t.Helper()
	for _, at := range read {
		if at.Nanosecond()%int(time.Millisecond) != 0 {
			t.Errorf("the time %s was read, want whole milliseconds", at.Format(time.RFC3339Nano))
		}
	}
}

var failureChecks = []check{
	{"failures are counted up to the limit, and no further", func(t *tester) {
		id, at := unique(), now().Add(123*time.Millisecond)
		for i := range 3 {
			t.counts(id, at.Add(time.Duration(i)*time.Second), time.Hour, 3, accountstore.Failures{Counted: true, Recent: i + 1, Oldest: at, Streak: i + 1})
		}
		for i := range 3 {
			t.counts(id, at.Add(time.Duration(3+i)*time.Second), time.Hour, 3, accountstore.Failures{Recent: 3, Oldest: at, Streak: 3})
		}
		t.counts(id, at.Add(time.Minute), time.Hour, 2, accountstore.Failures{Recent: 3, Oldest: at, Streak: 3})
		t.counts(id, at.Add(time.Minute), time.Hour, 4, accountstore.Failures{Counted: true, Recent: 4, Oldest: at, Streak: 4})
	}},
	{"a limit of nothing counts nothing, and says how many there are", func(t *tester) {
		id, at := unique(), now()
		for _, limit := range []int{0, -1} {
			t.counts(id, at, time.Hour, limit, accountstore.Failures{})
		}
		t.counts(id, at, time.Hour, noLimit, accountstore.Failures{Counted: true, Recent: 1, Oldest: at, Streak: 1})
		t.counts(id, at, time.Hour, 0, accountstore.Failures{Recent: 1, Oldest: at, Streak: 1})
		t.counts(id, at, time.Hour, noLimit, accountstore.Failures{Counted: true, Recent: 2, Oldest: at, Streak: 2})
	}},
	{"a failure leaves the window when it is as old as the window is long", func(t *tester) {
		const window = 15 * time.Minute
		id, at := unique(), now().Add(123*time.Millisecond)
		t.counts(id, at, window, 1, accountstore.Failures{Counted: true, Recent: 1, Oldest: at, Streak: 1})
		last := at.Add(window - time.Millisecond)
		t.counts(id, last, window, 1, accountstore.Failures{Recent: 1, Oldest: at, Streak: 1})
		end := at.Add(window)
		t.counts(id, end, window, 1, accountstore.Failures{Counted: true, Recent: 1, Oldest: end, Streak: 2})
	}},
	{"the oldest failure in the window is the first that is left", func(t *tester) {
		const window = 10 * time.Minute
		id, at := unique(), now()
		for i := range 4 {
			t.counts(id, at.Add(time.Duration(i)*time.Minute), window, noLimit, accountstore.Failures{Counted: true, Recent: i + 1, Oldest: at, Streak: i + 1})
		}
		t.counts(id, at.Add(window+90*time.Second), window, noLimit, accountstore.Failures{Counted: true, Recent: 3, Oldest: at.Add(2 * time.Minute), Streak: 5})
	}},
	{"a failure of a clock that is ahead counts, and so does one of a clock that is behind", func(t *tester) {
		id, at := unique(), now()
		ahead, behind := at.Add(30*time.Second), at.Add(-30*time.Second)
		t.counts(id, ahead, time.Hour, 3, accountstore.Failures{Counted: true, Recent: 1, Oldest: ahead, Streak: 1})
		t.counts(id, at, time.Hour, 3, accountstore.Failures{Counted: true, Recent: 2, Oldest: at, Streak: 2})
		t.counts(id, behind, time.Hour, 3, accountstore.Failures{Counted: true, Recent: 3, Oldest: behind, Streak: 3})
		t.counts(id, at, time.Hour, 3, accountstore.Failures{Recent: 3, Oldest: behind, Streak: 3})
	}},
	{"several failures in one millisecond are several", func(t *tester) {
		id, at := unique(), now().Add(7*time.Millisecond)
		for i := range 3 {
			at := at.Add(time.Duration(i) * 300 * time.Microsecond)
			t.counts(id, at, time.Hour, noLimit, accountstore.Failures{Counted: true, Recent: i + 1, Oldest: at, Streak: i + 1})
		}
	}},
	{"a failure needs no state, and makes none with a version", func(t *tester) {
		id, at := unique(), now()
		t.counts(id, at, time.Hour, 3, accountstore.Failures{Counted: true, Recent: 1, Oldest: at, Streak: 1})
		t.state(&accountstore.State{UserID: id, Streak: 1})
		s := newState(id)
		t.changeState(s)
		s.Version, s.Streak = 1, 1
		t.state(s)
		t.counts(id, at, time.Hour, 3, accountstore.Failures{Counted: true, Recent: 2, Oldest: at, Streak: 2})
	}},
	{"failures and successes leave the version of the state, and the rest of it", func(t *tester) {
		id, at := unique(), now()
		s := t.changeState(newState(id))
		for i := range 3 {
			t.counts(id, at, time.Hour, 3, accountstore.Failures{Counted: true, Recent: i + 1, Oldest: at, Streak: i + 1})
		}
		s.Streak = 3
		t.state(s)
		t.ok("CountSuccess", t.rows().CountSuccess(t.ctx, id, at))
		s.Streak = 0
		t.state(s)
		t.state(t.changeState(s))
	}},
	{"a success takes back the failure of its time, and no other", func(t *tester) {
		id, at := unique(), now().Add(7*time.Millisecond)
		times := []time.Time{at, at.Add(time.Millisecond), at.Add(time.Second), at.Add(time.Second)}
		for _, failed := range times {
			_, err := t.rows().CountFailure(t.ctx, id, failed, time.Hour, noLimit)
			t.ok("CountFailure", err)
		}
		end := at.Add(time.Minute)
		for _, step := range []struct {
			at   time.Time
			left int
			want time.Time // the oldest that is left
		}{
			{at.Add(-time.Millisecond), 4, at},
			{at.Add(500 * time.Millisecond), 4, at},
			{at.Add(999 * time.Microsecond), 3, at.Add(time.Millisecond)}, // in the same millisecond
			{at, 3, at.Add(time.Millisecond)},
			{at.Add(time.Second), 2, at.Add(time.Millisecond)},
			{at.Add(time.Millisecond), 1, at.Add(time.Second)},
			{at.Add(time.Second), 0, time.Time{}},
		} {
			t.ok("CountSuccess", t.rows().CountSuccess(t.ctx, id, step.at))
			t.counts(id, end, time.Hour, 0, accountstore.Failures{Recent: step.left, Oldest: step.want})
		}
	}},
	{"a success ends the streak, and leaves the other failures in the window", func(t *tester) {
		id, at := unique(), now()
		for i := range 3 {
			t.counts(id, at.Add(time.Duration(i)*time.Second), time.Hour, 4, accountstore.Failures{Counted: true, Recent: i + 1, Oldest: at, Streak: i + 1})
		}
		t.ok("CountSuccess", t.rows().CountSuccess(t.ctx, id, at.Add(2*time.Second)))
		t.state(&accountstore.State{UserID: id})
		t.counts(id, at.Add(3*time.Second), time.Hour, 4, accountstore.Failures{Counted: true, Recent: 3, Oldest: at, Streak: 1})
		t.counts(id, at.Add(4*time.Second), time.Hour, 4, accountstore.Failures{Counted: true, Recent: 4, Oldest: at, Streak: 2})
		t.counts(id, at.Add(5*time.Second), time.Hour, 4, accountstore.Failures{Recent: 4, Oldest: at, Streak: 2})
	}},
	{"a success of a user without failures changes nothing", func(t *tester) {
		id := unique()
		t.ok("CountSuccess", t.rows().CountSuccess(t.ctx, id, now()))
		t.noState(id)
		s := t.changeState(newState(id))
		t.ok("CountSuccess", t.rows().CountSuccess(t.ctx, id, now()))
		t.state(s)
	}},
	{"the failures of a user are theirs alone", func(t *tester) {
		at := now()
		ids := similar()
		for i, id := range ids {
			for range i + 1 {
				_, err := t.rows().CountFailure(t.ctx, id, at, time.Hour, noLimit)
				t.ok("CountFailure", err)
			}
		}
		t.ok("CountSuccess", t.rows().CountSuccess(t.ctx, ids[0], at))
		for i, id := range ids {
			want := i + 1
			if i == 0 {
				want = 0
			}
			if n := t.recent(id, at, time.Hour); n != want {
				t.Errorf("%q has %d failures, want %d", id, n, want)
			}
		}
	}},
	{"a streak goes on when the window does not", func(t *tester) {
		id, at := unique(), now()
		for i := range 5 {
			at := at.Add(time.Duration(i) * time.Hour)
			t.counts(id, at, time.Minute, 1, accountstore.Failures{Counted: true, Recent: 1, Oldest: at, Streak: i + 1})
		}
	}},
}
