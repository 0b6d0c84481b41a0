package pintle

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// W-37: no challenge is answered twice.
func TestUsedChallenges(t *testing.T) {
	now := func() int64 { return time.Now().Unix() }

	t.Run("W-37 a challenge is used once while it is good", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var u usedChallenges
			issued := now()
			if !u.use("a", issued) {
				t.Fatal("a new challenge counts as used")
			}
			for range 3 {
				for range 5 {
					if u.use("a", issued) {
						t.Fatalf("used again %d seconds later", now()-issued)
					}
					if !u.use(fmt.Sprint("other", time.Now().UnixNano()), now()) {
						t.Fatal("another challenge counts as used")
					}
					time.Sleep(time.Minute)
				}
			}
		})
	})
	t.Run("W-37 of concurrent answers one counts", func(t *testing.T) {
		var u usedChallenges
		var wg sync.WaitGroup
		first := make(chan bool, 50)
		for range cap(first) {
			wg.Go(func() { first <- u.use("a", now()) })
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
			var u usedChallenges
			for i := range 100 {
				u.use(fmt.Sprint(i), now())
			}
			for range 2 {
				time.Sleep(checkMaxAge + clockTolerance + time.Second)
				u.use("later", now())
			}
			if n := len(u.recent) + len(u.earlier); n > 2 {
				t.Errorf("%d are remembered, want 2", n)
			}
		})
	})
	t.Run("a flood makes old challenges unusable, and none usable again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var u usedChallenges
			u.use("victim", now())
			victim, unused := now(), now()
			time.Sleep(time.Second)
			for i := range 3 * maxUsedChallenges {
				if !u.use(fmt.Sprint(i), now()+int64(i/maxUsedChallenges)) {
					t.Fatalf("challenge %d of the flood counts as used", i)
				}
			}
			if len(u.recent)+len(u.earlier) > 2*maxUsedChallenges {
				t.Errorf("%d are remembered", len(u.recent)+len(u.earlier))
			}
			if u.use("victim", victim) {
				t.Error("the flood made a used challenge usable again")
			}
			if u.use("unused", unused) {
				t.Error("a challenge as old as a forgotten one is usable")
			}
			if !u.use("new", now()+3) {
				t.Error("a new challenge is not usable")
			}
		})
	})
}
