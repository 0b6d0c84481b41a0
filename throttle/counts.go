package throttle

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/pintleauth/pintle/internal/lru"
)

const (
	// maxCounts bounds the names of each kind that are kept. An attacker needs
	// as many attempts to evict one of them, which other limits slow down.
	maxCounts = 1 << 16

	// maxMegabytes is the most memory of the counts of one kind, as documented
	// in docs/passwords.md.
	maxMegabytes = 6
)

// counts are attempts by name: of an account, a client, an address.
//
// For each name it keeps the theoretical arrival time of the generic cell rate
// algorithm, which is in the future by one interval for each recent attempt.
type counts struct {
	mu     sync.Mutex
	start  time.Time // the start of the times in byName
	byName lru.Map[key, time.Duration]
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
	ahead, _ := c.byName.Get(k)
	ahead = max(ahead, now)
	wait := ahead - now - time.Duration(l.Burst-1)*l.Every
	if wait <= 0 {
		ahead += l.Every
	}
	c.byName.Put(k, ahead)
	return max(wait, 0)
}

// wait returns the result of take without counting the attempt.
func (c *counts) wait(name string, l Limit) time.Duration {
	if l.Burst < 0 {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	ahead, _ := c.byName.Get(hash(name))
	return max(ahead-now-time.Duration(l.Burst-1)*l.Every, 0)
}

// giveBack removes an attempt that was counted.
func (c *counts) giveBack(name string, l Limit) {
	if l.Burst < 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k := hash(name)
	if ahead, ok := c.byName.Get(k); ok {
		c.byName.Put(k, ahead-l.Every)
	}
}

// note stores a name.
func (c *counts) note(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now()
	c.byName.Put(hash(name), 0)
}

// noted reports whether a name is stored.
func (c *counts) noted(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.byName.Get(hash(name))
	return ok
}

// now returns the time since the first use.
func (c *counts) now() time.Duration {
	if c.start.IsZero() {
		c.start, c.byName.Max = time.Now(), maxCounts
	}
	return time.Since(c.start)
}
