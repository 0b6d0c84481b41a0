package throttle

import (
	"container/list"
	"crypto/sha256"
	"sync"
	"time"
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
	byName map[[sha256.Size]byte]*list.Element
	recent list.List // of *count, the most recent first
}

type count struct {
	name  [sha256.Size]byte
	ahead time.Time
}

// take counts an attempt and returns zero, or returns how long to wait.
func (c *counts) take(name string, l Limit) time.Duration {
	if l.Burst < 0 {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	n := c.of(name)
	if n.ahead.Before(now) {
		n.ahead = now
	}
	if wait := n.ahead.Sub(now) - time.Duration(l.Burst-1)*l.Every; wait > 0 {
		return wait
	}
	n.ahead = n.ahead.Add(l.Every)
	return 0
}

// giveBack takes back an attempt that was counted.
func (c *counts) giveBack(name string, l Limit) {
	if l.Burst < 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.of(name)
	n.ahead = n.ahead.Add(-l.Every)
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
	_, ok := c.byName[hash(name)]
	return ok
}

// of returns the count of a name, made if there is none.
func (c *counts) of(name string) *count {
	key := hash(name)
	if e, ok := c.byName[key]; ok {
		c.recent.MoveToFront(e)
		return e.Value.(*count)
	}
	if c.byName == nil {
		c.byName = map[[sha256.Size]byte]*list.Element{}
	}
	if len(c.byName) >= maxCounts {
		oldest := c.recent.Back()
		delete(c.byName, c.recent.Remove(oldest).(*count).name)
	}
	n := &count{name: key}
	c.byName[key] = c.recent.PushFront(n)
	return n
}

// hash bounds what a name takes, and keeps out of memory what somebody typed
// into the wrong field.
func hash(name string) [sha256.Size]byte { return sha256.Sum256([]byte(name)) }
