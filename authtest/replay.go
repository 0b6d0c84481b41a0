package authtest

import "time"

// replayed remembers values that must be used once, until they are rejected for
// their age.
type replayed map[string]time.Time

// first reports whether value is new, and remembers it until expires.
func (p *IdentityProvider) first(value string, expires time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	for old, until := range p.seen {
		if now.After(until) {
			delete(p.seen, old)
		}
	}
	if _, again := p.seen[value]; again {
		return false
	}
	p.seen[value] = expires
	return true
}
