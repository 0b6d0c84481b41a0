package password

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A flood of calls waits instead of taking memory, and ends with its requests.
func TestAFloodWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Hasher{Memory: 64, Passes: 1, Concurrent: 2}
		var release [2]func()
		for i := range release {
			var err error
			if release[i], err = h.acquire(t.Context(), 64); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := h.acquire(ctx, 64); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a third hash got in: %v", err)
		}
		release[0]()
		third, err := h.acquire(t.Context(), 64)
		if err != nil {
			t.Fatal(err)
		}
		third()

		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := h.acquire(ctx, maxMemory); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a costly hash got in beside another: %v", err)
		}
		release[1]()
		all, err := h.acquire(t.Context(), maxMemory)
		if err != nil {
			t.Fatal(err)
		}
		all()
	})
}

// No account has the empty password, even if another program stored its hash.
func TestAHashOfNothingMatchesNothing(t *testing.T) {
	h := &Hasher{Memory: 64, Passes: 1}
	s, err := h.fresh(t.Context(), params{64, 1, 1}, "")
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := h.Verify(t.Context(), s.String(), ""); ok || err != nil {
		t.Errorf("Verify = %t, %v", ok, err)
	}
}

// The time of an answer is made of the hash, and of reading the stored text.
func TestAHashIsReadWhereThereIsNone(t *testing.T) {
	h := dryHasher()
	allocations := func(hash string) float64 {
		return testing.AllocsPerRun(100, func() {
			if ok, err := h.Verify(t.Context(), hash, "password"); ok || err != nil {
				t.Errorf("Verify = %t, %v", ok, err)
			}
		})
	}
	known := allocations("$argon2id$v=19$m=64,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$" + strings.Repeat("B", 42) + "A")
	if none := allocations(""); none != known || none == 0 {
		t.Errorf("%v allocations without a hash, and %v with one", none, known)
	}
}
