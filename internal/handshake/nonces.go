package handshake

import (
	"sync"
	"time"
)

// nonces remembers confirmed assertions until they are rejected for their age.
// Only the provider can fill it, since it is consulted after a confirmation. If it
// is full all the same, the oldest nonce is dropped. The state, which is valid
// once and in one browser, still protects the sign-in then.
type nonces struct {
	mu    sync.Mutex
	seen  map[string]struct{}
	order []nonceTime // oldest first
}

type nonceTime struct {
	nonce string
	at    time.Time
}

// first reports whether nonce is new, and remembers it.
func (n *nonces) first(nonce string, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	// The time of a nonce may be before or after ours, so it is kept for
	// twice its maximum age.
	for len(n.order) > 0 && (now.Sub(n.order[0].at) > 2*openIDNonceAge || len(n.order) >= maxNonces) {
		delete(n.seen, n.order[0].nonce)
		n.order = n.order[1:]
	}
	if _, ok := n.seen[nonce]; ok {
		return false
	}
	if n.seen == nil {
		n.seen = make(map[string]struct{})
	}
	n.seen[nonce] = struct{}{}
	n.order = append(n.order, nonceTime{nonce, now})
	return true
}
