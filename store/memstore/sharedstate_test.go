package memstore_test

import (
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle/sharedstate"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/storetest"
)

func TestSharedStateKeepsEveryPromise(t *testing.T) {
	storetest.RunSharedState(t, func(*testing.T) sharedstate.Store { return &memstore.SharedState{} })
}

// A client that sends new values without end fills no memory, and no value becomes
// valid again for it.
func TestAFullSharedStateForgetsNothingBeforeItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 1 << 18
		var state memstore.SharedState
		until, minute := time.Now().Add(time.Minute), sharedstate.Rate{Burst: 1, Every: time.Minute}
		for i := range most {
			if first, err := state.Once(t.Context(), numbered(i), until); !first || err != nil {
				t.Fatalf("key %d: Once() = %t, %v, want the first", i, first, err)
			}
			if held, err := state.Lease(t.Context(), numbered(i), sharedstate.Owner{1}, time.Minute); !held || err != nil {
				t.Fatalf("key %d: Lease() = %t, %v, want the lease", i, held, err)
			}
			if wait, err := state.Take(t.Context(), numbered(i), minute); wait != 0 || err != nil {
				t.Fatalf("key %d: Take() = %v, %v, want an attempt that is allowed", i, wait, err)
			}
		}
		if first, err := state.Once(t.Context(), numbered(most), until); first || err == nil {
			t.Errorf("Once() of a full state = %t, %v, want an error", first, err)
		}
		if held, err := state.Lease(t.Context(), numbered(most), sharedstate.Owner{1}, time.Minute); held || err == nil {
			t.Errorf("Lease() of a full state = %t, %v, want an error", held, err)
		}
		if wait, err := state.Take(t.Context(), numbered(most), minute); wait != 0 || err == nil {
			t.Errorf("Take() of a full state = %v, %v, want an error", wait, err)
		}
		if wait, err := state.Take(t.Context(), numbered(0), minute); wait != time.Minute || err != nil {
			t.Errorf("Take() of the oldest count = %v, %v, want an attempt that is refused", wait, err)
		}
		if first, err := state.Once(t.Context(), numbered(0), until); first || err != nil {
			t.Errorf("Once() of the oldest key = %t, %v, want a key that was used", first, err)
		}
		if held, err := state.Lease(t.Context(), numbered(0), sharedstate.Owner{1}, time.Minute); !held || err != nil {
			t.Errorf("Lease() of the owner = %t, %v, want the lease", held, err)
		}
		time.Sleep(time.Minute)
		if first, err := state.Once(t.Context(), numbered(most), time.Now().Add(time.Minute)); !first || err != nil {
			t.Errorf("Once() after all have expired = %t, %v, want the first", first, err)
		}
		if wait, err := state.Take(t.Context(), numbered(most), minute); wait != 0 || err != nil {
			t.Errorf("Take() after all have expired = %v, %v, want an attempt that is allowed", wait, err)
		}
		if held, err := state.Lease(t.Context(), numbered(most), sharedstate.Owner{2}, time.Minute); !held || err != nil {
			t.Errorf("Lease() after all have expired = %t, %v, want the lease", held, err)
		}
	})
}

func numbered(i int) (k sharedstate.Key) {
	binary.BigEndian.PutUint64(k[:], uint64(i))
	return k
}
