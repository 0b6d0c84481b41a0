package storetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pintleauth/pintle/sharedstate"
)

// hourly is a rate at which no attempt is allowed again while a check runs.
func hourly(burst int) sharedstate.Rate { return sharedstate.Rate{Burst: burst, Every: time.Hour} }

// countChecks are the promises of the counts of a [sharedstate.Store].
var countChecks = []sharedCheck{
	{"a burst is allowed, and other keys have their own", func(t *sharedTester) {
		k := newKey()
		near := k
		near[len(near)-1] ^= 1
		t.allowed(k, hourly(3), 3)
		t.allowed(near, hourly(3), 3)
	}},
	{"a key of any bytes has a count", func(t *sharedTester) {
		for _, end := range []string{"\x00", " ", "\xff\xfe", "%", "'", "$1", "{a}"} {
			k := newKey()
			copy(k[len(k)-len(end):], end)
			t.allowed(k, hourly(2), 2)
		}
	}},
	{"an attempt beyond the rate counts nothing", func(t *sharedTester) {
		k := newKey()
		t.allowed(k, hourly(2), 2)
		for range 5 {
			if wait := t.take(k, hourly(2)); wait <= time.Hour-time.Minute || wait > time.Hour {
				t.Errorf("Take returns %v, want the hour that is left", wait)
			}
		}
		t.allowed(k, hourly(3), 1)
	}},
	// A clock that was set back leaves such a count. It would reject all attempts until the
	// clock is where it was.
	{"a count that is further ahead than its rate allows is lowered", func(t *sharedTester) {
		k := newKey()
		t.allowed(k, hourly(5), 5)
		for range 2 {
			for name, wait := range map[string]time.Duration{"Wait": t.wait(k, hourly(2)), "Take": t.take(k, hourly(2))} {
				if wait <= time.Hour-time.Minute || wait > time.Hour {
					t.Errorf("%s returns %v, want an hour", name, wait)
				}
			}
		}
		t.giveBack(k, hourly(2))
		t.allowed(k, hourly(2), 1)
	}},
	{"the time that Take returns is enough for one attempt", func(t *sharedTester) {
		k, r := newKey(), sharedstate.Rate{Burst: 1, Every: 150 * time.Millisecond}
		wait := time.Duration(0)
		for wait == 0 && r.Every < time.Minute { // a slow store allows two
			k, r.Every = newKey(), 2*r.Every
			t.take(k, r)
			wait = t.take(k, r)
		}
		if wait <= 0 || wait > r.Every {
			t.Fatalf("Take returns %v, want at most %v", wait, r.Every)
		}
		t.pass(wait + 10*time.Millisecond) // a clock may be read with less precision
		if wait := t.take(k, r); wait != 0 {
			t.Errorf("after the time that Take returned, it returns %v", wait)
		}
	}},
	// The bar: limits hold within 10 % of the configured rate over four instances. Only
	// too many attempts are counted here, since a slow machine makes fewer.
	{"four callers get no more than the rate, within 10 %", func(t *sharedTester) {
		const burst, further = 20, 50
		k, r := newKey(), sharedstate.Rate{Burst: burst, Every: 20 * time.Millisecond}
		began := time.Now()
		var allowed atomic.Int64
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for allowed.Load() < burst+further {
					wait, err := t.state.Take(t.ctx, k, r)
					if err != nil {
						t.Errorf("Take: %v", err)
						return
					}
					if wait == 0 {
						allowed.Add(1)
					}
					time.Sleep(wait)
				}
			})
		}
		all.Wait()
		took := time.Since(began)
		if most := burst + 1.1*float64(took)/float64(r.Every); float64(allowed.Load()) > most+1 {
			t.Errorf("in %v %d attempts were allowed, want at most %.0f", took, allowed.Load(), most)
		}
	}},
	{"a rate of less than one attempt, or of no time, is the smallest one", func(t *sharedTester) {
		for _, burst := range []int{0, -1} {
			t.allowed(newKey(), hourly(burst), 1)
		}
		for _, every := range []time.Duration{-time.Hour, 0, time.Nanosecond} {
			k := newKey()
			t.take(k, sharedstate.Rate{Every: every})
			t.until("a rate of no time allows one attempt only", func() bool { return t.take(k, hourly(1)) == 0 })
			t.allowed(k, hourly(1), 0)
		}
	}},
	{"a rate of any size is kept", func(t *sharedTester) {
		const longest = time.Duration(1<<63 - 1)
		t.allowed(newKey(), sharedstate.Rate{Burst: 1, Every: longest}, 1)
		k, r := newKey(), sharedstate.Rate{Burst: 1 << 30, Every: longest}
		if wait := t.take(k, r); wait != 0 {
			t.Errorf("Take of the largest rate returns %v", wait)
		}
		t.allowed(k, hourly(1), 0)
	}},
	{"an attempt that is given back is allowed again", func(t *sharedTester) {
		k := newKey()
		t.allowed(k, hourly(3), 3)
		t.giveBack(k, hourly(3))
		t.allowed(k, hourly(3), 1)
		t.giveBack(k, hourly(3))
		t.giveBack(k, hourly(3))
		t.allowed(k, hourly(3), 2)
	}},
	{"what was not taken cannot be given back", func(t *sharedTester) {
		k := newKey()
		t.giveBack(k, hourly(2)) // of a key that has no count
		t.allowed(k, hourly(2), 2)
		for range 5 {
			t.giveBack(k, hourly(2))
		}
		t.giveBack(newKey(), hourly(2))
		t.allowed(k, hourly(2), 2)
	}},
	{"Wait returns what Take would return, and counts nothing", func(t *sharedTester) {
		k := newKey()
		for range 5 {
			if wait := t.wait(k, hourly(2)); wait != 0 {
				t.Fatalf("Wait of a new key returns %v", wait)
			}
		}
		t.take(k, hourly(2))
		if wait := t.wait(k, hourly(2)); wait != 0 {
			t.Errorf("Wait returns %v while one more attempt is allowed", wait)
		}
		if wait := t.wait(k, hourly(1)); wait <= time.Hour-time.Minute || wait > time.Hour {
			t.Errorf("Wait at a rate of one attempt returns %v, want an hour", wait)
		}
		t.allowed(k, hourly(2), 1)
		if wait := t.wait(k, hourly(2)); wait <= time.Hour-time.Minute || wait > time.Hour {
			t.Errorf("Wait returns %v, want the hour that is left", wait)
		}
	}},
	{"a sweep forgets no count before its time, whatever the clock of the process", func(t *sharedTester) {
		k := newKey()
		t.allowed(k, hourly(2), 2)
		t.sweep(time.Now())
		t.sweep(time.Now().Add(4 * time.Hour)) // by a process whose clock is ahead
		t.allowed(k, hourly(2), 0)
	}},
	{"a key, a lease and a count of the same bytes have nothing to do with one another", func(t *sharedTester) {
		k, owner := newKey(), newOwner()
		t.allowed(k, hourly(1), 1)
		t.first(k, soon())
		t.held(k, owner, time.Minute)
		t.giveBack(k, hourly(1))
		t.allowed(k, hourly(1), 1)
		t.release(k, owner)
		t.used(k, soon())
		t.allowed(k, hourly(1), 0)
	}},
	{"of 64 attempts at once a burst is allowed", func(t *sharedTester) {
		for _, burst := range []int{1, 10} {
			k := newKey()
			t.together(k, burst)
			t.allowed(k, hourly(burst), 0)
		}
	}},
	{"of 64 attempts at a count that is past a burst is allowed", func(t *sharedTester) {
		for range rounds {
			k := newKey()
			t.allowed(k, hourly(1), 1)
			t.giveBack(k, hourly(1))
			t.giveBack(k, hourly(1)) // a row with a time that is past may stay
			t.together(k, 10)
		}
	}},
	{"64 attempts that are given back at once leave the burst", func(t *sharedTester) {
		k := newKey()
		t.allowed(k, hourly(writers), writers)
		for _, err := range race(func(int) error { return t.state.GiveBack(t.ctx, k, hourly(writers)) }) {
			t.ok("GiveBack", err)
		}
		t.together(k, 3)
	}},
	{"a call to count whose context has ended is no answer, and changes nothing", func(t *sharedTester) {
		k := newKey()
		ctx := ended(t.ctx)
		_, err := t.state.Take(ctx, k, hourly(1))
		t.noAnswer("Take", false, err)
		_, err = t.state.Wait(ctx, k, hourly(1))
		t.noAnswer("Wait", false, err)
		t.allowed(k, hourly(1), 1)
		t.noAnswer("GiveBack", false, t.state.GiveBack(ctx, k, hourly(1)))
		t.allowed(k, hourly(1), 0)
	}},
}

func (t *sharedTester) take(k sharedstate.Key, r sharedstate.Rate) time.Duration {
	t.Helper()
	wait, err := t.state.Take(t.ctx, k, r)
	t.ok("Take", err)
	if wait < 0 {
		t.Errorf("Take returns %v", wait)
	}
	return wait
}

func (t *sharedTester) wait(k sharedstate.Key, r sharedstate.Rate) time.Duration {
	t.Helper()
	wait, err := t.state.Wait(t.ctx, k, r)
	t.ok("Wait", err)
	if wait < 0 {
		t.Errorf("Wait returns %v", wait)
	}
	return wait
}

func (t *sharedTester) giveBack(k sharedstate.Key, r sharedstate.Rate) {
	t.Helper()
	t.ok("GiveBack", t.state.GiveBack(t.ctx, k, r))
}

// allowed makes n attempts that the rate allows, and one more that it does not allow.
func (t *sharedTester) allowed(k sharedstate.Key, r sharedstate.Rate, n int) {
	t.Helper()
	for i := range n {
		if wait := t.take(k, r); wait != 0 {
			t.Fatalf("Take of attempt %d of %d returns %v", i+1, n, wait)
		}
	}
	if wait := t.take(k, r); wait == 0 {
		t.Errorf("after %d attempts one more is allowed", n)
	}
}

// together makes 64 attempts at once, of which a burst is allowed.
func (t *sharedTester) together(k sharedstate.Key, burst int) {
	t.Helper()
	var allowed atomic.Int64
	for _, err := range race(func(int) error {
		wait, err := t.state.Take(t.ctx, k, hourly(burst))
		if err == nil && wait == 0 {
			allowed.Add(1)
		}
		if err == nil && wait > time.Hour+time.Minute { // a call may have read the time a moment ago
			err = errors.New("an attempt beyond the rate counts: the wait is " + wait.String())
		}
		return err
	}) {
		t.ok("Take", err)
	}
	if got := int(allowed.Load()); got != burst {
		t.Errorf("of %d attempts at once %d were allowed, want %d", writers, got, burst)
	}
}
