package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/sharedstate"
)

// RunSharedState tests the shared states that open returns, as [Run] tests stores:
//
//	func TestSharedState(t *testing.T) {
//		storetest.RunSharedState(t, func(t *testing.T) sharedstate.Store { return newState(t) })
//	}
//
// open may return the same one each time: every check uses new keys. A state with a
// method Sweep like that of [pintle.Store] is swept.
func RunSharedState(t *testing.T, open func(*testing.T) sharedstate.Store) {
	for _, c := range sharedStateChecks {
		t.Run(c.name, func(t *testing.T) { c.run(newSharedTester(t, open(t))) })
	}
}

// sharedStateStoreChecks run the checks of a shared state on that of a store. A store
// without one skips them.
func sharedStateStoreChecks() []check {
	checks := make([]check, 0, len(sharedStateChecks)+1)
	for _, c := range sharedStateChecks {
		checks = append(checks, check{c.name, func(t *tester) {
			state := t.store.SharedState()
			if state == nil {
				t.Skipf("%T has no SharedState", t.store)
			}
			s := newSharedTester(t.TB, state)
			if t.can.Sweep {
				s.swept = t.store
			}
			c.run(s)
		}})
	}
	return append(checks, check{"the store of a transaction has no shared state", func(t *tester) {
		err := t.transactions().InTx(t.ctx, func(tx pintle.Store) error {
			if tx.SharedState() != nil {
				t.Error("the store of a transaction has a SharedState, which an error could undo")
			}
			return nil
		})
		t.ok("InTx", err)
	}})
}

// A sharedTester is what one check of a shared state works with.
type sharedTester struct {
	testing.TB
	ctx   context.Context // a check is one call
	state sharedstate.Store
	swept sweeper // nil if nothing has to be swept
}

func newSharedTester(t testing.TB, state sharedstate.Store) *sharedTester {
	ctx, cancel := context.WithTimeout(t.Context(), checkTimeout)
	t.Cleanup(cancel)
	swept, _ := state.(sweeper)
	return &sharedTester{TB: t, ctx: ctx, state: state, swept: swept}
}

// A sharedCheck is one promise of [sharedstate.Store].
type sharedCheck struct {
	name string
	run  func(*sharedTester)
}

var sharedStateChecks = slices.Concat(decisionChecks, countChecks)

// decisionChecks are the promises of keys and leases.
var decisionChecks = []sharedCheck{
	{"a key is used once, and other keys are not", func(t *sharedTester) {
		k := newKey()
		t.first(k, soon())
		for range 3 {
			t.used(k, soon())
		}
		near := k
		near[len(near)-1] ^= 1
		t.first(near, soon())
		t.first(sharedstate.Key{}, shortly())
	}},
	{"a key of any bytes is kept", func(t *sharedTester) {
		for _, end := range []string{"\x00", " ", "\xff\xfe", "%", "'", "$1", "{a}"} {
			k := newKey()
			copy(k[len(k)-len(end):], end)
			t.first(k, soon())
			t.used(k, soon())
			t.held(k, newOwner(), time.Minute)
		}
	}},
	{"a call that is not the first does not shorten how long a key is kept", func(t *sharedTester) {
		k := newKey()
		t.first(k, soon())
		t.used(k, time.Now().Add(-time.Hour))
		t.used(k, shortly())
		t.pass(keptShortly)
		t.sweep(time.Now())
		t.used(k, soon())
	}},
	{"a key can be used again some time after it was to be kept", func(t *sharedTester) {
		k := newKey()
		t.first(k, shortly())
		t.until("the key is kept far longer than it has to be", func() bool { return t.once(k, soon()) })
		t.used(k, soon())
	}},
	{"a sweep forgets no key and no lease before its time, whatever the clock of the process", func(t *sharedTester) {
		k, owner := newKey(), newOwner()
		t.first(k, soon())
		t.held(k, owner, time.Minute)
		t.sweep(time.Now())
		t.sweep(time.Now().Add(2 * time.Hour)) // by a process whose clock is ahead
		t.used(k, soon())
		t.free(k, newOwner(), false)
	}},
	{"a lease has one owner, who may prolong it", func(t *sharedTester) {
		k, owner, other := newKey(), newOwner(), newOwner()
		t.held(k, owner, time.Minute)
		t.free(k, other, false)
		for range 3 {
			t.held(k, owner, time.Minute)
		}
		t.free(k, other, false)
		t.held(newKey(), other, time.Minute)
	}},
	{"owners differ in every byte", func(t *sharedTester) {
		for i := range len(sharedstate.Owner{}) {
			k, owner := newKey(), newOwner()
			t.held(k, owner, time.Minute)
			owner[i] ^= 0x20 // the difference of a capital letter
			t.free(k, owner, false)
		}
		k := newKey()
		t.held(k, sharedstate.Owner{}, time.Minute)
		t.free(k, newOwner(), false)
	}},
	{"a lease that is released is free", func(t *sharedTester) {
		k, owner, other := newKey(), newOwner(), newOwner()
		t.held(k, owner, time.Minute)
		t.release(k, owner)
		t.held(k, other, time.Minute)
		t.free(k, owner, false)
	}},
	{"a lease of another owner is not released", func(t *sharedTester) {
		k, owner, other := newKey(), newOwner(), newOwner()
		t.release(k, other) // of a lease that does not exist
		t.held(k, owner, time.Minute)
		t.release(k, other)
		t.release(newKey(), owner)
		t.free(k, other, false)
	}},
	{"an owner whose lease has passed on does not release it", func(t *sharedTester) {
		k, owner, other := newKey(), newOwner(), newOwner()
		t.held(k, owner, time.Millisecond)
		t.free(k, other, true)
		t.held(k, other, time.Minute)
		t.release(k, owner)
		t.free(k, owner, false)
	}},
	// RPT-85
	{"a lease whose owner is gone becomes free", func(t *sharedTester) {
		for _, d := range []time.Duration{-time.Hour, 0, time.Nanosecond, keptShortly} {
			k := newKey()
			t.held(k, newOwner(), d)
			t.free(k, newOwner(), true)
		}
	}},
	{"a lease that is prolonged is held for the new time", func(t *sharedTester) {
		k, owner := newKey(), newOwner()
		t.held(k, owner, keptShortly)
		t.held(k, owner, time.Minute)
		t.pass(2 * keptShortly)
		t.free(k, newOwner(), false)
		t.held(k, owner, time.Millisecond) // which may also end sooner
		t.free(k, newOwner(), true)
	}},
	{"a key and a lease of the same bytes have nothing to do with one another", func(t *sharedTester) {
		k, owner := newKey(), newOwner()
		t.held(k, owner, time.Minute)
		t.first(k, soon())
		t.release(k, owner)
		t.used(k, soon())
		t.held(k, owner, time.Minute)
	}},
	// RPT-4
	{"of 64 calls with one key one is the first", func(t *sharedTester) {
		for range rounds {
			k := newKey()
			t.one("Once", func(int) (bool, error) { return t.state.Once(t.ctx, k, soon()) })
			t.used(k, soon())
		}
	}},
	{"of 64 calls with a key that was forgotten one is the first", func(t *sharedTester) {
		for range rounds {
			k := newKey()
			t.first(k, time.Now().Add(-time.Hour))
			t.one("Once", func(int) (bool, error) { return t.state.Once(t.ctx, k, soon()) })
		}
	}},
	{"of 64 owners one has the lease", func(t *sharedTester) {
		for range rounds {
			k, owners := newKey(), make([]sharedstate.Owner, writers)
			for i := range owners {
				owners[i] = newOwner()
			}
			winner := t.one("Lease", func(i int) (bool, error) { return t.state.Lease(t.ctx, k, owners[i], time.Minute) })
			t.held(k, owners[winner], time.Minute)
			t.free(k, newOwner(), false)
		}
	}},
	{"of 64 owners one has the lease that has ended", func(t *sharedTester) {
		for range rounds {
			k := newKey()
			t.held(k, newOwner(), time.Millisecond)
			t.pass(keptShortly)
			t.one("Lease", func(int) (bool, error) { return t.state.Lease(t.ctx, k, newOwner(), time.Minute) })
		}
	}},
	{"64 keys at once are all kept", func(t *sharedTester) {
		keys := make([]sharedstate.Key, writers)
		for i := range keys {
			keys[i] = newKey()
		}
		for _, err := range race(func(i int) error {
			first, err := t.state.Once(t.ctx, keys[i], soon())
			if err == nil && !first {
				err = errors.New("a new key was used")
			}
			return err
		}) {
			t.ok("Once", err)
		}
		for _, k := range keys {
			t.used(k, soon())
		}
	}},
	{"a call whose context has ended is no answer, and changes nothing", func(t *sharedTester) {
		k, owner := newKey(), newOwner()
		ctx := ended(t.ctx)
		first, err := t.state.Once(ctx, k, soon())
		t.noAnswer("Once", first, err)
		t.first(k, soon())
		held, err := t.state.Lease(ctx, k, owner, time.Minute)
		t.noAnswer("Lease", held, err)
		t.held(k, owner, time.Minute)
		t.noAnswer("Release", false, t.state.Release(ctx, k, owner))
		t.free(k, newOwner(), false)
	}},
}

// keptShortly is how long a key or a lease is kept that a check waits for.
const keptShortly = 50 * time.Millisecond

func soon() time.Time { return time.Now().Add(time.Hour) }

func shortly() time.Time { return time.Now().Add(keptShortly) }

func newKey() (k sharedstate.Key) {
	_, _ = rand.Read(k[:]) // it never fails
	return k
}

func newOwner() (o sharedstate.Owner) {
	_, _ = rand.Read(o[:]) // it never fails
	return o
}

func (t *sharedTester) ok(what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func (t *sharedTester) once(k sharedstate.Key, until time.Time) bool {
	t.Helper()
	first, err := t.state.Once(t.ctx, k, until)
	t.ok("Once", err)
	return first
}

func (t *sharedTester) first(k sharedstate.Key, until time.Time) {
	t.Helper()
	if !t.once(k, until) {
		t.Error("Once reports that a new key was used")
	}
}

func (t *sharedTester) used(k sharedstate.Key, until time.Time) {
	t.Helper()
	if t.once(k, until) {
		t.Error("Once reports that a key is new that was used")
	}
}

func (t *sharedTester) held(k sharedstate.Key, o sharedstate.Owner, d time.Duration) {
	t.Helper()
	held, err := t.state.Lease(t.ctx, k, o, d)
	t.ok("Lease", err)
	if !held {
		t.Error("Lease reports that a lease is another owner's that is free, or the owner's")
	}
}

// free checks whether another owner gets the lease, at once or, if it has to, within
// some time.
func (t *sharedTester) free(k sharedstate.Key, o sharedstate.Owner, want bool) {
	t.Helper()
	take := func() bool {
		held, err := t.state.Lease(t.ctx, k, o, time.Minute)
		t.ok("Lease", err)
		return held
	}
	if !want {
		if take() {
			t.Error("Lease gave a lease to a second owner")
		}
		return
	}
	t.until("a lease is held that has ended", take)
}

func (t *sharedTester) release(k sharedstate.Key, o sharedstate.Owner) {
	t.Helper()
	t.ok("Release", t.state.Release(t.ctx, k, o))
}

// one runs calls at once and checks that one succeeds.
func (t *sharedTester) one(what string, call func(i int) (bool, error)) (winner int) {
	t.Helper()
	won := make([]bool, writers)
	for _, err := range race(func(i int) (err error) {
		won[i], err = call(i)
		return err
	}) {
		t.ok(what, err)
	}
	winners := 0
	for i, w := range won {
		if w {
			winner = i
			winners++
		}
	}
	if winners != 1 {
		t.Errorf("%s was true %d times of %d, want 1", what, winners, writers)
	}
	return winner
}

func (t *sharedTester) noAnswer(what string, yes bool, err error) {
	t.Helper()
	if yes || !errors.Is(err, context.Canceled) {
		t.Errorf("%s returned %t, %v, want context.Canceled", what, yes, err)
	}
}

// sweep removes all that a process may forget by its clock.
func (t *sharedTester) sweep(before time.Time) {
	t.Helper()
	if t.swept == nil {
		return
	}
	for {
		n, err := t.swept.Sweep(t.ctx, before, 100)
		t.ok("Sweep", err)
		if n < 100 {
			return
		}
	}
}

// pass lets time go by. What a check asks for afterwards holds however long it takes.
func (t *sharedTester) pass(d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.ctx.Done():
		t.Fatal(t.ctx.Err())
	}
}

// until waits for what has to happen in a few seconds.
func (t *sharedTester) until(otherwise string, happens func() bool) {
	t.Helper()
	for late := time.Now().Add(5 * time.Second); !happens(); t.pass(10 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal(otherwise)
		}
	}
}
