package pintle

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"time"

	"github.com/pintleauth/pintle/internal/bearer"
	"github.com/pintleauth/pintle/internal/cookie"
)

// storedSession reads a session that is kept in the database.
func (r *reading) storedSession() (*Session, error) {
	stored, user, err := r.sessionOfCookie(r.ctx, r.req, r.set, r.liveSession)
	if err == nil && stored == nil && r.bearer() && cookie.ReadChunked(r.req.Header, r.set.session.name).Value() == "" {
		if text := bearer.Token(r.req.Header); text != "" {
			stored, user, err = r.liveSession(r.ctx, text)
		}
	}
	if isConflict(err) {
		return nil, fail(codeSessionToken, err) // with the cookies kept, see tokenSession
	}
	if err != nil {
		return nil, r.unanswered(codeSessionToken, err)
	}
	if stored == nil {
		r.end()
		return nil, nil // signed out
	}
	s := &Session{User: *user, Expires: stored.Expires, stored: stored}
	if err := r.extend(s); err != nil {
		return nil, r.unanswered(codeSessionToken, err)
	}
	if err := r.show(s, nil); err != nil {
		r.lines = nil
		return nil, err
	}
	return s, nil
}

// A storedUser is a session of the database and its user. Both are nil for a
// token that the database does not have.
type storedUser struct {
	session *StoredSession
	user    *User
}

// errNoSession says that a token opens no session.
var errNoSession = errors.New("the database has no session with the token")

// sessionOfCookie returns the session of the request's cookie as look finds it,
// or nil. A look-up that fails is an error also where another token opens: it
// could have been the one of another user.
func (s *settings) sessionOfCookie(ctx context.Context, r *http.Request, set *cookieSet, look func(ctx context.Context, token string) (*StoredSession, *User, error)) (*StoredSession, *User, error) {
	var failure error
	found, err := cookie.Open(r.Header, set.session.name, func(text string) (storedUser, error) {
		if text == "" {
			return storedUser{}, errNoSession
		}
		session, user, err := look(ctx, text)
		switch {
		case err != nil:
			failure = err
			return storedUser{}, err
		case session == nil:
			return storedUser{}, errNoSession
		}
		return storedUser{session, user}, nil
	}, func(a, b storedUser) bool { return a.session.UserID == b.session.UserID })
	switch {
	case failure != nil:
		return nil, nil, failure
	case errors.Is(err, errNoSession):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	}
	return found.session, found.user, nil
}

// liveSession returns the session with a token and its user, if it has not
// expired. One that has is removed.
func (s *settings) liveSession(ctx context.Context, held string) (*StoredSession, *User, error) {
	stored, user, err := s.records.sessionAndUser(ctx, held)
	if err == nil && stored == nil {
		s.noteForgotten(ctx)
	}
	if err != nil || stored == nil {
		return nil, nil, err
	}
	if stored.Expires.Before(time.Now()) || s.lifetime.Over(stored.Created, time.Now()) {
		s.log.debug(ctx, "session expired")
		_, err := s.records.deleteSession(ctx, held)
		return nil, nil, err
	}
	return stored, user, nil
}

// extend moves the end of a database session when UpdateAge has passed since it
// was moved last.
func (r *reading) extend(s *Session) error {
	stored := s.stored
	now := time.Now().UTC().Truncate(time.Millisecond)
	// With a negative UpdateAge a session is extended in the millisecond it began.
	expires := r.lifetime.Extended(stored.Created, time.Now())
	due := r.lifetime.Due(r.lifetime.LastExtended(stored.Expires), now)
	if r.renewal != renewNever && (due && expires.After(stored.Expires) || r.changes != nil) {
		change := SessionUpdate{Expires: expires.UTC().Truncate(time.Millisecond)}
		if r.changes != nil {
			change.Data = maps.Clone(stored.Data)
			if change.Data == nil {
				change.Data = map[string]any{}
			}
			maps.Copy(change.Data, r.changes)
			stored.Data = change.Data
		}
		if err := r.records.updateSession(r.ctx, stored.Token, change); err != nil && !errors.Is(err, ErrNotFound) {
			if r.renewal != renewDue || r.changes != nil {
				return err
			}
			// The session is good until it ends. A database that only reads for
			// a while, as in a failover, is no reason to turn somebody away.
			r.logReading(r.ctx, fail(codeSessionToken, err), true)
			due = false
		} else if err == nil {
			r.log.debug(r.ctx, "session extended")
		}
	} else {
		due = false
	}
	if r.renewal == renewAlways || (r.renewal == renewDue && due) {
		attrs := r.set.session.attrs
		attrs.Expires = expires
		r.lines = append(r.stalePartClearing(r.set, r.req.Header), cookie.Line(r.set.session.name, stored.Token, attrs))
	}
	return nil
}
