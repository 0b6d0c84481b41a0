package redisstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/redis/go-redis/v9"
)

// hash returns the SHA-256 of a token as text. It leads to no token, and so
// may be shown to the session's owner as its handle.
func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func (s sessions) handle(name string) string {
	if s.hashed {
		return name
	}
	return hash(name)
}

// The set of a user's sessions has the time at which each expires as its
// score. It drops those that Redis forgot and ends with the last of the others.
var listSession = redis.NewScript(`
	local now, lingering = tonumber(ARGV[3]), tonumber(ARGV[4])
	redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. string.format('%.0f', now - lingering))
	redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
	local last = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')
	redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', math.max(tonumber(last[2]), now) + lingering))
	return 1`)

func (s sessions) list(ctx context.Context, userID, name string, expires time.Time) error {
	return listSession.Run(ctx, s.client, []string{s.keys.sessionSet(userID)},
		name, expires.UnixMilli(), time.Now().UnixMilli(), lingering.Milliseconds()).Err()
}

// listLast puts the last session that Auth.js created into its owner's set,
// because nothing else would lead to it once another is the last.
func (s sessions) listLast(ctx context.Context, userID string) error {
	last, err := s.client.Get(ctx, s.keys.lastSession(userID)).Result()
	if errors.Is(err, redis.Nil) {
		return nil
	}
	if err != nil {
		return err
	}
	name, _ := strings.CutPrefix(last, s.keys.SessionKeyPrefix)
	switch err := s.client.ZScore(ctx, s.keys.sessionSet(userID), name).Err(); {
	case err == nil:
		return nil
	case !errors.Is(err, redis.Nil):
		return err
	}
	row, _, err := s.find(ctx, name)
	switch {
	case errors.Is(err, redis.Nil):
		return nil
	case err != nil:
		return err
	case row.UserID != userID:
		return nil
	}
	return s.list(ctx, userID, name, row.Expires.Time)
}

// unlist takes a session out of the set of a user to whom it does not belong.
func (s sessions) unlist(ctx context.Context, key, name, userID string) error {
	row, _, err := s.find(ctx, name)
	if err == nil && row.UserID == userID {
		return nil
	}
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	return s.drop(ctx, userID, key, name)
}

// forget takes a session that was removed out of its owner's lists, and removes what is
// kept of the sign-ins at providers that belong to it.
func (s sessions) forget(ctx context.Context, userID, key, name string) error {
	return errors.Join(
		s.dropListed(ctx, s.keys.signInsOf(s.handle(name))), // which is the hash of the token
		s.drop(ctx, userID, key, name),
	)
}

// drop takes a session out of the lists of a user.
func (s sessions) drop(ctx context.Context, userID, key, name string) error {
	err := s.client.ZRem(ctx, s.keys.sessionSet(userID), name).Err()
	if s.hashed {
		return err
	}
	_, last := remove(ctx, s.client, s.keys.lastSession(userID), []byte(key))
	return errors.Join(err, last)
}

// names returns the names of a user's sessions, including that of the last one
// that Auth.js created.
func (s sessions) names(ctx context.Context, userID string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	names, err := s.client.ZRange(ctx, s.keys.sessionSet(userID), 0, -1).Result()
	if err != nil || s.hashed {
		return names, err
	}
	last, err := s.client.Get(ctx, s.keys.lastSession(userID)).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	name, ok := strings.CutPrefix(last, s.keys.SessionKeyPrefix)
	if err == nil && ok && !slices.Contains(names, name) {
		names = append(names, name)
	}
	return names, nil
}

// live returns the sessions of a user that have not expired, newest first.
func (s sessions) live(ctx context.Context, userID string) ([]*pintle.StoredSession, error) {
	names, err := s.names(ctx, userID)
	if err != nil {
		return nil, err
	}
	var live []*pintle.StoredSession
	now := time.Now()
	for _, name := range names {
		row, _, err := s.find(ctx, name)
		if errors.Is(err, redis.Nil) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if row.UserID != userID || !row.Expires.After(now) {
			continue
		}
		session := row.session("", s.handle(name))
		session.Handle = session.ID
		live = append(live, session)
	}
	slices.SortStableFunc(live, func(a, b *pintle.StoredSession) int {
		return cmp.Or(b.Created.Compare(a.Created), b.Expires.Compare(a.Expires))
	})
	return live, nil
}

// end removes a session of a user, and reports whether there was one.
func (s sessions) end(ctx context.Context, userID, name string) (bool, error) {
	for {
		row, text, err := s.find(ctx, name)
		if errors.Is(err, redis.Nil) || err == nil && row.UserID != userID {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		key, _ := s.keys.session(name)
		removed, err := remove(ctx, s.client, key, text)
		if err != nil {
			return false, err
		}
		if removed {
			return true, s.forget(ctx, userID, key, name)
		}
	}
}

func (s sessions) endOne(ctx context.Context, userID, handle string) error {
	names, err := s.names(ctx, userID)
	if err != nil {
		return err
	}
	for _, name := range names {
		if s.handle(name) != handle {
			continue
		}
		ended, err := s.end(ctx, userID, name)
		if err != nil || ended {
			return err
		}
	}
	return pintle.ErrNotFound
}

func (s sessions) endAll(ctx context.Context, userID, except string) (n int, err error) {
	names, err := s.names(ctx, userID)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if except != "" && name == s.name(except) {
			continue
		}
		ended, err := s.end(ctx, userID, name)
		if err != nil {
			return n, err
		}
		if ended {
			n++
		}
	}
	return n, nil
}

// yielded yields the sessions of a user. The list is made when the loop
// begins, and no connection is held while it runs.
func (s sessions) yielded(ctx context.Context, userID string) iter.Seq2[*pintle.StoredSession, error] {
	return func(yield func(*pintle.StoredSession, error) bool) {
		live, err := s.live(ctx, userID)
		if err != nil {
			yield(nil, fail(ctx, "list sessions", err))
			return
		}
		for _, session := range live {
			if !yield(session, nil) {
				return
			}
		}
	}
}

// UserSessions implements [pintle.Store]. The tokens of the yielded
// sessions are empty. No connection is held while the loop runs.
func (s *Store) UserSessions(ctx context.Context, userID string) iter.Seq2[*pintle.StoredSession, error] {
	return s.sessions.yielded(ctx, userID)
}

// EndSession implements [pintle.Store].
func (s *Store) EndSession(ctx context.Context, userID, handle string) error {
	return fail(ctx, "end session", s.sessions.endOne(ctx, userID, handle))
}

// EndUserSessions implements [pintle.Store].
func (s *Store) EndUserSessions(ctx context.Context, userID, except string) (int, error) {
	n, err := s.sessions.endAll(ctx, userID, except)
	return n, fail(ctx, "end sessions", err)
}
