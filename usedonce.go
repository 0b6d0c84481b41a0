package pintle

import (
	"crypto/sha256"
	"sync"
	"time"
)

// maxUsed bounds a generation of [usedOnce]. Two of them take about five
// megabytes when they are full.
const maxUsed = 1 << 15

// usedLifetime is how long a value can be good after it was used: what a server
// issued whose clock is ahead expires later here, and clocks may differ when it
// is read as well.
const usedLifetime = checkMaxAge + 2*clockTolerance

// spent is what was used and must not be used again. Each kind has a memory of
// its own, so that a flood of one kind does not make another expire.
//
// The memory is that of one process, for all tenants of [NewFunc]. Where several
// processes serve one site, a copy of a browser's cookies works once at each of
// them. For passkeys the counter of an authenticator that counts stops that; for
// providers, that a code is redeemed once:
// https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2
type spent struct {
	// flows are the states of providers' responses, and the verifiers or nonces
	// of flows without a state.
	flows usedOnce

	// challenges are those of passkey ceremonies.
	challenges usedOnce
}

// usedOnce remembers random values that were used. The cookie that such a value
// comes back in is all a server keeps of it: an attacker with a copy of the
// cookie and of the response could send both again while the value is good. The
// zero value is ready for use, and its methods may be called concurrently.
type usedOnce struct {
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

// use reports whether a value, which was issued at a time in Unix seconds, is
// used for the first time.
func (u *usedOnce) use(value string, issued int64) bool {
	key, now := sha256.Sum256([]byte(value)), time.Now()
	u.mu.Lock()
	defer u.mu.Unlock()
	if now.Sub(u.begun) > usedLifetime {
		// Those of the earlier generation were used before this one began.
		u.turn(now)
	}
	if _, used := u.recent[key]; used {
		return false
	}
	if _, used := u.earlier[key]; used || issued <= u.forgotten {
		return false
	}
	if len(u.recent) >= maxUsed {
		for _, issued := range u.earlier {
			u.forgotten = max(u.forgotten, issued)
		}
		u.turn(now)
	}
	u.recent[key] = issued
	return true
}

func (u *usedOnce) turn(now time.Time) {
	u.begun, u.earlier, u.recent = now, u.recent, map[[sha256.Size]byte]int64{}
}
