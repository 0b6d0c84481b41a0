package throttle

import (
	"encoding/binary"
	"runtime"
	"testing"
	"time"
)

// Names come from requests, so an attacker can fill the counts.
func TestFullCountsStayWithinTheDocumentedMemory(t *testing.T) {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	var c counts
	name := make([]byte, 8)
	for i := range uint64(3 * maxCounts) {
		binary.LittleEndian.PutUint64(name, i)
		c.take(string(name), Limit{Burst: 1, Every: time.Hour})
	}
	got := float64(heap()-before) / 1e6
	runtime.KeepAlive(&c)
	t.Logf("full counts take %.1f MB", got)
	if got > maxMegabytes {
		t.Errorf("full counts take %.1f MB, more than the %d of docs/rate-limiting.md", got, maxMegabytes)
	}
}
