package throttle

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/pintleauth/pintle/internal/recent"
)

// maxCounts bounds what is remembered of each kind, about 13 MB. To have one
// forgotten takes as many attempts, which other limits slow down.
const maxCounts = 1 << 16

// counts are attempts by the names of who makes them.
//
// Of each it keeps the time at which the next attempt would be one too many if
// they came at a steady rate, as the generic cell rate algorithm does: the
// attempts made are ahead of it.
type counts struct {
	mu     sync.Mutex
	byName recent.Map[[sha256.Size]byte, *time.Time]
}

// take counts an attempt and returns zero, or returns how long to wait.
func (c *counts) take(name string, l Limit) time.Duration {
	if l.Burst < 0 {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now, ahead := time.Now(), c.of(name)
	if ahead.Before(now) {
		*ahead = now
	}
	if wait := ahead.Sub(now) - time.Duration(l.Burst-1)*l.Every; wait > 0 {
		return wait
	}
	*ahead = ahead.Add(l.Every)
	return 0
}

// giveBack takes back an attempt that was counted.
func (c *counts) giveBack(name string, l Limit) {
	if l.Burst < 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	ahead := c.of(name)
	*ahead = ahead.Add(-l.Every)
}

// note remembers a name.
func (c *counts) note(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of(name)
}

// noted reports whether a name is remembered.
func (c *counts) noted(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.byName.Get(hash(name))
	return ok
}

// of returns the time of a name, a new one if there is none.
func (c *counts) of(name string) *time.Time {
	key := hash(name)
	ahead, ok := c.byName.Get(key)
	if !ok {
		ahead = new(time.Time)
		c.byName.Max = maxCounts
		c.byName.Put(key, ahead)
	}
	return ahead
}

// hash bounds what a name takes, and keeps out of memory what somebody typed
// into the wrong field.
func hash(name string) [sha256.Size]byte { return sha256.Sum256([]byte(name)) }
