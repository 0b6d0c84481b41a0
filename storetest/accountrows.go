package storetest

import (
	"errors"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// accountRowChecks are promises for rows of all kinds.
var accountRowChecks = []check{
	{"rows need no user", func(t *tester) {
		t.rows()
		for _, id := range t.noUsers() {
			t.allRows(id).there(t)
		}
	}},
	{"a deleted user leaves no state, no factors and no flows, and other users keep theirs", func(t *tester) {
		s := t.deleter()
		t.rows()
		u := t.someone().ID
		gone := t.allRows(u)
		kept := []*rowsOf{t.allRows(t.someone().ID), t.allRows(u + " "), t.allRows(unique())}
		t.ok("DeleteUser", s.DeleteUser(t.ctx, u))
		gone.gone(t)
		for _, r := range kept {
			r.there(t)
		}
		if n := t.recent(u, now(), time.Hour); n != 0 {
			t.Errorf("a deleted user has %d failures", n)
		}
	}},
	{"rows of a user who does not exist are removed by DeleteUser, which does not find the user", func(t *tester) {
		s := t.deleter()
		t.rows()
		for _, id := range t.noUsers() {
			left := t.allRows(id)
			t.notFound("DeleteUser", s.DeleteUser(t.ctx, id))
			left.gone(t)
		}
	}},
	{"a user who is deleted may begin anew", func(t *tester) {
		s := t.deleter()
		t.rows()
		u := t.someone().ID
		r := t.allRows(u)
		t.ok("DeleteUser", s.DeleteUser(t.ctx, u))
		t.createFlow(r.flow)
		t.addFactor(r.factor)
		r.state.Version, r.state.Streak = 0, 0
		t.state(t.changeState(r.state))
		at := now()
		t.counts(u, at, time.Hour, 5, accountstore.Failures{Counted: true, Recent: 1, Oldest: at, Streak: 1})
	}},
	{"a sweep removes the flows and factors that have expired before its time, and no others", func(t *tester) {
		s := t.sweeper()
		t.rows()
		id, at := t.someone().ID, now().Add(-time.Hour)
		var dead, live []*accountstore.Flow
		var left []*accountstore.Factor
		for i, expires := range []time.Time{at.Add(-24 * time.Hour), at.Add(-time.Millisecond), at, at.Add(time.Millisecond), now().Add(time.Hour), {}} {
			factor := newFactor(id, device)
			factor.Created, factor.Expires = factor.Created.Add(time.Duration(i)*time.Millisecond), expires
			factor = t.addFactor(factor)
			if i > 1 {
				left = append(left, factor)
			}
			if expires.IsZero() {
				continue // a flow has a time at which it expires
			}
			flow := newFlow(id, reset)
			flow.Expires = expires
			flow = t.createFlow(flow)
			if i > 1 {
				live = append(live, flow)
			} else {
				dead = append(dead, flow)
			}
		}
		state := newState(id)
		state.BannedUntil, state.DeleteAt = at.Add(-time.Hour), at.Add(-time.Hour)
		state = t.changeState(state)
		for _, want := range []int{4, 0} {
			n, err := s.Sweep(t.ctx, at, 1000)
			t.ok("Sweep", err)
			if n != want {
				t.Errorf("Sweep removed %d rows, want %d", n, want)
			}
		}
		for _, f := range dead {
			t.noFlow(f.ID)
		}
		for _, f := range live {
			t.flow(f)
		}
		t.factors(id, left...)
		t.state(state)
	}},
	{"a sweep removes the states and factors of users who are gone, if they were made before its time", func(t *tester) {
		s := t.sweeper()
		rows := t.rows()
		at := now().Add(-time.Hour)
		older, younger := at.Add(-time.Millisecond), at
		left := func(userID string, created time.Time) *rowsOf {
			r := &rowsOf{state: newState(userID), factor: newFactor(userID, totp), flow: newFlow(userID, reset)}
			r.state.Created, r.factor.Created, r.factor.Expires = created, created, time.Time{}
			return &rowsOf{state: t.changeState(r.state), factor: t.addFactor(r.factor), flow: t.createFlow(r.flow)}
		}
		u := t.someone().ID
		other := strings.ToUpper(u)
		if other == u { // it is a number
			other = "0" + u
		}
		kept := []*rowsOf{left(u, older), left(unique(), younger), left(unique(), at.Add(time.Minute))}
		gone := []*rowsOf{left(unique(), older), left(u+" ", older), left(other, older.Add(-365*24*time.Hour))}
		undated := unique() // CountFailure makes a state without a time
		_, err := rows.CountFailure(t.ctx, undated, now(), time.Hour, noLimit)
		t.ok("CountFailure", err)
		for _, want := range []int{7, 0} {
			n, err := s.Sweep(t.ctx, at, 1000)
			t.ok("Sweep", err)
			if n != want {
				t.Errorf("Sweep removed %d rows, want %d", n, want)
			}
		}
		for _, r := range gone {
			t.noState(r.state.UserID)
			t.factors(r.state.UserID)
			t.flow(r.flow) // it expires
		}
		t.noState(undated)
		for _, r := range kept {
			t.state(r.state)
			t.factors(r.state.UserID, r.factor)
			t.flow(r.flow)
		}
	}},
	{"a sweep removes no more rows of users who are gone than its limit, and the next goes on", func(t *tester) {
		s := t.sweeper()
		t.rows()
		const users, each = 4, 3
		for range users {
			id := unique()
			for range each {
				t.addFactor(newFactor(id, recovery))
			}
			t.changeState(newState(id))
		}
		for left := users * (each + 1); left >= 0; left -= 5 {
			n, err := s.Sweep(t.ctx, now().Add(24*time.Hour), 5)
			t.ok("Sweep", err)
			if want := min(5, left); n != want {
				t.Fatalf("Sweep of at most 5 of %d removed %d rows, want %d", left, n, want)
			}
		}
	}},
	{"a new user has no state, no factors and no flows of one who had the id", func(t *tester) {
		t.rows()
		u := newUser()
		u.ID = t.freeID()
		left, kept := t.allRows(u.ID), t.allRows(unique())
		created := t.createUser(u)
		if created.ID != u.ID {
			t.Skipf("the store makes the ids of users: it proposed %q and has %q", u.ID, created.ID)
		}
		left.gone(t)
		kept.there(t)
		t.allRows(u.ID).there(t)
	}},
	{"a user who cannot be created takes no rows of the one who has the id", func(t *tester) {
		t.rows()
		there := t.someone()
		r := t.allRows(there.ID)
		again := newUser()
		again.ID = there.ID
		if created, err := t.store.CreateUser(t.ctx, again); err == nil && created.ID == there.ID {
			t.Errorf("two users have the id %q", there.ID)
		}
		r.there(t)
	}},
	{"flows and factors that were given more time are not swept", func(t *tester) {
		s := t.sweeper()
		rows := t.rows()
		id := t.someone().ID
		flow, factor := newFlow(id, reset), newFactor(id, device)
		flow.Expires, factor.Expires = now().Add(-time.Hour), now().Add(-time.Hour)
		flow, factor = t.createFlow(flow), t.addFactor(factor)
		flow.Expires, factor.Expires = now().Add(time.Hour), now().Add(time.Hour)
		t.ok("ChangeFlow", rows.ChangeFlow(t.ctx, flow))
		t.ok("ReplaceFactor", rows.ReplaceFactor(t.ctx, factor))
		flow.Version, factor.Version = 2, 2
		_, err := s.Sweep(t.ctx, time.Now(), 1000)
		t.ok("Sweep", err)
		t.flow(flow)
		t.factors(id, factor)
	}},
}

// accountCancelledChecks are for calls whose context has ended.
var accountCancelledChecks = []check{
	{"a look-up of a row whose context has ended is no answer", func(t *tester) {
		rows := t.rows()
		r := t.allRows(unique())
		over := *t
		over.ctx = ended(t.ctx)
		for _, method := range rowLookups {
			t.noAnswer(method.name, method.call(&over, rows, r))
		}
	}},
	{"a change of a row whose context has ended does not happen", func(t *tester) {
		rows := t.rows()
		r := t.allRows(unique())
		over := *t
		over.ctx = ended(t.ctx)
		for _, method := range rowChanges {
			t.noAnswer(method.name, method.call(&over, rows, r))
		}
		r.there(t)
	}},
}

// rowsOf is a user's id with a row of each kind.
type rowsOf struct {
	state  *accountstore.State
	factor *accountstore.Factor
	flow   *accountstore.Flow
	event  *accountstore.Event
}

// allRows stores a row of each kind under an id.
func (t *tester) allRows(userID string) *rowsOf {
	t.Helper()
	r := &rowsOf{t.changeState(newState(userID)), t.addFactor(newFactor(userID, totp)), t.createFlow(newFlow(userID, reset)), newEvent(userID)}
	t.record(r.event)
	f, err := t.rows().CountFailure(t.ctx, userID, now(), time.Hour, noLimit)
	t.ok("CountFailure", err)
	r.state.Streak = f.Streak
	return r
}

// there checks that the rows are as they were stored.
func (r *rowsOf) there(t *tester) {
	t.Helper()
	t.state(r.state)
	t.factors(r.factor.UserID, r.factor)
	t.flow(r.flow)
	t.open(1, r.flow.Subject, r.flow.Kind)
	t.activity(accountstore.ActivityQuery{UserID: r.state.UserID}, r.event)
	if n := t.recent(r.state.UserID, now(), time.Hour); n != r.state.Streak {
		t.Errorf("there are %d failures, want %d", n, r.state.Streak)
	}
}

// gone checks that there are no rows.
func (r *rowsOf) gone(t *tester) {
	t.Helper()
	t.noState(r.state.UserID)
	t.factors(r.factor.UserID)
	t.noFlow(r.flow.ID)
	t.open(0, r.flow.Subject, r.flow.Kind)
	t.activity(accountstore.ActivityQuery{UserID: r.state.UserID})
	t.activity(accountstore.ActivityQuery{Kind: r.event.Kind})
	if n := t.recent(r.state.UserID, now(), time.Hour); n != 0 {
		t.Errorf("there are %d failures, want none", n)
	}
}

// A rowChange is a method of [accountstore.Store] that writes, called for rows that
// there are.
type rowChange struct {
	name string
	call func(*tester, accountstore.Store, *rowsOf) error
}

var rowChanges = []rowChange{
	{"ChangeState", func(t *tester, rows accountstore.Store, r *rowsOf) error {
		change := newState(r.state.UserID)
		change.Version, change.Roles, change.Must = r.state.Version, []string{"changed"}, "changed"
		return rows.ChangeState(t.ctx, change)
	}},
	{"CountFailure", func(t *tester, rows accountstore.Store, r *rowsOf) error {
		_, err := rows.CountFailure(t.ctx, r.state.UserID, now(), time.Hour, noLimit)
		return err
	}},
	{"CountSuccess", func(t *tester, rows accountstore.Store, r *rowsOf) error {
		return rows.CountSuccess(t.ctx, r.state.UserID, now())
	}},
	{"AddFactor", func(t *tester, rows accountstore.Store, r *rowsOf) error {
		return rows.AddFactor(t.ctx, newFactor(r.factor.UserID, device))
	}},
	{"ReplaceFactor", func(t *tester, rows accountstore.Store, r *rowsOf) error {
		change := newFactor(r.factor.UserID, r.factor.Kind)
		change.ID, change.Version, change.Name = r.factor.ID, r.factor.Version, "changed"
		return rows.ReplaceFactor(t.ctx, change)
	}},
	{"AdvanceFactor", func(t *tester, rows accountstore.Store, r *rowsOf) error {
		return rows.AdvanceFactor(t.ctx, r.factor.UserID, r.factor.Kind, r.factor.ID, r.factor.Step+1, now())
	}},
	{"DeleteFactor", func(t *tester, rows accountstore.Store, r *rowsOf) error {
		return rows.DeleteFactor(t.ctx, r.factor.UserID, r.factor.Kind, r.factor.ID)
	}},
	{"DeleteFactors", func(t *tester, rows accountstore.Store, r *rowsOf) error {
		_, err := rows.DeleteFactors(t.ctx, r.factor.UserID, []string{r.factor.Kind}, nil)
		return err
	}},
	{"CreateFlow", func(t *tester, rows accountstore.Store, r *rowsOf) error {
		return rows.CreateFlow(t.ctx, newFlow(r.flow.Subject, r.flow.Kind))
	}},
	{"AttemptFlow", func(t *tester, rows accountstore.Store, r *rowsOf) error {
		_, err := rows.AttemptFlow(t.ctx, r.flow.ID, noLimit)
		return err
	}},
	{"ChangeFlow", func(t *tester, rows accountstore.Store, r *rowsOf) error {
		change := newFlow(r.flow.Subject, r.flow.Kind)
		change.ID, change.Version = r.flow.ID, r.flow.Version
		return rows.ChangeFlow(t.ctx, change)
	}},
	{"UseFlow", func(t *tester, rows accountstore.Store, r *rowsOf) error {
		_, err := rows.UseFlow(t.ctx, r.flow.ID, r.flow.Kind)
		return err
	}},
	{"EndFlows", func(t *tester, rows accountstore.Store, r *rowsOf) error {
		_, err := rows.EndFlows(t.ctx, r.flow.Subject, r.flow.Kind)
		return err
	}},
	{"Record", func(t *tester, rows accountstore.Store, r *rowsOf) error {
		return rows.Record(t.ctx, newEvent(r.event.UserID))
	}},
	{"Record of one that is there", func(t *tester, rows accountstore.Store, r *rowsOf) error {
		return rows.Record(t.ctx, r.event)
	}},
}

// rowLookups are the methods of [accountstore.Store] that read.
var rowLookups = []rowChange{
	{"State", func(t *tester, rows accountstore.Store, r *rowsOf) error {
		_, err := rows.State(t.ctx, r.state.UserID)
		return err
	}},
	{"State of an unknown user", func(t *tester, rows accountstore.Store, _ *rowsOf) error {
		_, err := rows.State(t.ctx, unique())
		return err
	}},
	{"Factors", func(t *tester, rows accountstore.Store, r *rowsOf) error {
		_, err := rows.Factors(t.ctx, r.factor.UserID)
		return err
	}},
	{"Flow", func(t *tester, rows accountstore.Store, r *rowsOf) error {
		_, err := rows.Flow(t.ctx, r.flow.ID)
		return err
	}},
	{"Flow of an unknown id", func(t *tester, rows accountstore.Store, _ *rowsOf) error {
		_, err := rows.Flow(t.ctx, hash())
		return err
	}},
	{"CountFlows", func(t *tester, rows accountstore.Store, r *rowsOf) error {
		_, err := rows.CountFlows(t.ctx, r.flow.Subject, r.flow.Kind, now())
		return err
	}},
	{"Activity", func(t *tester, rows accountstore.Store, r *rowsOf) error {
		_, _, err := rows.Activity(t.ctx, accountstore.ActivityQuery{UserID: r.event.UserID, Limit: 1})
		return err
	}},
}

var accountRowTransactionChecks = []check{
	{"the store of a transaction has rows, and they are there when it succeeds", func(t *tester) {
		s := t.transactions()
		t.rows()
		before := t.allRows(unique())
		var r *rowsOf
		t.ok("InTx", s.InTx(t.ctx, func(tx pintle.Store) error {
			in := t.within(tx)
			before.there(in)
			r = in.allRows(unique())
			r.there(in)
			return nil
		}))
		r.there(t)
		before.there(t)
	}},
	{"each change of a row is undone by an error", func(t *tester) {
		s := t.transactions()
		t.rows()
		for _, change := range rowChanges {
			before := t.allRows(unique())
			err := s.InTx(t.ctx, func(tx pintle.Store) error {
				t.ok(change.name, change.call(t, t.within(tx).rows(), before))
				return errChanged
			})
			if !errors.Is(err, errChanged) {
				t.Errorf("InTx returned %v, want the error of its function", err)
			}
			before.there(t)
			if t.Failed() {
				t.Fatalf("%s was not undone", change.name)
			}
		}
	}},
	{"rows that were made in a transaction that failed are not there", func(t *tester) {
		s := t.transactions()
		t.rows()
		var r *rowsOf
		err := s.InTx(t.ctx, func(tx pintle.Store) error {
			r = t.within(tx).allRows(unique())
			return errChanged
		})
		if !errors.Is(err, errChanged) {
			t.Errorf("InTx returned %v, want the error of its function", err)
		}
		r.gone(t)
		id, at := unique(), now()
		_ = s.InTx(t.ctx, func(tx pintle.Store) error {
			_, err := t.within(tx).rows().CountFailure(t.ctx, id, at, time.Hour, 5)
			t.ok("CountFailure", err)
			return errChanged
		})
		t.counts(id, at, time.Hour, 5, accountstore.Failures{Counted: true, Recent: 1, Oldest: at, Streak: 1})
	}},
	{"each change of a row conflicts in a transaction as it does outside", func(t *tester) {
		s := t.transactions()
		t.rows()
		r := t.allRows(unique())
		for what, call := range map[string]func(accountstore.Store) error{
			"ChangeState": func(rows accountstore.Store) error { return rows.ChangeState(t.ctx, newState(r.state.UserID)) },
			"AddFactor":   func(rows accountstore.Store) error { return rows.AddFactor(t.ctx, r.factor) },
			"ReplaceFactor": func(rows accountstore.Store) error {
				change := *r.factor
				change.Version++
				return rows.ReplaceFactor(t.ctx, &change)
			},
			"AdvanceFactor": func(rows accountstore.Store) error {
				return rows.AdvanceFactor(t.ctx, r.factor.UserID, r.factor.Kind, r.factor.ID, r.factor.Step, now())
			},
			"CreateFlow": func(rows accountstore.Store) error { return rows.CreateFlow(t.ctx, r.flow) },
			"AttemptFlow": func(rows accountstore.Store) error {
				_, err := rows.AttemptFlow(t.ctx, r.flow.ID, 0)
				return err
			},
			"ChangeFlow": func(rows accountstore.Store) error {
				change := *r.flow
				change.Version++
				return rows.ChangeFlow(t.ctx, &change)
			},
		} {
			var made *rowsOf
			t.conflict(what, s.InTx(t.ctx, func(tx pintle.Store) error {
				in := t.within(tx)
				made = in.allRows(unique())
				return call(in.rows())
			}))
			made.gone(t)
		}
		r.there(t)
	}},
	{"a user who is deleted in a transaction that failed keeps the rows", func(t *tester) {
		s := t.transactions()
		t.deleter()
		t.rows()
		u := t.someone().ID
		r := t.allRows(u)
		for _, result := range []error{errChanged, nil} {
			_ = s.InTx(t.ctx, func(tx pintle.Store) error {
				in := t.within(tx)
				t.ok("DeleteUser", tx.DeleteUser(t.ctx, u))
				r.gone(in)
				return result
			})
			if result != nil {
				r.there(t)
			}
		}
		r.gone(t)
	}},
	{"a sweep in a transaction that failed removes no rows", func(t *tester) {
		s := t.transactions()
		t.sweeper()
		t.rows()
		id := unique()
		flow, factor := newFlow(id, reset), newFactor(id, device)
		flow.Expires, factor.Expires = now().Add(-time.Hour), now().Add(-time.Hour)
		flow, factor = t.createFlow(flow), t.addFactor(factor)
		_ = s.InTx(t.ctx, func(tx pintle.Store) error {
			n, err := tx.Sweep(t.ctx, time.Now(), 10)
			t.ok("Sweep", err)
			if n != 2 {
				t.Errorf("Sweep removed %d rows, want 2", n)
			}
			return errChanged
		})
		t.flow(flow)
		t.factors(id, factor)
	}},
	{"the rows of a finished transaction are out of reach", func(t *tester) {
		s := t.transactions()
		t.rows()
		r := t.allRows(unique())
		for _, result := range []error{nil, errChanged} {
			var kept accountstore.Store
			_ = s.InTx(t.ctx, func(tx pintle.Store) error {
				kept = t.within(tx).rows()
				return result
			})
			for _, method := range append(append([]rowChange(nil), rowChanges...), rowLookups...) {
				if err := method.call(t, kept, r); err == nil {
					t.Errorf("%s succeeded after the transaction's end", method.name)
				}
			}
			r.there(t)
		}
	}},
}
