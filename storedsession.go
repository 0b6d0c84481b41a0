package pintle

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/pintleauth/pintle/internal/cookie"
)

// storedSession reads a session that is kept in the database.
func (r *reading) storedSession() (*Session, error) {
	held, received := cookie.ReadChunked(r.req.Header, r.set.session.name)
	if held == "" && r.bearer() {
		held = bearerToken(r.req)
	}
	if held == "" {
		return nil, nil //nolint:nilnil // nil is the answer "nobody"
	}
	stored, user, err := r.liveSession(r.ctx, held)
	if err != nil {
		return nil, r.unanswered(codeSessionToken, err)
	}
	if stored == nil {
		r.end()
		return nil, nil //nolint:nilnil // nil is the answer "nobody"
	}
	s := &Session{User: *user, Expires: stored.Expires, stored: stored}
	if err := r.extend(s, received); err != nil {
		return nil, r.unanswered(codeSessionToken, err)
	}
	if err := r.show(s, nil); err != nil {
		r.lines = nil
		return nil, err
	}
	return s, nil
}

// liveSession returns the session with a token and its user, if it has not
// expired. One that has is removed.
func (s *settings) liveSession(ctx context.Context, held string) (*StoredSession, *User, error) {
	stored, user, err := s.records.sessionAndUser(ctx, held)
	if err != nil || stored == nil {
		return nil, nil, err
	}
	if stored.Expires.Before(time.Now()) || s.tooOld(stored.Created) {
		_, err := s.records.deleteSession(ctx, held)
		return nil, nil, err
	}
	return stored, user, nil
}

// extend moves the end of a database session when UpdateAge has passed since it
// was moved last.
func (r *reading) extend(s *Session, received []string) error {
	stored := s.stored
	now := time.Now().UTC().Truncate(time.Millisecond)
	expires := r.renewed(stored.Created)
	due := !stored.Expires.Add(-r.Session.MaxAge).Add(max(r.Session.UpdateAge, 0)).After(now)
	if r.renewal != renewNever && (due && expires.After(stored.Expires) || r.changes != nil) {
		change := SessionUpdate{Expires: expires.UTC().Truncate(time.Millisecond)}
		if r.changes != nil {
			change.Data = cloneMap(stored.Data)
			if change.Data == nil {
				change.Data = map[string]any{}
			}
			maps.Copy(change.Data, r.changes)
			stored.Data = change.Data
		}
		if err := r.records.sessions.UpdateSession(r.ctx, stored.Token, change); err != nil && !errors.Is(err, ErrNotFound) {
			err = storeError("updateSession", err)
			if r.renewal != renewDue || r.changes != nil {
				return err
			}
			// The session is good until it ends. A database that only reads for
			// a while, as in a failover, is no reason to turn somebody away.
			r.logReading(r.ctx, fail(codeSessionToken, err), true)
			due = false
		}
	} else {
		due = false
	}
	if r.renewal == renewAlways || (r.renewal == renewDue && due) {
		attrs := r.set.session.attrs
		attrs.Expires = expires
		r.lines = append(r.stalePartClearing(r.set, received), cookie.Line(r.set.session.name, stored.Token, attrs))
	}
	return nil
}
