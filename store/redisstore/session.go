package redisstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/redis/go-redis/v9"
)

// sessions is the keys of sessions, whose users may be elsewhere.
type sessions struct {
	client redis.UniversalClient
	keys   keys
	hashed bool // keys hold the hashes of tokens, and none is shared with Auth.js
}

// A sessionRow is the value of a session's key. Its members are those of
// Auth.js, and two more.
type sessionRow struct {
	Token   string         `json:"sessionToken"`
	UserID  string         `json:"userId"`
	Expires date           `json:"expires"`
	Created *date          `json:"created,omitempty"`
	Data    map[string]any `json:"data,omitempty"`
}

func (r *sessionRow) session(token, id string) *pintle.StoredSession {
	s := &pintle.StoredSession{Token: token, ID: id, UserID: r.UserID, Expires: r.Expires.Time, Data: r.Data}
	if r.Created != nil {
		s.Created = r.Created.Time
	}
	return s
}

// name returns what a session is called in keys, lists and its own value.
func (s sessions) name(token string) string {
	if s.hashed {
		return hash(token)
	}
	return token
}

func (s sessions) create(ctx context.Context, session *pintle.StoredSession) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := storable(session.Token, session.UserID); err != nil {
		return err
	}
	name := s.name(session.Token)
	key, ok := s.keys.session(name)
	if !ok {
		return errors.New("the token is empty or begins with " + byUserID)
	}
	text, err := json.Marshal(newSessionRow(name, session)) //nolint:gosec // the row is what the store is for
	if err != nil {
		return err
	}
	if err := s.list(ctx, session.UserID, name, session.Expires); err != nil {
		return err
	}
	end := endOf(session.Expires)
	created, err := setNew(ctx, s.client, key, text, end)
	if err != nil {
		return err
	}
	if !created {
		return errors.Join(pintle.ErrConflict, s.unlist(ctx, key, name, session.UserID))
	}
	if s.hashed {
		return nil
	}
	if err := s.listLast(ctx, session.UserID); err != nil {
		return err
	}
	return s.client.SetArgs(ctx, s.keys.lastSession(session.UserID), key, redis.SetArgs{ExpireAt: end}).Err()
}

// createFor stores a session, and removes it again if stillThere does not find its
// user.
func (s sessions) createFor(ctx context.Context, session *pintle.StoredSession, stillThere func(ctx context.Context, userID string) error) error {
	if err := s.create(ctx, session); err != nil {
		return err
	}
	err := stillThere(ctx, session.UserID)
	if err == nil {
		return nil
	}
	ctx, cancel := cleanUp(ctx)
	defer cancel()
	_, undone := s.delete(ctx, session.Token)
	return errors.Join(err, undone)
}

func newSessionRow(name string, s *pintle.StoredSession) sessionRow {
	row := sessionRow{Token: name, UserID: s.UserID, Expires: date{s.Expires}, Data: s.Data}
	if !s.Created.IsZero() {
		row.Created = &date{s.Created}
	}
	return row
}

// find returns the session that has the given name and the text it was read
// from.
func (s sessions) find(ctx context.Context, name string) (*sessionRow, []byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	key, ok := s.keys.session(name)
	if !ok {
		return nil, nil, redis.Nil
	}
	text, err := s.client.Get(ctx, key).Bytes()
	if err != nil {
		return nil, nil, err
	}
	row, err := decodeSession(text)
	return row, text, err
}

func decodeSession(text []byte) (*sessionRow, error) {
	row := &sessionRow{}
	if err := unmarshal(text, row); err != nil {
		return nil, fmt.Errorf("read session: %w", err)
	}
	return row, nil
}

// update changes a session. Members it does not know stay: the session may be
// Auth.js's.
func (s sessions) update(ctx context.Context, token string, change pintle.SessionUpdate) error {
	name := s.name(token)
	for {
		row, old, err := s.find(ctx, name)
		if err != nil {
			return err
		}
		text, err := changed(old, change)
		if err != nil {
			return err
		}
		var end time.Time
		if !change.Expires.IsZero() {
			end = endOf(change.Expires)
			// The list first: a session is in it as long as it lives.
			if err := s.list(ctx, row.UserID, name, change.Expires); err != nil {
				return err
			}
		}
		key, _ := s.keys.session(name)
		written, err := replace(ctx, s.client, key, old, text, end)
		if err != nil || written {
			return err
		}
	}
}

func changed(text []byte, change pintle.SessionUpdate) ([]byte, error) {
	var members map[string]any
	if err := unmarshal(text, &members); err != nil {
		return nil, fmt.Errorf("read session: %w", err)
	}
	if !change.Expires.IsZero() {
		members["expires"] = date{change.Expires}
	}
	if change.Data != nil {
		members["data"] = change.Data
	}
	return json.Marshal(members)
}

// delete removes a session and returns it, or nil when it does not exist.
func (s sessions) delete(ctx context.Context, token string) (*pintle.StoredSession, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	name := s.name(token)
	key, ok := s.keys.session(name)
	if !ok {
		return nil, pintle.ErrNotFound
	}
	text, err := s.client.GetDel(ctx, key).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, pintle.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	row, err := decodeSession(text)
	if err != nil {
		return nil, err
	}
	return row.session(token, s.handle(name)), s.forget(ctx, row.UserID, key, name)
}

// CreateSession implements [pintle.Store].
func (s *Store) CreateSession(ctx context.Context, session *pintle.StoredSession) error {
	if !isUserID(session.UserID) {
		return absent(ctx)
	}
	return fail(ctx, "create session", s.sessions.createFor(ctx, session, s.stillThere))
}

// UpdateSession implements [pintle.Store].
func (s *Store) UpdateSession(ctx context.Context, token string, change pintle.SessionUpdate) error {
	return fail(ctx, "update session", s.sessions.update(ctx, token, change))
}

// DeleteSession implements [pintle.Store].
func (s *Store) DeleteSession(ctx context.Context, token string) (*pintle.StoredSession, error) {
	session, err := s.sessions.delete(ctx, token)
	return session, fail(ctx, "delete session", err)
}
