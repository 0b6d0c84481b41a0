package memstore

import (
	"context"
	"sync"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/providersession"
)

// Revocations is a [pintle.RevocationStore] in memory, for a program of one process.
// The zero value is empty and ready to use. When the process ends the list is
// lost, and the sessions in it are valid again until they expire.
type Revocations struct {
	mu       sync.RWMutex
	sessions map[revokedSession]time.Time // until when to remember
	users    map[string]revokedUser
	marks    map[providersession.Mark]revokedUser
}

type revokedSession struct{ user, id string }

// A revokedUser is a user, or a mark, whose sessions that began until end are ended.
type revokedUser struct{ end, until time.Time }

var (
	_ pintle.RevocationStore = (*Revocations)(nil)
	_ providersession.Marker = (*Revocations)(nil)
)

// Revoked implements [pintle.RevocationStore].
func (r *Revocations) Revoked(ctx context.Context, s pintle.TokenSession) (bool, error) {
	if err := ctx.Err(); err != nil {
		return true, err
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if _, ended := r.sessions[revokedSession{s.UserID, s.ID}]; ended {
		return true, nil
	}
	if user, ended := r.users[s.UserID]; ended && !s.SignedIn.After(user.end) {
		return true, nil
	}
	for _, m := range s.Marks {
		if mark, ended := r.marks[m]; ended && !s.SignedIn.After(mark.end) {
			return true, nil
		}
	}
	return false, nil
}

// Revoke implements [pintle.RevocationStore].
func (r *Revocations) Revoke(ctx context.Context, s pintle.TokenSession, until time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sessions == nil {
		r.sessions = map[revokedSession]time.Time{}
	}
	key := revokedSession{s.UserID, s.ID}
	r.sessions[key] = later(r.sessions[key], until)
	return nil
}

// RevokeUser implements [pintle.RevocationStore]. Tokens hold their beginning in whole
// seconds, so a session that begins in the same second is ended too.
func (r *Revocations) RevokeUser(ctx context.Context, userID string, until time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.users == nil {
		r.users = map[string]revokedUser{}
	}
	before := r.users[userID]
	r.users[userID] = revokedUser{later(before.end, time.Now()), later(before.until, until)}
	return nil
}

// EndMarked implements [providersession.Marker].
func (r *Revocations) EndMarked(ctx context.Context, m providersession.Mark, ended, until time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.marks == nil {
		r.marks = map[providersession.Mark]revokedUser{}
	}
	before := r.marks[m]
	r.marks[m] = revokedUser{later(before.end, ended), later(before.until, until)}
	return nil
}

// Sweep implements [pintle.Store]: it forgets what may be forgotten.
func (r *Revocations) Sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for key, until := range r.sessions {
		if n < limit && until.Before(before) {
			delete(r.sessions, key)
			n++
		}
	}
	for id, user := range r.users {
		if n < limit && user.until.Before(before) {
			delete(r.users, id)
			n++
		}
	}
	for m, mark := range r.marks {
		if n < limit && mark.until.Before(before) {
			delete(r.marks, m)
			n++
		}
	}
	return n, nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
