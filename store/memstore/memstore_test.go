package memstore_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/storetest"
)

// RPT-81, RPT-82: among the promises are those about a session that its provider ends while it
// begins, is extended or is deleted, and about texts with any characters.
func TestStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) pintle.Store { return memstore.New() })
}

// The promise of the package documentation is for one session each, which is
// the most a user costs.
func TestAHundredThousandSessionsFitInto25MB(t *testing.T) {
	const n, most = 100_000, 25 << 20
	s := memstore.New()
	users := make([]string, n)
	for i := range users {
		u, err := s.CreateUser(t.Context(), &pintle.User{ID: fmt.Sprintf("user-%06d", i)})
		if err != nil {
			t.Fatal(err)
		}
		users[i] = u.ID
	}
	before := heap()
	expires := time.Now().Add(time.Hour)
	for i, id := range users {
		if err := s.CreateSession(t.Context(), &pintle.StoredSession{Token: fmt.Sprintf("%043d", i), UserID: id, Expires: expires}); err != nil {
			t.Fatal(err)
		}
	}
	grown := heap() - before
	t.Logf("%d sessions take %.1f MB", n, float64(grown)/(1<<20))
	if grown > most {
		t.Errorf("%d sessions take %d bytes, want at most %d", n, grown, most)
	}
	runtime.KeepAlive(s)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestSweepFreesTheMemory(t *testing.T) {
	s := memstore.New()
	u, err := s.CreateUser(t.Context(), &pintle.User{ID: "1"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		if err := s.CreateSession(t.Context(), &pintle.StoredSession{Token: fmt.Sprint(i), UserID: u.ID, Expires: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	n, err := s.Sweep(t.Context(), time.Now().Add(time.Second), 5000)
	if err != nil || n != 1000 {
		t.Errorf("Sweep() = %d, %v, want 1000", n, err)
	}
}

func BenchmarkSessionAndUser(b *testing.B) {
	s := memstore.New()
	tokens := make([]string, 100_000)
	for i := range tokens {
		u, err := s.CreateUser(b.Context(), &pintle.User{ID: fmt.Sprint(i), Email: fmt.Sprintf("%d@example.org", i)})
		if err != nil {
			b.Fatal(err)
		}
		tokens[i] = fmt.Sprintf("%043d", i)
		if err := s.CreateSession(b.Context(), &pintle.StoredSession{Token: tokens[i], UserID: u.ID, Expires: time.Now().Add(time.Hour)}); err != nil {
			b.Fatal(err)
		}
	}
	var next atomic.Int64
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		i := next.Add(1) * 7919
		for pb.Next() {
			i++
			if _, _, err := s.SessionAndUser(b.Context(), tokens[int(i)%len(tokens)]); err != nil {
				b.Fatal(err)
			}
		}
	})
}
