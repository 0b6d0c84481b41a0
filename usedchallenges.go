package pintle

import (
	"crypto/sha256"
	"sync"
	"time"
)

// maxUsedChallenges bounds a generation of [usedChallenges]. Two of them take
// about five megabytes when they are full.
const maxUsedChallenges = 1 << 15

// usedChallenges remembers the challenges that were answered, so that none is
// answered twice. The cookie a challenge comes back in is all a server keeps of
// it, and whoever copied the cookie together with the answer could otherwise
// send both again while the challenge is good.
//
// The memory is that of one process. Where several serve one site, a copy may be
// good once at each of the others, unless the authenticator counts: the counter
// in the store is then too high for it.
type usedChallenges struct {
	mu sync.Mutex

	// Two generations, so that forgetting the expired ones needs no search:
	// when used, and to when they were issued in Unix seconds.
	begun           time.Time
	recent, earlier map[[sha256.Size]byte]int64

	// forgotten is when the last one was issued that was forgotten before it
	// expired, because somebody used up thousands. Whatever is as old counts as
	// used.
	forgotten int64
}

// use reports whether a challenge, which was issued at a time in Unix seconds,
// is used for the first time.
func (u *usedChallenges) use(challenge string, issued int64) bool {
	key, now := sha256.Sum256([]byte(challenge)), time.Now()
	u.mu.Lock()
	defer u.mu.Unlock()
	if now.Sub(u.begun) > checkMaxAge+clockTolerance {
		// Those of the earlier generation were used before this one began.
		u.turn(now)
	}
	if _, used := u.recent[key]; used {
		return false
	}
	if _, used := u.earlier[key]; used || issued <= u.forgotten {
		return false
	}
	if len(u.recent) >= maxUsedChallenges {
		for _, issued := range u.earlier {
			u.forgotten = max(u.forgotten, issued)
		}
		u.turn(now)
	}
	u.recent[key] = issued
	return true
}

func (u *usedChallenges) turn(now time.Time) {
	u.begun, u.earlier, u.recent = now, u.recent, map[[sha256.Size]byte]int64{}
}
