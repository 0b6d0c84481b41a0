package storetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle/sharedstate"
	"github.com/pintleauth/pintle/store/memstore"
)

// A mutantState is a good shared state with one thing wrong.
type mutantState struct {
	*memstore.SharedState
	once    func(ctx context.Context, k sharedstate.Key, until time.Time) (bool, error)
	lease   func(ctx context.Context, k sharedstate.Key, o sharedstate.Owner, d time.Duration) (bool, error)
	release func(ctx context.Context, k sharedstate.Key, o sharedstate.Owner) error
	sweep   func(before time.Time)

	take, wait func(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) (time.Duration, error)
	giveBack   func(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) error
}

func (m *mutantState) Take(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
	if m.take != nil {
		return m.take(ctx, k, r)
	}
	return m.SharedState.Take(ctx, k, r)
}

func (m *mutantState) Wait(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
	if m.wait != nil {
		return m.wait(ctx, k, r)
	}
	return m.SharedState.Wait(ctx, k, r)
}

func (m *mutantState) GiveBack(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) error {
	if m.giveBack != nil {
		return m.giveBack(ctx, k, r)
	}
	return m.SharedState.GiveBack(ctx, k, r)
}

func (m *mutantState) Once(ctx context.Context, k sharedstate.Key, until time.Time) (bool, error) {
	if m.once != nil {
		return m.once(ctx, k, until)
	}
	return m.SharedState.Once(ctx, k, until)
}

func (m *mutantState) Lease(ctx context.Context, k sharedstate.Key, o sharedstate.Owner, d time.Duration) (bool, error) {
	if m.lease != nil {
		return m.lease(ctx, k, o, d)
	}
	return m.SharedState.Lease(ctx, k, o, d)
}

func (m *mutantState) Release(ctx context.Context, k sharedstate.Key, o sharedstate.Owner) error {
	if m.release != nil {
		return m.release(ctx, k, o)
	}
	return m.SharedState.Release(ctx, k, o)
}

func (m *mutantState) Sweep(_ context.Context, before time.Time, _ int) (int, error) {
	if m.sweep != nil {
		m.sweep(before)
	}
	return 0, nil
}

// looks is a decision in two steps, between which another call may decide.
type looks[V any] struct {
	mu   sync.Mutex
	kept map[sharedstate.Key]V
}

func (l *looks[V]) get(k sharedstate.Key) (V, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v, there := l.kept[k]
	return v, there
}

func (l *looks[V]) set(k sharedstate.Key, v V) {
	time.Sleep(time.Millisecond) // a round trip
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept == nil {
		l.kept = make(map[sharedstate.Key]V)
	}
	l.kept[k] = v
}

var sharedStateMutants = []struct {
	name    string
	change  func(*mutantState)
	noticed string
}{
	{"is always the first", func(m *mutantState) {
		m.once = func(ctx context.Context, _ sharedstate.Key, _ time.Time) (bool, error) { return true, ctx.Err() }
	}, "a key is used once"},
	{"is never the first", func(m *mutantState) {
		m.once = func(ctx context.Context, _ sharedstate.Key, _ time.Time) (bool, error) { return false, ctx.Err() }
	}, "a key is used once"},
	{"cuts keys", func(m *mutantState) {
		m.once = func(ctx context.Context, k sharedstate.Key, until time.Time) (bool, error) {
			k[len(k)-1] = 0
			return m.SharedState.Once(ctx, k, until)
		}
	}, "and other keys are not"},
	{"forgets by the clock of the last caller", func(m *mutantState) {
		m.once = func(ctx context.Context, k sharedstate.Key, until time.Time) (bool, error) {
			first, err := m.SharedState.Once(ctx, k, until)
			if !first && until.Before(time.Now()) {
				m.SharedState = &memstore.SharedState{}
			}
			return first, err
		}
	}, "does not shorten"},
	{"never forgets", func(m *mutantState) {
		m.once = func(ctx context.Context, k sharedstate.Key, _ time.Time) (bool, error) {
			return m.SharedState.Once(ctx, k, time.Now().Add(time.Hour))
		}
	}, "can be used again"},
	{"sweeps by the clock of the process", func(m *mutantState) {
		m.sweep = func(before time.Time) {
			if before.After(time.Now().Add(time.Hour)) {
				m.SharedState = &memstore.SharedState{}
			}
		}
	}, "whatever the clock"},
	{"looks first and uses a key then", func(m *mutantState) {
		var l looks[bool]
		m.once = func(ctx context.Context, k sharedstate.Key, _ time.Time) (bool, error) {
			if _, used := l.get(k); used || ctx.Err() != nil {
				return false, ctx.Err()
			}
			l.set(k, true)
			return true, nil
		}
	}, "of 64 calls with one key"},
	{"loses a key of two at once", func(m *mutantState) {
		var under sync.Mutex
		m.once = func(ctx context.Context, k sharedstate.Key, until time.Time) (bool, error) {
			if !under.TryLock() {
				return true, ctx.Err()
			}
			defer under.Unlock()
			time.Sleep(time.Millisecond)
			return m.SharedState.Once(ctx, k, until)
		}
	}, "64 keys at once"},
	{"uses a key although the context has ended", func(m *mutantState) {
		m.once = func(ctx context.Context, k sharedstate.Key, until time.Time) (bool, error) {
			first, err := m.SharedState.Once(context.WithoutCancel(ctx), k, until)
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			return first, err
		}
	}, "whose context has ended"},
	{"gives a lease to all", func(m *mutantState) {
		m.lease = func(ctx context.Context, _ sharedstate.Key, _ sharedstate.Owner, _ time.Duration) (bool, error) {
			return true, ctx.Err()
		}
	}, "a lease has one owner"},
	{"does not prolong a lease", func(m *mutantState) {
		var l looks[bool]
		m.lease = func(ctx context.Context, k sharedstate.Key, o sharedstate.Owner, d time.Duration) (bool, error) {
			if _, taken := l.get(k); taken {
				return false, ctx.Err()
			}
			l.set(k, true)
			return m.SharedState.Lease(ctx, k, o, d)
		}
	}, "who may prolong it"},
	{"says that a lease is prolonged, and leaves it", func(m *mutantState) {
		var l looks[sharedstate.Owner]
		m.lease = func(ctx context.Context, k sharedstate.Key, o sharedstate.Owner, d time.Duration) (bool, error) {
			if owner, taken := l.get(k); taken && owner == o {
				return true, ctx.Err()
			}
			held, err := m.SharedState.Lease(ctx, k, o, d)
			if held {
				l.set(k, o)
			}
			return held, err
		}
	}, "held for the new time"},
	{"knows owners without regard to case", func(m *mutantState) {
		m.lease = func(ctx context.Context, k sharedstate.Key, o sharedstate.Owner, d time.Duration) (bool, error) {
			for i := range o {
				o[i] |= 0x20
			}
			return m.SharedState.Lease(ctx, k, o, d)
		}
	}, "owners differ"},
	{"releases nothing", func(m *mutantState) {
		m.release = func(ctx context.Context, _ sharedstate.Key, _ sharedstate.Owner) error { return ctx.Err() }
	}, "that is released is free"},
	{"releases what is another owner's", func(m *mutantState) {
		var l looks[sharedstate.Owner]
		m.lease = func(ctx context.Context, k sharedstate.Key, o sharedstate.Owner, d time.Duration) (bool, error) {
			held, err := m.SharedState.Lease(ctx, k, o, d)
			if held {
				l.set(k, o)
			}
			return held, err
		}
		m.release = func(ctx context.Context, k sharedstate.Key, _ sharedstate.Owner) error {
			o, _ := l.get(k)
			return m.SharedState.Release(ctx, k, o)
		}
	}, "of another owner is not released"},
	{"fails to release what is another owner's", func(m *mutantState) {
		m.release = func(ctx context.Context, k sharedstate.Key, o sharedstate.Owner) error {
			if held, err := m.SharedState.Lease(ctx, k, o, time.Minute); !held {
				return fmt.Errorf("another owner has it: %w", err)
			}
			return m.SharedState.Release(ctx, k, o)
		}
	}, "of another owner is not released"},
	{"keeps leases for ever", func(m *mutantState) {
		m.lease = func(ctx context.Context, k sharedstate.Key, o sharedstate.Owner, _ time.Duration) (bool, error) {
			return m.SharedState.Lease(ctx, k, o, time.Hour)
		}
	}, "whose owner is gone"},
	{"looks first and takes the lease then", func(m *mutantState) {
		var l looks[sharedstate.Owner]
		m.lease = func(ctx context.Context, k sharedstate.Key, o sharedstate.Owner, _ time.Duration) (bool, error) {
			if owner, taken := l.get(k); taken && owner != o || ctx.Err() != nil {
				return false, ctx.Err()
			}
			l.set(k, o)
			return true, nil
		}
	}, "of 64 owners"},
	{"has one place for keys and leases", func(m *mutantState) {
		m.lease = func(ctx context.Context, k sharedstate.Key, o sharedstate.Owner, d time.Duration) (bool, error) {
			held, err := m.SharedState.Lease(ctx, k, o, d)
			if held {
				_, err = m.SharedState.Once(ctx, k, time.Now().Add(d))
			}
			return held, err
		}
	}, "nothing to do with one another"},
	{"releases although the context has ended", func(m *mutantState) {
		m.release = func(ctx context.Context, k sharedstate.Key, o sharedstate.Owner) error {
			return m.SharedState.Release(context.WithoutCancel(ctx), k, o)
		}
	}, "whose context has ended"},
}

var countMutants = []struct {
	name    string
	change  func(*mutantState)
	noticed string
}{
	{"allows all attempts", func(m *mutantState) {
		m.take = func(ctx context.Context, _ sharedstate.Key, _ sharedstate.Rate) (time.Duration, error) {
			return 0, ctx.Err()
		}
	}, "a burst is allowed"},
	{"allows no attempt", func(m *mutantState) {
		m.take = func(ctx context.Context, _ sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
			return r.Every, ctx.Err()
		}
	}, "a burst is allowed"},
	{"cuts the keys of counts", func(m *mutantState) {
		m.take = func(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
			k[len(k)-1] = 0
			return m.SharedState.Take(ctx, k, r)
		}
	}, "other keys have their own"},
	{"ends keys at a zero byte", func(m *mutantState) {
		m.take = func(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
			if k[len(k)-1] == 0 {
				return 0, ctx.Err()
			}
			return m.SharedState.Take(ctx, k, r)
		}
	}, "a key of any bytes has a count"},
	{"counts what it rejects", func(m *mutantState) {
		m.take = func(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
			wait, err := m.SharedState.Take(ctx, k, r)
			if wait > 0 {
				r.Burst += 1000
				_, err = m.SharedState.Take(ctx, k, r)
			}
			return wait, err
		}
	}, "beyond the rate counts nothing"},
	{"keeps a count of a clock that was set back", func(m *mutantState) {
		var under sync.Mutex
		most := map[sharedstate.Key]int{}
		m.take = func(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
			under.Lock()
			defer under.Unlock()
			if further := most[k] - r.Burst; further > 0 {
				return time.Duration(min(further, 10)+1) * r.Every, ctx.Err()
			}
			most[k] = r.Burst
			return m.SharedState.Take(ctx, k, r)
		}
	}, "further ahead than its rate allows"},
	{"is slower than the rate", func(m *mutantState) {
		m.take = func(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
			wait, err := m.SharedState.Take(ctx, k, sharedstate.Rate{Burst: r.Burst, Every: 2 * r.Every})
			return wait / 2, err
		}
	}, "is enough for one attempt"},
	{"is a fifth faster than the rate", func(m *mutantState) {
		m.take = func(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
			return m.SharedState.Take(ctx, k, sharedstate.Rate{Burst: r.Burst, Every: r.Every * 4 / 5})
		}
	}, "within 10 %"},
	{"takes a burst of zero for no limit", func(m *mutantState) {
		m.take = func(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
			if r.Burst < 1 {
				return 0, ctx.Err()
			}
			return m.SharedState.Take(ctx, k, r)
		}
	}, "less than one attempt"},
	{"adds a negative interval", func(m *mutantState) {
		m.take = func(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
			if r.Every < 0 {
				return time.Hour, m.SharedState.GiveBack(ctx, k, r)
			}
			if r.Every < time.Millisecond {
				r.Every = time.Hour
			}
			return m.SharedState.Take(ctx, k, r)
		}
	}, "or of no time"},
	{"lets large rates overflow", func(m *mutantState) {
		m.take = func(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
			if time.Duration(r.Burst)*r.Every/max(r.Every, 1) != time.Duration(r.Burst) {
				return 0, ctx.Err()
			}
			return m.SharedState.Take(ctx, k, r)
		}
	}, "of any size"},
	{"gives nothing back", func(m *mutantState) {
		m.giveBack = func(ctx context.Context, _ sharedstate.Key, _ sharedstate.Rate) error { return ctx.Err() }
	}, "given back is allowed again"},
	{"gives all back", func(m *mutantState) {
		m.giveBack = func(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) error {
			r.Every *= 1000
			return m.SharedState.GiveBack(ctx, k, r)
		}
	}, "given back is allowed again"},
	{"fails to give back what was not taken", func(m *mutantState) {
		m.giveBack = func(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) error {
			if wait, err := m.SharedState.Wait(ctx, k, sharedstate.Rate{Burst: 1, Every: r.Every}); err != nil || wait == 0 {
				return fmt.Errorf("there is no count: %w", err)
			}
			return m.SharedState.GiveBack(ctx, k, r)
		}
	}, "was not taken cannot be given back"},
	{"lends what was not taken", func(m *mutantState) {
		var under sync.Mutex
		lent := map[sharedstate.Key]int{}
		m.giveBack = func(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) error {
			under.Lock()
			defer under.Unlock()
			lent[k]++
			return m.SharedState.GiveBack(ctx, k, r)
		}
		m.take = func(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
			under.Lock()
			defer under.Unlock()
			wait, err := m.SharedState.Take(ctx, k, r)
			if wait > 0 && lent[k] > 2 {
				lent[k]--
				return 0, err
			}
			return wait, err
		}
	}, "was not taken cannot be given back"},
	{"counts when it is asked for the wait", func(m *mutantState) {
		m.wait = func(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
			return m.SharedState.Take(ctx, k, r)
		}
	}, "Wait returns what Take would return"},
	{"knows no wait", func(m *mutantState) {
		m.wait = func(ctx context.Context, _ sharedstate.Key, _ sharedstate.Rate) (time.Duration, error) {
			return 0, ctx.Err()
		}
	}, "Wait returns what Take would return"},
	{"sweeps counts by the clock of the process", func(m *mutantState) {
		m.sweep = func(before time.Time) {
			if before.After(time.Now().Add(time.Hour)) {
				m.SharedState = &memstore.SharedState{}
			}
		}
	}, "a sweep forgets no count"},
	{"has one place for keys and counts", func(m *mutantState) {
		m.take = func(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
			if _, err := m.SharedState.Once(ctx, k, time.Now().Add(time.Hour)); err != nil {
				return 0, err
			}
			return m.SharedState.Take(ctx, k, r)
		}
	}, "a key, a lease and a count"},
	{"looks first and counts then", func(m *mutantState) {
		var l looks[int]
		m.take = func(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
			n, _ := l.get(k)
			if n >= r.Burst || ctx.Err() != nil {
				return r.Every, ctx.Err()
			}
			l.set(k, n+1)
			return 0, nil
		}
	}, "of 64 attempts at once"},
	{"begins a count that is past in two steps", func(m *mutantState) {
		var l looks[bool]
		m.take = func(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
			if past, _ := l.get(k); past {
				l.set(k, false)
				return 0, ctx.Err()
			}
			return m.SharedState.Take(ctx, k, r)
		}
		m.giveBack = func(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) error {
			l.set(k, true)
			return m.SharedState.GiveBack(ctx, k, r)
		}
	}, "at a count that is past"},
	{"loses one of two that are given back at once", func(m *mutantState) {
		var under sync.Mutex
		m.giveBack = func(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) error {
			if !under.TryLock() {
				return ctx.Err()
			}
			defer under.Unlock()
			time.Sleep(time.Millisecond)
			return m.SharedState.GiveBack(ctx, k, r)
		}
	}, "given back at once"},
	{"counts although the context has ended", func(m *mutantState) {
		m.take = func(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
			wait, err := m.SharedState.Take(context.WithoutCancel(ctx), k, r)
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
			return wait, err
		}
	}, "a call to count whose context has ended"},
	{"gives back although the context has ended", func(m *mutantState) {
		m.giveBack = func(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) error {
			if err := m.SharedState.GiveBack(context.WithoutCancel(ctx), k, r); err != nil {
				return err
			}
			return ctx.Err()
		}
	}, "a call to count whose context has ended"},
}

func TestEveryMutantOfASharedStateIsNoticed(t *testing.T) {
	for _, m := range append(sharedStateMutants, countMutants...) {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			var failed []string
			for _, c := range sharedStateChecks {
				state := &mutantState{SharedState: &memstore.SharedState{}}
				m.change(state)
				if !strings.Contains(c.name, m.noticed) {
					continue
				}
				if trySharedState(t, c, state) {
					failed = append(failed, c.name)
				}
			}
			if len(failed) == 0 {
				t.Errorf("no check named %q failed", m.noticed)
			}
		})
	}
}

func TestAGoodSharedStateFailsNoCheck(t *testing.T) {
	RunSharedState(t, func(*testing.T) sharedstate.Store { return &mutantState{SharedState: &memstore.SharedState{}} })
}

// trySharedState reports whether a shared state fails a check.
func trySharedState(t *testing.T, c sharedCheck, state sharedstate.Store) bool {
	r := &trial{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for _, f := range r.cleanups {
				f()
			}
		}()
		c.run(newSharedTester(r, state))
	}()
	<-done
	return r.failed
}
