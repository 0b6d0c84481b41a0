package throttle

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/pintleauth/pintle/internal/lru"
)

const (
	// maxCounts bounds the names that are remembered of each kind. To make the
	// guard forget one of them takes as many attempts, which other limits slow
	// down.
	maxCounts = 1 << 16

	// maxMegabytes is what the counts of one kind take at most, as
	// docs/passwords.md says.
	maxMegabytes = 6
)

// counts are attempts by the names of who makes them.
//
// Of each name it keeps the time at which the next attempt would be one too many
// if they came at a steady rate, as the generic cell rate algorithm does: the
// attempts made are ahead of it.
type counts struct {
	mu     sync.Mutex
	start  time.Time // which the times in byName are counted from
	byName lru.Map[key, time.Duration]
}

// A key is a hash of a name. It bounds what a name takes, and keeps text that a
// person typed into the wrong field out of memory. 128 bits are enough where a
// collision only lets two names share a limit.
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

// wait returns how long take would have to wait, and counts nothing.
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

// giveBack takes back an attempt that was counted.
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

// note remembers a name.
func (c *counts) note(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now()
	c.byName.Put(hash(name), 0)
}

// noted reports whether a name is remembered.
func (c *counts) noted(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.byName.Get(hash(name))
	return ok
}

// now is the time since the first use.
func (c *counts) now() time.Duration {
	if c.start.IsZero() {
		c.start, c.byName.Max = time.Now(), maxCounts
	}
	return time.Since(c.start)
}
