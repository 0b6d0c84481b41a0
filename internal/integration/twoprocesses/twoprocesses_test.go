package twoprocesses

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/store/memstore"
)

// rounds is how often each race is run. A store whose steps depend on a lock in each
// process fails in the first rounds.
const rounds = 10

// A race is one step that all goroutines of two processes take at the same moment.
type race struct {
	call string

	// prepare stores what the step needs.
	prepare func(ctx context.Context, rows accountstore.Store, o *order) error

	// wins is how many calls succeed, and lost the fault of the others.
	wins int
	lost string

	// unnumbered calls return no number.
	unnumbered bool

	// left reports what is wrong with the row afterwards.
	left func(ctx context.Context, rows accountstore.Store, o *order) error
}

// limit of attempts, and of failures.
const limit = 7

var races = []race{
	{
		call: "UseFlow", prepare: aFlow, wins: 1, lost: notFound,
		left: func(ctx context.Context, rows accountstore.Store, o *order) error {
			if f, err := rows.Flow(ctx, o.Flow); !errors.Is(err, pintle.ErrNotFound) {
				return errors.Join(fmt.Errorf("the flow is %+v", f), err)
			}
			return nil
		},
	},
	{
		call: "AttemptFlow", prepare: aFlow, wins: limit, lost: conflict,
		left: func(ctx context.Context, rows accountstore.Store, o *order) error {
			if f, err := rows.Flow(ctx, o.Flow); err != nil || f.Attempts != limit || f.Version != 1 {
				return errors.Join(fmt.Errorf("the flow is %+v", f), err)
			}
			return nil
		},
	},
	{
		call: "AdvanceFactor", prepare: aFactor("totp"), wins: 1, lost: conflict,
		left: func(ctx context.Context, rows accountstore.Store, o *order) error {
			f, err := rows.Factors(ctx, o.UserID)
			if err != nil || len(f) != 2 || f[0].Step+f[1].Step != o.Step {
				return errors.Join(fmt.Errorf("the factors are %+v", f), err)
			}
			return nil
		},
	},
	{
		call: "DeleteFactor", prepare: aFactor("recovery"), wins: 1, lost: notFound,
		left: func(ctx context.Context, rows accountstore.Store, o *order) error {
			if f, err := rows.Factors(ctx, o.UserID); err != nil || len(f) != 1 || f[0].ID == o.ID {
				return errors.Join(fmt.Errorf("the factors are %+v", f), err)
			}
			return nil
		},
	},
	{
		call: "CountFailure", prepare: aUser, wins: limit, lost: conflict,
		left: func(ctx context.Context, rows accountstore.Store, o *order) error {
			f, err := rows.CountFailure(ctx, o.UserID, o.At.Add(time.Second), time.Hour, 0)
			if err != nil || f.Recent != limit || f.Streak != limit {
				return errors.Join(fmt.Errorf("the failures are %+v", f), err)
			}
			return nil
		},
	},
}

func aFlow(ctx context.Context, rows accountstore.Store, o *order) error {
	_, _ = rand.Read(o.Flow[:]) // never fails
	o.Kind, o.Limit = "reset", limit
	return rows.CreateFlow(ctx, &accountstore.Flow{
		ID: o.Flow, Kind: o.Kind, Subject: "ada", Payload: "sealed for " + fmt.Sprint(o.Flow[0]), Created: o.At, Expires: o.At.Add(time.Hour),
	})
}

// aFactor stores two factors of one kind. The calls are about the first.
func aFactor(kind string) func(ctx context.Context, rows accountstore.Store, o *order) error {
	return func(ctx context.Context, rows accountstore.Store, o *order) error {
		o.UserID, o.Kind, o.ID, o.Step = rand.Text(), kind, "1", 57_000_000
		return errors.Join(
			rows.AddFactor(ctx, &accountstore.Factor{UserID: o.UserID, Kind: kind, ID: o.ID, Secret: "hash", Created: o.At}),
			rows.AddFactor(ctx, &accountstore.Factor{UserID: o.UserID, Kind: kind, ID: "2", Secret: "hash", Created: o.At}))
	}
}

func aUser(_ context.Context, _ accountstore.Store, o *order) error {
	o.UserID, o.Limit = rand.Text(), limit
	return nil
}

// run runs a race once, whose calls all make at the same moment. It returns how many calls
// of each process succeeded, and what is wrong with the results.
func (r race) run(ctx context.Context, rows accountstore.Store, all func(order) []result) (wins [2]int, wrong error) {
	o := order{Call: r.call, At: time.Now().UTC().Truncate(time.Millisecond)}
	if err := r.prepare(ctx, rows, &o); err != nil {
		return wins, err
	}
	var errs []error
	var numbers []int
	for i, got := range all(o) {
		switch got.Fault {
		case "":
			wins[i/goroutines]++
			numbers = append(numbers, got.Number)
			if r.call == "UseFlow" && got.Payload != "sealed for "+fmt.Sprint(o.Flow[0]) {
				errs = append(errs, fmt.Errorf("the winner got the payload %q", got.Payload))
			}
		case r.lost:
		default:
			errs = append(errs, errors.New(got.Fault))
		}
	}
	if wins[0]+wins[1] != r.wins {
		errs = append(errs, fmt.Errorf("%d calls of one process and %d of the other succeeded, want %d", wins[0], wins[1], r.wins))
	}
	slices.Sort(numbers)
	for i, n := range numbers {
		if r.wins > 1 && !r.unnumbered && n != i+1 {
			errs = append(errs, fmt.Errorf("the counts are %v, want each once", numbers))
			break
		}
	}
	return wins, errors.Join(append(errs, r.left(ctx, rows, &o))...)
}

// AT-111: what accountstore calls one step is one for several processes, in every store
// whose rows they share. A lock in the process does not make it so.
func TestOfTwoProcessesOneTakesEachStep(t *testing.T) { inTwoProcesses(t, races) }

// inTwoProcesses runs races between two processes, on every store.
func inTwoProcesses(t *testing.T, races []race) {
	for _, s := range stores {
		t.Run(s.name, func(t *testing.T) {
			where := s.make(t)
			rows, err := where.open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			first, second := start(t, where), start(t, where)
			var total [2]int
			for _, r := range races {
				for round := range rounds {
					wins, err := r.run(t.Context(), rows, both(first, second))
					if err != nil {
						t.Errorf("%s, round %d: %v", r.call, round, err)
						break
					}
					total[0] += wins[0]
					total[1] += wins[1]
				}
			}
			// A process that is always first would be no race.
			if total[0] == 0 || total[1] == 0 {
				t.Errorf("of the calls that succeeded %d are of one process and %d of the other", total[0], total[1])
			}
			t.Logf("of the calls that succeeded %d are of one process and %d of the other", total[0], total[1])
		})
	}
}

// AT-111: a step is one for the requests of a process, a hundred times, in the stores that
// need no server.
func TestOfTheRequestsOfAProcessOneTakesEachStep(t *testing.T) {
	opened := map[string]func(*testing.T) accountstore.Store{
		"memory": func(*testing.T) accountstore.Store { return memstore.New().AccountStore() },
		"SQLite": func(t *testing.T) accountstore.Store {
			rows, err := stores[0].make(t).open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return rows
		},
	}
	for name, open := range opened {
		t.Run(name, func(t *testing.T) {
			rows := open(t)
			for _, r := range races {
				for round := range 100 {
					if _, err := r.run(t.Context(), rows, here(rows)); err != nil {
						t.Errorf("%s, round %d: %v", r.call, round, err)
						break
					}
				}
			}
		})
	}
}

// The races above find a store whose steps are one for the goroutines of a process only.
func TestALockInTheProcessIsNoStep(t *testing.T) {
	where := stores[1].make(t)
	rows, err := where.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	where.Locked = true
	first, second := start(t, where), start(t, where)
	for _, r := range races {
		found := false
		for range rounds {
			_, err := r.run(t.Context(), rows, both(first, second))
			if found = err != nil; found {
				if !strings.Contains(err.Error(), "succeeded, want") {
					t.Errorf("%s: %v, want too many that succeed", r.call, err)
				}
				break
			}
		}
		if !found {
			t.Errorf("%s that reads and then writes, under a lock of its process, passes %d rounds", r.call, rounds)
		}
	}
}

// think is the time between a read and the write that follows. It is long enough that the
// other process begins in it in one of several rounds, on a busy machine, too.
const think = 50 * time.Millisecond

// locked reads and then writes, under a lock in the process.
type locked struct {
	accountstore.Store
	mu sync.Mutex
}

func (l *locked) UseFlow(ctx context.Context, id accountstore.Hash, kind string) (*accountstore.Flow, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := l.Flow(ctx, id)
	if err != nil {
		return nil, err
	}
	time.Sleep(think)
	_, _ = l.Store.UseFlow(ctx, id, kind)
	return f, nil
}

func (l *locked) AttemptFlow(ctx context.Context, id accountstore.Hash, limit int) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := l.Flow(ctx, id)
	if err != nil {
		return 0, err
	}
	if f.Attempts >= limit {
		return 0, pintle.ErrConflict
	}
	time.Sleep(think)
	return l.Store.AttemptFlow(ctx, id, 1000)
}

func (l *locked) AdvanceFactor(ctx context.Context, userID, kind, id string, step int64, used time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := l.find(ctx, userID, kind, id)
	if err != nil {
		return err
	}
	if f.Step >= step {
		return pintle.ErrConflict
	}
	time.Sleep(think)
	_ = l.Store.AdvanceFactor(ctx, userID, kind, id, step, used)
	return nil
}

func (l *locked) DeleteFactor(ctx context.Context, userID, kind, id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.find(ctx, userID, kind, id); err != nil {
		return err
	}
	time.Sleep(think)
	_ = l.Store.DeleteFactor(ctx, userID, kind, id)
	return nil
}

func (l *locked) CountFailure(ctx context.Context, userID string, at time.Time, window time.Duration, limit int) (accountstore.Failures, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := l.Store.CountFailure(ctx, userID, at, window, 0)
	if err != nil || f.Recent >= limit {
		return f, err
	}
	time.Sleep(think)
	return l.Store.CountFailure(ctx, userID, at, window, 1000)
}

func (l *locked) find(ctx context.Context, userID, kind, id string) (*accountstore.Factor, error) {
	all, err := l.Factors(ctx, userID)
	if err != nil {
		return nil, err
	}
	for _, f := range all {
		if f.Kind == kind && f.ID == id {
			return f, nil
		}
	}
	return nil, pintle.ErrNotFound
}
