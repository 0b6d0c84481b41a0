package redisstore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/redis/go-redis/v9"
)

// A SessionStore keeps sessions in Redis and everything else in another store.
// Its methods may be called concurrently.
type SessionStore struct {
	pintle.Store // of everything else
	sessions     sessions
}

var _ pintle.Store = (*SessionStore)(nil)

// Sessions returns a store that keeps its sessions in Redis and everything else
// in users: the look-ups that every request makes do not write to the database,
// and losing Redis ends all sessions but loses no user.
//
// Redis holds only the hash of each token, so its contents let no reader sign in.
// Auth.js cannot read these sessions. Of the options only BaseKeyPrefix,
// SessionKeyPrefix and SessionSetKeyPrefix are used, and AccountStoreKeyPrefix for
// [SessionStore.ProviderSessions].
//
// A session is not part of a transaction of users, so the store has none: a
// first sign-in that fails after it created the user removes the user again.
func Sessions(users pintle.Store, client redis.UniversalClient, o Options) *SessionStore {
	return &SessionStore{Store: users, sessions: sessions{client: client, keys: newKeys(o), hashed: true}}
}

// Features implements [pintle.Store]: those of the store of the users, with
// sessions and without transactions.
func (s *SessionStore) Features() pintle.Features {
	f := s.Store.Features()
	f.Sessions, f.SessionList, f.Transactions, f.Sweep = true, true, false, false
	return f
}

var (
	errNoTransaction = fmt.Errorf("redisstore: a session is not part of a transaction of the users: %w", errors.ErrUnsupported)
	errNoSweep       = fmt.Errorf("redisstore: sessions expire in Redis: for everything else call Sweep of the store of the users: %w", errors.ErrUnsupported)
)

// InTx fails with an error matching [errors.ErrUnsupported].
func (s *SessionStore) InTx(context.Context, func(pintle.Store) error) error { return errNoTransaction }

// Sweep fails with an error matching [errors.ErrUnsupported]. Sessions go by
// themselves, and the store of the users sweeps everything else.
func (s *SessionStore) Sweep(context.Context, time.Time, int) (int, error) { return 0, errNoSweep }

// CreateSession implements [pintle.Store].
func (s *SessionStore) CreateSession(ctx context.Context, session *pintle.StoredSession) error {
	return fail(ctx, "create session", s.sessions.createFor(ctx, session, func(ctx context.Context, userID string) error {
		_, err := s.User(ctx, userID)
		return err
	}))
}

// SessionAndUser implements [pintle.Store]. It asks Redis and then the
// store of the users.
func (s *SessionStore) SessionAndUser(ctx context.Context, token string) (*pintle.StoredSession, *pintle.User, error) {
	name := s.sessions.name(token)
	row, _, err := s.sessions.find(ctx, name)
	if err != nil {
		lookAgain(ctx, s.sessions.client, err)
		return nil, nil, fail(ctx, "find session", err)
	}
	u, err := s.User(ctx, row.UserID)
	if err != nil {
		return nil, nil, err
	}
	return row.session(token, s.sessions.handle(name)), u, nil
}

// UpdateSession implements [pintle.Store].
func (s *SessionStore) UpdateSession(ctx context.Context, token string, change pintle.SessionUpdate) error {
	return fail(ctx, "update session", s.sessions.update(ctx, token, change))
}

// DeleteSession implements [pintle.Store].
func (s *SessionStore) DeleteSession(ctx context.Context, token string) (*pintle.StoredSession, error) {
	session, err := s.sessions.delete(ctx, token)
	return session, fail(ctx, "delete session", err)
}

// UserSessions implements [pintle.Store]. The tokens of the yielded
// sessions are empty. No connection is held while the loop runs.
func (s *SessionStore) UserSessions(ctx context.Context, userID string) iter.Seq2[*pintle.StoredSession, error] {
	return s.sessions.yielded(ctx, userID)
}

// EndSession implements [pintle.Store].
func (s *SessionStore) EndSession(ctx context.Context, userID, handle string) error {
	return fail(ctx, "end session", s.sessions.endOne(ctx, userID, handle))
}

// EndUserSessions implements [pintle.Store].
func (s *SessionStore) EndUserSessions(ctx context.Context, userID, except string) (int, error) {
	n, err := s.sessions.endAll(ctx, userID, except)
	return n, fail(ctx, "end sessions", err)
}

// DeleteUser implements [pintle.Store]. The sessions end first. If Redis
// does not answer, the user is not deleted, because they could not be signed out.
func (s *SessionStore) DeleteUser(ctx context.Context, id string) error {
	if !s.Store.Features().DeleteUser {
		return s.Store.DeleteUser(ctx, id) // which fails, before any session ends
	}
	if _, err := s.sessions.endAll(ctx, id, ""); err != nil {
		return fail(ctx, "delete user", err)
	}
	deleted := s.Store.DeleteUser(ctx, id)
	if deleted != nil && !errors.Is(deleted, pintle.ErrNotFound) {
		return deleted
	}
	// Sessions that began before the user was deleted.
	if _, err := s.sessions.endAll(ctx, id, ""); err != nil {
		return fail(ctx, "delete user", err)
	}
	if err := s.sessions.forgetUserSignIns(ctx, id); err != nil {
		return fail(ctx, "delete user", err)
	}
	return deleted
}
