package memstore

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/providersession"
)

// A sessionKey is the hash of a session's token, so that a dump of the memory
// holds no valid token.
type sessionKey [sha256.Size]byte

// hash is a part of the key, which is a hash itself. Nobody can choose it: Pintle
// makes the tokens, and whoever makes their own finds no row by the hash alone.
func (k sessionKey) hash() uint64 { return binary.LittleEndian.Uint64(k[:]) }

func keyOf(token string) sessionKey { return sha256.Sum256([]byte(token)) }

// A session is small, for there may be many: 80 bytes.
type session struct {
	key              sessionKey
	owner            *user
	expires, created int64 // in milliseconds
	data             *jsonText
	newer, older     *session // of the same user
}

func (s *session) copy() *pintle.StoredSession {
	c := &pintle.StoredSession{ID: s.key.handle(), UserID: s.owner.id(), Expires: instant(s.expires), Created: instant(s.created)}
	if s.data != nil {
		c.Data = s.data.decode()
	}
	return c
}

func (s *session) setData(data jsonText) {
	s.data = nil
	if data != "" {
		s.data = &data
	}
}

func instant(milliseconds int64) time.Time { return time.UnixMilli(milliseconds).UTC() }

// CreateSession implements [pintle.Store].
func (r records) CreateSession(ctx context.Context, s *pintle.StoredSession) error {
	data, err := encode(s.Data)
	if err != nil {
		return fmt.Errorf("memstore: create session: encode Data: %w", err)
	}
	key := keyOf(s.Token)
	if err := r.write(ctx); err != nil {
		return err
	}
	defer r.writeDone()
	row := &session{key: key, owner: r.users.get(s.UserID), expires: s.Expires.UnixMilli(), created: s.Created.UnixMilli()}
	row.setData(data)
	if r.sessions.get(key) != nil {
		return fmt.Errorf("memstore: create session: the token: %w", pintle.ErrConflict)
	}
	if row.owner == nil {
		return fmt.Errorf("memstore: create session: the user: %w", pintle.ErrNotFound)
	}
	r.addSession(row)
	r.undo(func() { r.removeSession(row) })
	return nil
}

func (r records) addSession(s *session) {
	r.sessions.add(s)
	s.newer, s.older = nil, s.owner.sessions
	if s.older != nil {
		s.older.newer = s
	}
	s.owner.sessions = s
}

func (r records) removeSession(s *session) {
	r.sessions.remove(s)
	if s.older != nil {
		s.older.newer = s.newer
	}
	if s.newer != nil {
		s.newer.older = s.older
	} else {
		s.owner.sessions = s.older
	}
}

// deleteSession removes a session, and what is kept of the sign-ins at providers that
// belong to it.
func (r records) deleteSession(s *session) {
	r.forgetSignIns(providersession.Key(s.key))
	r.removeSession(s)
	r.undo(func() { r.addSession(s) })
}

// SessionAndUser implements [pintle.Store].
func (r records) SessionAndUser(ctx context.Context, token string) (*pintle.StoredSession, *pintle.User, error) {
	key := keyOf(token)
	if err := r.read(ctx); err != nil {
		return nil, nil, err
	}
	defer r.readDone()
	row := r.sessions.get(key)
	if row == nil {
		return nil, nil, pintle.ErrNotFound
	}
	s := row.copy()
	s.Token = token
	return s, r.copyOf(row.owner), nil
}

// UpdateSession implements [pintle.Store].
func (r records) UpdateSession(ctx context.Context, token string, change pintle.SessionUpdate) error {
	data, err := encode(change.Data)
	if err != nil {
		return fmt.Errorf("memstore: update session: encode Data: %w", err)
	}
	key := keyOf(token)
	if err := r.write(ctx); err != nil {
		return err
	}
	defer r.writeDone()
	row := r.sessions.get(key)
	if row == nil {
		return pintle.ErrNotFound
	}
	expires, before := row.expires, row.data
	r.undo(func() { row.expires, row.data = expires, before })
	if !change.Expires.IsZero() {
		row.expires = change.Expires.UnixMilli()
	}
	if change.Data != nil {
		row.setData(data)
	}
	return nil
}

// DeleteSession implements [pintle.Store].
func (r records) DeleteSession(ctx context.Context, token string) (*pintle.StoredSession, error) {
	key := keyOf(token)
	if err := r.write(ctx); err != nil {
		return nil, err
	}
	defer r.writeDone()
	row := r.sessions.get(key)
	if row == nil {
		return nil, pintle.ErrNotFound
	}
	r.deleteSession(row)
	s := row.copy()
	s.Token = token
	return s, nil
}
