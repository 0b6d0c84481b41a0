package memstore

import (
	"context"
	"sync"
	"time"

	"github.com/pintleauth/pintle"
)

// Revocations is a [pintle.Revocation] in memory, for a program of one process.
// The zero value is empty and ready to use. When the process ends it forgets,
// and sessions it had ended are good again until they expire.
type Revocations struct {
	mu       sync.RWMutex
	sessions map[string]time.Time // until when to remember
	users    map[string]time.Time // sessions that began until then are over
}

var _ pintle.Revocation = (*Revocations)(nil)

// Revoked implements [pintle.Revocation].
func (r *Revocations) Revoked(ctx context.Context, userID, sessionID string, signedIn time.Time) (bool, error) {
	if err := ctx.Err(); err != nil {
		return true, err
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if _, ended := r.sessions[sessionID]; ended {
		return true, nil
	}
	end, ended := r.users[userID]
	return ended && !signedIn.After(end), nil
}

// Revoke implements [pintle.Revocation].
func (r *Revocations) Revoke(ctx context.Context, _, sessionID string, until time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sessions == nil {
		r.sessions = map[string]time.Time{}
	}
	r.sessions[sessionID] = until
	return nil
}

// RevokeUser implements [pintle.Revocation]. Tokens say when they began in whole
// seconds, so a session that begins in the same second is ended too.
func (r *Revocations) RevokeUser(ctx context.Context, userID string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.users == nil {
		r.users = map[string]time.Time{}
	}
	r.users[userID] = time.Now()
	return nil
}

// Sweep forgets the sessions that would have ended before the given time, and
// returns how many there were.
func (r *Revocations) Sweep(before time.Time) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for id, until := range r.sessions {
		if until.Before(before) {
			delete(r.sessions, id)
			n++
		}
	}
	return n
}
