package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// rounds is how often a race for one row is run.
const rounds = 2

// accountRaceChecks ask the store for its rows in each call, so that a store of
// several instances may return those of another one each time.
var accountRaceChecks = []check{
	{"of 64 changes of one version of a state one is made", func(t *tester) {
		t.rows()
		id := unique()
		for version := range int64(rounds) {
			winner := t.oneWinner("ChangeState", pintle.ErrConflict, race(func(i int) error {
				s := newState(id)
				s.Version, s.Must = version, fmt.Sprint(i)
				return t.rows().ChangeState(t.ctx, s)
			}))
			found, err := t.rows().State(t.ctx, id)
			t.ok("State", err)
			t.same("the change that was made", fmt.Sprint(found.Version, " ", found.Must), fmt.Sprint(version+1, " ", winner))
		}
	}},
	{"AT-101 of a ban and sign-ins at the same moment no session is left", func(t *tester) {
		const signIns = 3
		s := t.lister()
		t.rows()
		u := t.someone()
		state := t.changeState(newState(u.ID))
		for range 100 {
			state.BannedUntil = time.Time{}
			state = t.changeState(state)
			for i, err := range race(func(i int) error {
				switch {
				case i > signIns:
					return nil
				case i == 0: // the ban first, and then the end of the sessions
					banned := *state
					banned.BannedUntil = accountstore.Forever
					if err := t.rows().ChangeState(t.ctx, &banned); err != nil {
						return err
					}
					_, err := s.EndUserSessions(t.ctx, u.ID, "")
					return err
				}
				session := newSession(u.ID) // the session first, and then the look for a ban
				if err := s.CreateSession(t.ctx, session); err != nil {
					return err
				}
				read, err := t.rows().State(t.ctx, u.ID)
				if err != nil || !read.BannedUntil.After(time.Now()) {
					return err
				}
				if _, err := s.DeleteSession(t.ctx, session.Token); err != nil && !errors.Is(err, pintle.ErrNotFound) {
					return err
				}
				return nil
			}) {
				if err != nil {
					t.Fatalf("writer %d: %v", i, err)
				}
			}
			if left := len(t.listed(u.ID)); left > 0 {
				t.Fatalf("the banned user has %d sessions: a sign-in has not seen a ban that ended the sessions before", left)
			}
			var err error
			state, err = t.rows().State(t.ctx, u.ID)
			t.ok("State", err)
		}
	}},
	{"roles that are given at once are all given", func(t *tester) {
		const givers = 8
		t.rows()
		id := unique()
		for _, err := range race(func(i int) error {
			for i < givers {
				s, err := t.rows().State(t.ctx, id)
				if err != nil {
					return err
				}
				s.Roles = append(s.Roles, fmt.Sprint(i))
				if err := t.rows().ChangeState(t.ctx, s); !errors.Is(err, pintle.ErrConflict) {
					return err
				}
			}
			return nil
		}) {
			t.ok("ChangeState", err)
		}
		found, err := t.rows().State(t.ctx, id)
		t.ok("State", err)
		if len(found.Roles) != givers || found.Version != givers {
			t.Errorf("%d roles were given, and the state has %q in version %d", givers, found.Roles, found.Version)
		}
	}},
	{"of 64 failures no more are counted than the limit, and no fewer", func(t *tester) {
		t.rows()
		for _, limit := range []int{0, 1, 5, 10} {
			id, at := unique(), now()
			t.countedFailures(limit, race(func(i int) error {
				return t.fails(id, at.Add(time.Duration(i)*time.Millisecond), limit)
			}))
			if n := t.recent(id, at.Add(time.Second), time.Hour); n != limit {
				t.Errorf("%d failures are in the window, want %d", n, limit)
			}
			t.state(&accountstore.State{UserID: id, Streak: limit})
		}
	}},
	{"64 failures at once are all counted", func(t *tester) {
		t.rows()
		id, at := unique(), now()
		recent := make([]int, writers)
		for _, err := range race(func(i int) error {
			f, err := t.rows().CountFailure(t.ctx, id, at, time.Hour, noLimit)
			recent[i] = f.Recent
			return err
		}) {
			t.ok("CountFailure", err)
		}
		t.eachOnce("CountFailure", recent)
		t.state(&accountstore.State{UserID: id, Streak: writers})
	}},
	{"failures and changes of a state at once are all kept", func(t *tester) {
		t.rows()
		for range rounds {
			id, at := unique(), now()
			want := newState(id)
			for _, err := range race(func(i int) error {
				if i == writers/2 {
					return t.rows().ChangeState(t.ctx, want)
				}
				_, err := t.rows().CountFailure(t.ctx, id, at, time.Hour, noLimit)
				return err
			}) {
				t.ok("CountFailure or ChangeState", err)
			}
			want.Version, want.Streak = 1, writers-1
			t.state(want)
		}
	}},
	{"successes at once take back their failures, each its own", func(t *tester) {
		t.rows()
		id, at := unique(), now()
		for _, err := range race(func(i int) error {
			at := at.Add(time.Duration(i) * time.Millisecond)
			_, err := t.rows().CountFailure(t.ctx, id, at, time.Hour, noLimit)
			if err == nil && i%2 == 0 {
				err = t.rows().CountSuccess(t.ctx, id, at)
			}
			return err
		}) {
			t.ok("CountFailure or CountSuccess", err)
		}
		t.counts(id, at.Add(time.Minute), time.Hour, 0, accountstore.Failures{Recent: writers / 2, Oldest: at.Add(time.Millisecond), Streak: t.streak(id)})
	}},
	{"of 64 factors with one user, kind and id one is stored", func(t *tester) {
		t.rows()
		for range rounds {
			id := unique()
			factors := make([]*accountstore.Factor, writers)
			for i := range factors {
				factors[i] = newFactor(id, password)
				factors[i].ID = ""
			}
			winner := t.oneWinner("AddFactor", pintle.ErrConflict, race(func(i int) error { return t.rows().AddFactor(t.ctx, factors[i]) }))
			factors[winner].Version = 1
			t.factors(id, factors[winner])
		}
	}},
	{"of 64 replacements of one version of a factor one is made", func(t *tester) {
		t.rows()
		f := t.addFactor(newFactor(unique(), password))
		for range rounds {
			winner := t.oneWinner("ReplaceFactor", pintle.ErrConflict, race(func(i int) error {
				change := *f
				change.Secret = fmt.Sprint(i)
				return t.rows().ReplaceFactor(t.ctx, &change)
			}))
			f.Version++
			f.Secret = fmt.Sprint(winner)
			t.factors(f.UserID, f)
		}
	}},
	{"of 64 who send one code one is let in", func(t *tester) {
		t.rows()
		f := t.addFactor(newFactor(unique(), totp))
		for range rounds {
			f.Step++
			t.oneWinner("AdvanceFactor", pintle.ErrConflict, race(func(int) error {
				return t.rows().AdvanceFactor(t.ctx, f.UserID, f.Kind, f.ID, f.Step, f.LastUsed)
			}))
			t.factors(f.UserID, f)
		}
	}},
	{"of 64 steps at once the greatest stays", func(t *tester) {
		t.rows()
		f := t.addFactor(newFactor(unique(), totp))
		for _, err := range race(func(i int) error {
			err := t.rows().AdvanceFactor(t.ctx, f.UserID, f.Kind, f.ID, f.Step+1+int64(i), f.LastUsed)
			if errors.Is(err, pintle.ErrConflict) && i < writers-1 {
				return nil
			}
			return err
		}) {
			t.ok("AdvanceFactor", err)
		}
		f.Step += writers
		t.factors(f.UserID, f)
	}},
	{"a code that is accepted while its factor is replaced stays used", func(t *tester) {
		t.rows()
		f := t.addFactor(newFactor(unique(), totp))
		for round := range 4 * rounds {
			change := *f
			change.Name = fmt.Sprint(round)
			f.Step++
			// The call that starts first is the same in each race, and now replaces, now
			// advances.
			replaces := func(i int) bool { return (i+round)%2 == 0 }
			errs := race(func(i int) error {
				if replaces(i) {
					return t.rows().ReplaceFactor(t.ctx, &change)
				}
				return t.rows().AdvanceFactor(t.ctx, f.UserID, f.Kind, f.ID, f.Step, f.LastUsed)
			})
			var replaced, advanced []error
			for i, err := range errs {
				if replaces(i) {
					replaced = append(replaced, err)
				} else {
					advanced = append(advanced, err)
				}
			}
			t.oneWinner("ReplaceFactor", pintle.ErrConflict, replaced)
			t.oneWinner("AdvanceFactor", pintle.ErrConflict, advanced)
			f.Version, f.Name = f.Version+1, change.Name
			t.factors(f.UserID, f)
		}
	}},
	{"of 64 who use one recovery code one gets it", func(t *tester) {
		t.rows()
		id := unique()
		kept := t.addFactor(newFactor(id, recovery))
		for range rounds {
			f := t.addFactor(newFactor(id, recovery))
			t.oneWinner("DeleteFactor", pintle.ErrNotFound, race(func(int) error {
				return t.rows().DeleteFactor(t.ctx, id, f.Kind, f.ID)
			}))
			t.factors(id, kept)
		}
	}},
	{"a factor that is changed while it is deleted stays deleted", func(t *tester) {
		t.rows()
		for range rounds {
			f := t.addFactor(newFactor(unique(), totp))
			for _, err := range race(func(i int) error {
				var err error
				switch {
				case i == writers/2:
					return t.rows().DeleteFactor(t.ctx, f.UserID, f.Kind, f.ID)
				case i%2 == 0:
					err = t.rows().ReplaceFactor(t.ctx, f)
				default:
					err = t.rows().AdvanceFactor(t.ctx, f.UserID, f.Kind, f.ID, f.Step+int64(i), f.LastUsed)
				}
				if errors.Is(err, pintle.ErrNotFound) || errors.Is(err, pintle.ErrConflict) {
					return nil
				}
				return err
			}) {
				t.ok("DeleteFactor, ReplaceFactor or AdvanceFactor", err)
			}
			t.factors(f.UserID)
		}
	}},
	{"of 64 flows with one id one is stored", func(t *tester) {
		t.rows()
		for range rounds {
			id := hash()
			flows := make([]*accountstore.Flow, writers)
			for i := range flows {
				flows[i] = newFlow(unique(), reset)
				flows[i].ID = id
			}
			winner := t.oneWinner("CreateFlow", pintle.ErrConflict, race(func(i int) error { return t.rows().CreateFlow(t.ctx, flows[i]) }))
			for i, f := range flows {
				if i != winner {
					t.open(0, f.Subject, reset)
				}
			}
			flows[winner].Version = 1
			t.flow(flows[winner])
		}
	}},
	{"of 64 attempts no more are counted than the limit, and no fewer", func(t *tester) {
		t.rows()
		for _, limit := range []int{1, 5, 10, writers} {
			f := t.createFlow(newFlow(unique(), reset))
			attempts := make([]int, writers)
			for i, err := range race(func(i int) (err error) {
				attempts[i], err = t.rows().AttemptFlow(t.ctx, f.ID, limit)
				return err
			}) {
				if err != nil {
					t.conflict("AttemptFlow beyond the limit", err)
					attempts[i] = 0
				}
			}
			attempts = slices.DeleteFunc(attempts, func(n int) bool { return n == 0 })
			if len(attempts) != limit {
				t.Errorf("AttemptFlow succeeded %d times, want %d", len(attempts), limit)
			}
			t.eachOnce("AttemptFlow", attempts)
			f.Attempts = limit
			t.flow(f)
		}
	}},
	{"of 64 changes of one version of a flow one is made", func(t *tester) {
		t.rows()
		f := t.createFlow(newFlow(unique(), reset))
		for range rounds {
			winner := t.oneWinner("ChangeFlow", pintle.ErrConflict, race(func(i int) error {
				change := *f
				change.Payload = fmt.Sprint(i)
				return t.rows().ChangeFlow(t.ctx, &change)
			}))
			f.Version++
			f.Payload = fmt.Sprint(winner)
			t.flow(f)
		}
	}},
	{"attempts are not lost while a flow is changed", func(t *tester) {
		t.rows()
		for range rounds {
			f := t.createFlow(newFlow(unique(), reset))
			f.Payload = "changed"
			for _, err := range race(func(i int) error {
				if i == writers/2 {
					return t.rows().ChangeFlow(t.ctx, f)
				}
				_, err := t.rows().AttemptFlow(t.ctx, f.ID, noLimit)
				return err
			}) {
				t.ok("AttemptFlow or ChangeFlow", err)
			}
			f.Version, f.Attempts = 2, writers-1
			t.flow(f)
		}
	}},
	{"of 64 who use one flow one gets it", func(t *tester) {
		t.rows()
		for range rounds {
			f := t.createFlow(newFlow(unique(), reset))
			t.oneWinner("UseFlow", pintle.ErrNotFound, race(func(int) error {
				used, err := t.rows().UseFlow(t.ctx, f.ID, f.Kind)
				if err == nil && describedFlow(used) != describedFlow(f) {
					return errors.New("the winner got " + describedFlow(used))
				}
				return err
			}))
			t.noFlow(f.ID)
		}
	}},
	{"a flow that is tried and changed while it is used is gone", func(t *tester) {
		t.rows()
		for range rounds {
			f := t.createFlow(newFlow(unique(), reset))
			for _, err := range race(func(i int) error {
				var err error
				switch {
				case i == writers/2:
					_, err := t.rows().UseFlow(t.ctx, f.ID, f.Kind)
					return err
				case i%2 == 0:
					_, err = t.rows().AttemptFlow(t.ctx, f.ID, noLimit)
				default:
					err = t.rows().ChangeFlow(t.ctx, f)
				}
				if errors.Is(err, pintle.ErrNotFound) || errors.Is(err, pintle.ErrConflict) {
					return nil
				}
				return err
			}) {
				t.ok("UseFlow, AttemptFlow or ChangeFlow", err)
			}
			t.noFlow(f.ID)
			t.open(0, f.Subject, f.Kind)
		}
	}},
	{"of 64 sign-ups that finish with one flow one leaves a user", func(t *tester) {
		s := t.transactions()
		t.rows()
		f := t.createFlow(newFlow(unique(), signUp))
		users := make([]*pintle.User, writers)
		t.oneWinner("InTx", pintle.ErrNotFound, race(func(i int) error {
			return s.InTx(t.ctx, func(tx pintle.Store) error {
				rows := tx.AccountStore()
				if rows == nil {
					return errors.New("the store of a transaction has no AccountStore")
				}
				if _, err := rows.UseFlow(t.ctx, f.ID, f.Kind); err != nil {
					return err
				}
				u, err := tx.CreateUser(t.ctx, newUser())
				if err != nil {
					return err
				}
				users[i] = u
				return rows.AddFactor(t.ctx, newFactor(u.ID, password))
			})
		}))
		there := 0
		for _, u := range users {
			if u == nil {
				continue
			}
			factors, err := t.rows().Factors(t.ctx, u.ID)
			t.ok("Factors", err)
			there += len(factors)
		}
		if there != 1 {
			t.Errorf("%d passwords were stored, want 1", there)
		}
	}},
}

// fails counts a failure. One that is not counted is a conflict.
func (t *tester) fails(id string, at time.Time, limit int) error {
	f, err := t.rows().CountFailure(t.ctx, id, at, time.Hour, limit)
	if err == nil && !f.Counted {
		return pintle.ErrConflict
	}
	return err
}

// countedFailures checks how many failures were counted.
func (t *tester) countedFailures(want int, errs []error) {
	t.Helper()
	counted := 0
	for _, err := range errs {
		switch {
		case err == nil:
			counted++
		case !errors.Is(err, pintle.ErrConflict):
			t.Errorf("CountFailure: %v", err)
		}
	}
	if counted != want {
		t.Errorf("%d failures of %d were counted, want %d", counted, len(errs), want)
	}
}

// eachOnce checks that numbers are 1, 2, 3 and so on, in any order.
func (t *tester) eachOnce(what string, numbers []int) {
	t.Helper()
	slices.Sort(numbers)
	for i, n := range numbers {
		if n != i+1 {
			t.Errorf("%s returned %v, want each number from 1 once", what, numbers)
			return
		}
	}
}

// streak returns the streak of a user, which depends on the order of concurrent calls.
func (t *tester) streak(id string) int {
	t.Helper()
	s, err := t.rows().State(t.ctx, id)
	t.ok("State", err)
	return s.Streak
}
