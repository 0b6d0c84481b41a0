package once

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// lifetime is that of values which are good for 15 minutes, by clocks that differ by
// 15 seconds when one is issued and when it is read.
const lifetime = 15*time.Minute + 30*time.Second

// W-37, SA-L6: no challenge is answered twice, and no state.
func TestAValueIsUsedOnce(t *testing.T) {
	now := func() int64 { return time.Now().Unix() }

	t.Run("W-37 a value is used once while it is good", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			u := New(lifetime)
			issued := now()
			if !u.Use("a", issued) {
				t.Fatal("a new value counts as used")
			}
			for range 3 {
				for range 5 {
					if u.Use("a", issued) {
						t.Fatalf("used again %d seconds later", now()-issued)
					}
					if !u.Use(fmt.Sprint("other", time.Now().UnixNano()), now()) {
						t.Fatal("another value counts as used")
					}
					time.Sleep(time.Minute)
				}
			}
		})
	})
	t.Run("a value is remembered while it is good, whenever a generation ends", func(t *testing.T) {
		for used := time.Duration(0); used < 31*time.Minute; used += 10 * time.Second {
			synctest.Test(t, func(t *testing.T) {
				u := New(lifetime)
				u.Use("begins a generation", now())
				time.Sleep(used)
				// A server whose clock is 15 seconds ahead has just issued it, and
				// the clock that reads it may be 15 seconds behind.
				u.Use("a", now()+15)
				for range 15*60 + 29 {
					time.Sleep(time.Second)
					u.Use(fmt.Sprint("other", time.Now().UnixNano()), now())
				}
				if u.Use("a", now()) {
					t.Errorf("used %v into a generation, it is usable again", used)
				}
			})
		}
	})
	t.Run("W-37 of concurrent uses one counts", func(t *testing.T) {
		u := New(lifetime)
		var wg sync.WaitGroup
		first := make(chan bool, 50)
		for range cap(first) {
			wg.Go(func() { first <- u.Use("a", now()) })
		}
		wg.Wait()
		close(first)
		n := 0
		for yes := range first {
			if yes {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d of %d counted", n, cap(first))
		}
	})
	t.Run("what has expired is forgotten", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			u := New(lifetime)
			for i := range 100 {
				u.Use(fmt.Sprint(i), now())
			}
			for range 2 {
				time.Sleep(lifetime + time.Second)
				u.Use("later", now())
			}
			if n := len(u.recent) + len(u.earlier); n > 2 {
				t.Errorf("%d are remembered, want 2", n)
			}
		})
	})
	t.Run("a flood makes old values unusable, and none usable again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			u := New(lifetime)
			u.Use("victim", now())
			victim, unused := now(), now()
			time.Sleep(time.Second)
			for i := range 3 * maxUsed {
				if !u.Use(fmt.Sprint(i), now()+int64(i/maxUsed)) {
					t.Fatalf("value %d of the flood counts as used", i)
				}
			}
			if len(u.recent)+len(u.earlier) > 2*maxUsed {
				t.Errorf("%d are remembered", len(u.recent)+len(u.earlier))
			}
			if u.Use("victim", victim) {
				t.Error("the flood made a used value usable again")
			}
			if u.Use("unused", unused) {
				t.Error("a value as old as a forgotten one is usable")
			}
			if !u.Use("new", now()+3) {
				t.Error("a new value is not usable")
			}
		})
	})
}
