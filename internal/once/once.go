// Package once remembers random values that were used. The cookie that such a value
// comes back in is all a server keeps of it: an attacker with a copy of the cookie
// and of the response could send both again while the value is good.
package once

import (
	"crypto/sha256"
	"sync"
	"time"
)

// maxUsed bounds a generation of [Values]. Two of them take about five megabytes
// when they are full.
const maxUsed = 1 << 15

// Values are the used values of one kind. Two kinds need two of them, so that a flood
// of one kind does not make the other expire. Only [New] makes Values. Their methods
// may be called concurrently.
type Values struct {
	lifetime time.Duration

	mu sync.Mutex

	// Two generations, so that forgetting the expired ones needs no search:
	// when used, and to when they were issued in Unix seconds.
	begun           time.Time
	recent, earlier map[[sha256.Size]byte]int64

	// forgotten is when the last value was issued that was forgotten before it
	// expired, because thousands were used in its time. Whatever is as old counts
	// as used.
	forgotten int64
}

// New returns the values of a kind, of which none was used. lifetime is the longest
// time for which a value can be good after it was used.
func New(lifetime time.Duration) *Values { return &Values{lifetime: lifetime} }

// Use reports whether a value, which was issued at a time in Unix seconds, is used
// for the first time.
func (v *Values) Use(value string, issued int64) bool {
	key, now := sha256.Sum256([]byte(value)), time.Now()
	v.mu.Lock()
	defer v.mu.Unlock()
	if now.Sub(v.begun) > v.lifetime {
		// Those of the earlier generation were used before this one began.
		v.turn(now)
	}
	if _, used := v.recent[key]; used {
		return false
	}
	if _, used := v.earlier[key]; used || issued <= v.forgotten {
		return false
	}
	if len(v.recent) >= maxUsed {
		for _, issued := range v.earlier {
			v.forgotten = max(v.forgotten, issued)
		}
		v.turn(now)
	}
	v.recent[key] = issued
	return true
}

func (v *Values) turn(now time.Time) {
	v.begun, v.earlier, v.recent = now, v.recent, map[[sha256.Size]byte]int64{}
}
