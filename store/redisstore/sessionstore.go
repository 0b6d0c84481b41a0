package redisstore

import (
	"context"
	"iter"

	"github.com/pintleauth/pintle"
	"github.com/redis/go-redis/v9"
)

// Users is what [Sessions] needs of the store that keeps the users. Every store
// of package sqlstore is one.
type Users interface {
	pintle.Store
	pintle.VerificationStore
	pintle.AuthenticatorStore
	pintle.AuthenticatorManager
	pintle.AccountStore
	pintle.UserDeleter
}

// A SessionStore keeps sessions in Redis and everything else in another store.
// Its methods may be called concurrently.
type SessionStore struct {
	Users
	sessions sessions
}

var (
	_ pintle.SessionStore  = (*SessionStore)(nil)
	_ pintle.SessionLister = (*SessionStore)(nil)
)

// Sessions returns a store that keeps its sessions in Redis and everything else
// in users: the look-ups that every request makes do not write to the database,
// and losing Redis ends all sessions but loses no user.
//
// Redis holds only the hash of each token, so its contents let no reader sign in.
// Auth.js cannot read these sessions. Of the options only BaseKeyPrefix,
// SessionKeyPrefix and SessionSetKeyPrefix are used.
//
// A session is not part of a transaction of users, so the store has none: a
// first sign-in that fails after it created the user removes the user again.
func Sessions(users Users, client redis.UniversalClient, o Options) *SessionStore {
	return &SessionStore{Users: users, sessions: sessions{client: client, keys: newKeys(o), hashed: true}}
}

// CreateSession implements [pintle.SessionStore].
func (s *SessionStore) CreateSession(ctx context.Context, session *pintle.StoredSession) error {
	return fail(ctx, "create session", s.sessions.createFor(ctx, session, func(ctx context.Context, userID string) error {
		_, err := s.User(ctx, userID)
		return err
	}))
}

// SessionAndUser implements [pintle.SessionStore]. It asks Redis and then the
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

// UpdateSession implements [pintle.SessionStore].
func (s *SessionStore) UpdateSession(ctx context.Context, token string, change pintle.SessionUpdate) error {
	return fail(ctx, "update session", s.sessions.update(ctx, token, change))
}

// DeleteSession implements [pintle.SessionStore].
func (s *SessionStore) DeleteSession(ctx context.Context, token string) (*pintle.StoredSession, error) {
	session, err := s.sessions.delete(ctx, token)
	return session, fail(ctx, "delete session", err)
}

// UserSessions implements [pintle.SessionLister]. The tokens of the yielded
// sessions are empty. No connection is held while the loop runs.
func (s *SessionStore) UserSessions(ctx context.Context, userID string) iter.Seq2[*pintle.StoredSession, error] {
	return s.sessions.yielded(ctx, userID)
}

// EndSession implements [pintle.SessionLister].
func (s *SessionStore) EndSession(ctx context.Context, userID, handle string) error {
	return fail(ctx, "end session", s.sessions.endOne(ctx, userID, handle))
}

// EndUserSessions implements [pintle.SessionLister].
func (s *SessionStore) EndUserSessions(ctx context.Context, userID, except string) (int, error) {
	n, err := s.sessions.endAll(ctx, userID, except)
	return n, fail(ctx, "end sessions", err)
}

// DeleteUser implements [pintle.UserDeleter]. The sessions end first. If Redis
// does not answer, the user is not deleted, because they could not be signed out.
func (s *SessionStore) DeleteUser(ctx context.Context, id string) error {
	if _, err := s.sessions.endAll(ctx, id, ""); err != nil {
		return fail(ctx, "delete user", err)
	}
	if err := s.Users.DeleteUser(ctx, id); err != nil {
		return err
	}
	// Those that began meanwhile, before the user was gone.
	_, err := s.sessions.endAll(ctx, id, "")
	return fail(ctx, "delete user", err)
}
