package throttle

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/pintleauth/pintle/internal/lru"
	"github.com/pintleauth/pintle/internal/tally"
)

const (
	// maxCounts bounds the names of each kind that are kept. An attacker needs
	// as many attempts to evict one of them, which other limits slow down.
	maxCounts = 1 << 16

	// maxMegabytes is the most memory of the counts of one kind, as documented
	// in docs/rate-limiting.md.
	maxMegabytes = 7
)

// counts are attempts by name: of an account, a client, an address.
//
// For each name it keeps the theoretical arrival time of the generic cell rate
// algorithm, which is in the future by one interval for each recent attempt.
type counts struct {
	mu     sync.Mutex
	start  time.Time // the start of the times in byName
	byName lru.Map[key, count]
}

type count struct {
	ahead time.Duration // for a name that is noted, when that was

	// refused is until when all processes together reject the name, and again when the shared
	// state is called again: other processes may give attempts back meanwhile. Until then a
	// client that is beyond its limit causes no call of the shared state.
	refused, again time.Duration
}

// A key is a hash of a name. It bounds the memory of a name, and keeps text that a
// user typed into the wrong field, such as a password, out of memory. 128 bits are
// enough, since a collision only lets two names share a limit.
type key [16]byte

func hash(name string) key {
	sum := sha256.Sum256([]byte(name))
	return key(sum[:16])
}

// take counts an attempt and returns zero, or returns how long to wait.
func (c *counts) take(name string, l Limit) time.Duration {
	if l.Burst < 0 {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now, k := c.now(), hash(name)
	known, _ := c.byName.Get(k)
	wait := known.wait(now, l)
	if wait <= 0 {
		known.ahead = max(known.ahead, now) + l.Every
	}
	c.byName.Put(k, known)
	return max(wait, 0)
}

// wait returns how long it takes until an attempt is allowed. It may be negative.
func (n count) wait(now time.Duration, l Limit) time.Duration {
	until := n.ahead - time.Duration(l.Burst-1)*l.Every
	if now < n.again {
		until = max(until, n.refused)
	}
	return until - now
}

// refuse rejects the attempts at a name for some time.
func (c *counts) refuse(name string, wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, k := c.now(), hash(name)
	known, _ := c.byName.Get(k)
	known.refused, known.again = now+wait, now+min(wait, tally.Recheck)
	c.byName.Put(k, known)
}

// wait returns the result of take without counting the attempt.
func (c *counts) wait(name string, l Limit) time.Duration {
	if l.Burst < 0 {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	known, _ := c.byName.Get(hash(name))
	return max(known.wait(now, l), 0)
}

// giveBack removes an attempt that was counted. shared says that the shared state has counted
// it, too: what that rejected it may then allow.
func (c *counts) giveBack(name string, l Limit, shared bool) {
	if l.Burst < 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k := hash(name)
	if known, ok := c.byName.Get(k); ok {
		known.ahead -= l.Every
		if shared {
			known.again = 0
		}
		c.byName.Put(k, known)
	}
}

// note stores a name, as one that was noted some time ago.
func (c *counts) note(name string, ago time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byName.Put(hash(name), count{ahead: c.now() - ago})
}

// notedFor reports whether a name is stored, and for how long.
func (c *counts) notedFor(name string) (age time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	known, ok := c.byName.Get(hash(name))
	return now - known.ahead, ok
}

// noted reports whether a name is stored.
func (c *counts) noted(name string) bool {
	_, ok := c.notedFor(name)
	return ok
}

// now returns the time since the first use.
func (c *counts) now() time.Duration {
	if c.start.IsZero() {
		c.start, c.byName.Max = time.Now(), maxCounts
	}
	return time.Since(c.start)
}
