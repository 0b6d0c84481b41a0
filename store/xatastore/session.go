package xatastore

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"time"

	"github.com/pintleauth/pintle"
)

// CreateSession implements [pintle.Store].
func (s *Store) CreateSession(ctx context.Context, session *pintle.StoredSession) error {
	return fail(ctx, "create session", s.createSession(ctx, session))
}

func (s *Store) createSession(ctx context.Context, session *pintle.StoredSession) error {
	if err := storable(session.Token); err != nil || session.Token == "" {
		return errors.Join(ctx.Err(), errors.New("the token is not one that a record can have"), err)
	}
	if !isID(session.UserID) {
		return absent(ctx)
	}
	fields := record{"sessionToken": session.Token, "expires": instantText(session.Expires), "user": session.UserID}
	if s.client.Extended {
		data, err := objectText(session.Data)
		if err != nil {
			return err
		}
		fields["created"], fields["data"] = instantText(session.Created), data
	}
	// Both records of a session have one id, and two sessions with one token
	// the same.
	id := handleOf(session.Token)
	_, err := s.client.transaction(ctx,
		insertNew(s.names.sessions, id, fields),
		insertNew(s.names.userSessions, id, record{"user": session.UserID, "session": id}))
	no := refused(err)
	if no == nil {
		return err
	}
	there, look := s.findSession(ctx, session.Token)
	if errors.Is(look, pintle.ErrNotFound) {
		if missing := s.noUser(ctx, session.UserID); missing != nil {
			return missing
		}
		return err
	}
	if look != nil {
		return look
	}
	if no.maybeDone && there.id() == id && there.user.id() == session.UserID && there.Expires.Equal(session.Expires.Truncate(time.Millisecond)) {
		return nil // the attempt that got no answer was carried out
	}
	return pintle.ErrConflict
}

// A foundSession is a session as the service has it.
type foundSession struct {
	*pintle.StoredSession
	record record
	user   record // all of it, or nothing but its id
	began  time.Time
}

func (f foundSession) id() string { return f.record.id() }

// ours reports whether the session was stored by this package, so that its
// join record has the same id.
func (f foundSession) ours() bool {
	token, _ := f.record["sessionToken"].(string)
	return f.id() == handleOf(token)
}

// handleOf returns the handle of a session, with which no client can sign in. It
// is the id of the session's record, unless Auth.js has stored it.
func handleOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// findSession returns the session with the given token and its user. It fails
// with ErrNotFound when either is not there.
func (s *Store) findSession(ctx context.Context, token string) (foundSession, error) {
	if token == "" || storable(token) != nil {
		return foundSession{}, absent(ctx)
	}
	r, err := s.client.first(ctx, s.names.sessions, []string{"*", "user.*"},
		func(r record) bool { return r["sessionToken"] == token && r["user"] != nil }, condition{"sessionToken": token})
	if err != nil {
		return foundSession{}, err
	}
	if r == nil {
		return foundSession{}, pintle.ErrNotFound
	}
	return readSession(r)
}

// readSession takes a record of a session apart.
func readSession(r record) (foundSession, error) {
	c := &reader{record: r}
	f := foundSession{record: r, user: c.link("user"), began: c.metadata().instant("createdAt")}
	f.StoredSession = &pintle.StoredSession{ID: r.id(), Token: c.text("sessionToken"), UserID: f.user.id(), Expires: c.instant("expires"), Created: c.instant("created")}
	f.Data = c.object("data")
	if f.UserID == "" && c.err == nil {
		return foundSession{}, pintle.ErrNotFound
	}
	return f, c.err
}

// SessionAndUser implements [pintle.Store]. It is one request.
func (s *Store) SessionAndUser(ctx context.Context, token string) (*pintle.StoredSession, *pintle.User, error) {
	found, err := s.findSession(ctx, token)
	if err != nil {
		return nil, nil, fail(ctx, "find session", err)
	}
	u, err := s.user(found.user)
	if err != nil {
		return nil, nil, fail(ctx, "find session", err)
	}
	return found.StoredSession, u, nil
}

// UpdateSession implements [pintle.Store].
func (s *Store) UpdateSession(ctx context.Context, token string, change pintle.SessionUpdate) error {
	return fail(ctx, "update session", s.updateSession(ctx, token, change))
}

func (s *Store) updateSession(ctx context.Context, token string, change pintle.SessionUpdate) error {
	fields := record{}
	if !change.Expires.IsZero() {
		fields["expires"] = instantText(change.Expires)
	}
	if change.Data != nil && s.client.Extended {
		data, err := objectText(change.Data)
		if err != nil {
			return err
		}
		fields["data"] = data
	}
	found, err := s.findSession(ctx, token)
	if err != nil || len(fields) == 0 {
		return err
	}
	// A record that was removed meanwhile is missing, not made again.
	_, err = s.client.update(ctx, s.names.sessions, found.id(), fields)
	if none, _ := missing(err); none {
		return pintle.ErrNotFound
	}
	return err
}

// DeleteSession implements [pintle.Store]. After an attempt without an answer it
// may return [pintle.ErrNotFound] for a session that it removed.
func (s *Store) DeleteSession(ctx context.Context, token string) (*pintle.StoredSession, error) {
	found, err := s.findSession(ctx, token)
	if err != nil {
		return nil, fail(ctx, "delete session", err)
	}
	n, err := s.endSessions(ctx, found)
	if err != nil {
		return nil, fail(ctx, "delete session", err)
	}
	if n == 0 {
		return nil, absent(ctx)
	}
	return found.StoredSession, nil
}

// endSessions removes sessions with their join records, and returns how many of
// them it removed. After an attempt without an answer, a session that this call
// removed may not be counted. That is accepted: it has ended.
func (s *Store) endSessions(ctx context.Context, ended ...foundSession) (n int, err error) {
	const most = maxOperations / 4 // each has two operations, and seldom more
	for len(ended) > 0 {
		part := ended[:min(most, len(ended))]
		ended = ended[len(part):]
		joins, err := s.joinsOf(ctx, part)
		if err != nil {
			return n, err
		}
		operations := joins
		for _, session := range part {
			operations = append(operations, remove(s.names.sessions, session.id()))
		}
		rows, err := s.client.transaction(ctx, operations...)
		if err != nil {
			return n, err
		}
		for _, row := range rows[len(joins):] {
			n += row
		}
	}
	return n, nil
}

// joinsOf returns the removal of the join records of sessions. Those of Auth.js
// have random ids, which have to be looked up.
func (s *Store) joinsOf(ctx context.Context, sessions []foundSession) (removals []operation, err error) {
	var foreign []string
	for _, session := range sessions {
		if session.ours() {
			removals = append(removals, remove(s.names.userSessions, session.id()))
		} else {
			foreign = append(foreign, session.id())
		}
	}
	if len(foreign) == 0 {
		return removals, nil
	}
	joins, err := s.client.all(ctx, s.names.userSessions, []string{"session"}, condition{"session.id": map[string]any{"$any": foreign}})
	for _, join := range joins {
		removals = append(removals, remove(s.names.userSessions, join.id()))
	}
	return removals, err
}
