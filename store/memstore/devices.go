package memstore

import (
	"cmp"
	"context"
	"encoding/base64"
	"iter"
	"slices"
	"time"

	"github.com/pintleauth/pintle"
)

// A handle is the key of a session as text. It is a hash, which leads to no
// token.
func (k sessionKey) handle() string { return base64.RawURLEncoding.EncodeToString(k[:]) }

// UserSessions implements [pintle.Store]. The tokens of the yielded
// sessions are empty. The list is made when the loop begins, and no lock is
// held while it runs.
func (r records) UserSessions(ctx context.Context, userID string) iter.Seq2[*pintle.StoredSession, error] {
	return func(yield func(*pintle.StoredSession, error) bool) {
		sessions, err := r.liveSessions(ctx, userID)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, s := range sessions {
			if !yield(s, nil) {
				return
			}
		}
	}
}

func (r records) liveSessions(ctx context.Context, userID string) ([]*pintle.StoredSession, error) {
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	defer r.readDone()
	var sessions []*pintle.StoredSession
	now := time.Now().UnixMilli()
	for row := range r.sessionsOf(userID) {
		if row.expires > now {
			s := row.copy()
			s.Handle = row.key.handle()
			sessions = append(sessions, s)
		}
	}
	slices.SortStableFunc(sessions, func(a, b *pintle.StoredSession) int {
		return cmp.Or(b.Created.Compare(a.Created), b.Expires.Compare(a.Expires))
	})
	return sessions, nil
}

// sessionsOf yields the sessions of a user. The one that is yielded may be
// removed.
func (r records) sessionsOf(userID string) iter.Seq[*session] {
	return func(yield func(*session) bool) {
		owner := r.users.get(userID)
		if owner == nil {
			return
		}
		for row := owner.sessions; row != nil; {
			older := row.older
			if !yield(row) {
				return
			}
			row = older
		}
	}
}

// EndSession implements [pintle.Store].
func (r records) EndSession(ctx context.Context, userID, handle string) error {
	if err := r.write(ctx); err != nil {
		return err
	}
	defer r.writeDone()
	for row := range r.sessionsOf(userID) {
		if row.key.handle() == handle {
			r.deleteSession(row)
			return nil
		}
	}
	return pintle.ErrNotFound
}

// EndUserSessions implements [pintle.Store].
func (r records) EndUserSessions(ctx context.Context, userID, except string) (int, error) {
	keep := keyOf(except)
	if err := r.write(ctx); err != nil {
		return 0, err
	}
	defer r.writeDone()
	n := 0
	for row := range r.sessionsOf(userID) {
		if except == "" || row.key != keep {
			r.deleteSession(row)
			n++
		}
	}
	return n, nil
}
