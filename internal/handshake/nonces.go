package handshake

import (
	"sync"
	"time"
)

// nonces remembers confirmed assertions until their time alone refuses them.
// Only the provider can fill it, since it is asked after a confirmation; when it
// is full all the same, the oldest goes. What stands behind it is the state,
// which is good once and in one browser.
type nonces struct {
	mu    sync.Mutex
	seen  map[string]struct{}
	order []nonceTime // oldest first
}

type nonceTime struct {
	nonce string
	at    time.Time
}

// first reports whether nonce was not seen before, and remembers it.
func (n *nonces) first(nonce string, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	// A nonce is accepted from before and after our now, so it is kept twice
	// as long as it may be old.
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
