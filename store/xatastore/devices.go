package xatastore

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/pintleauth/pintle"
)

// userSessions returns every session of a user, expired or not.
func (s *Store) userSessions(ctx context.Context, userID string) ([]foundSession, error) {
	if !isID(userID) {
		return nil, ctx.Err()
	}
	var sessions []foundSession
	for r, err := range s.client.query(ctx, s.names.sessions, []string{"*"}, condition{"user.id": userID}) {
		if err != nil {
			return nil, err
		}
		found, err := readSession(r)
		if errors.Is(err, pintle.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if found.UserID == userID {
			sessions = append(sessions, found)
		}
	}
	return sessions, nil
}

// UserSessions implements [pintle.Store]. The tokens of the yielded
// sessions are empty. The list is made when the loop begins. Where sessions have no column for the time of
// sign-in they are in the order in which they were stored.
func (s *Store) UserSessions(ctx context.Context, userID string) iter.Seq2[*pintle.StoredSession, error] {
	return func(yield func(*pintle.StoredSession, error) bool) {
		sessions, err := s.userSessions(ctx, userID)
		if err != nil {
			yield(nil, fail(ctx, "list sessions", err))
			return
		}
		slices.SortStableFunc(sessions, func(a, b foundSession) int {
			return cmp.Or(b.Created.Compare(a.Created), b.began.Compare(a.began))
		})
		now := time.Now()
		for _, session := range sessions {
			if !session.Expires.After(now) {
				continue
			}
			session.Token, session.Handle = "", handleOf(session.Token)
			if !yield(session.StoredSession, nil) {
				return
			}
		}
	}
}

// EndSession implements [pintle.Store].
func (s *Store) EndSession(ctx context.Context, userID, handle string) error {
	if !isID(handle) || !isID(userID) {
		return absent(ctx)
	}
	sessions, err := s.userSessions(ctx, userID)
	if err != nil {
		return fail(ctx, "end session", err)
	}
	sessions = slices.DeleteFunc(sessions, func(f foundSession) bool { return handleOf(f.Token) != handle })
	n, err := s.endSessions(ctx, sessions...)
	if err == nil && n == 0 {
		return pintle.ErrNotFound
	}
	return fail(ctx, "end session", err)
}

// EndUserSessions implements [pintle.Store].
func (s *Store) EndUserSessions(ctx context.Context, userID, except string) (int, error) {
	sessions, err := s.userSessions(ctx, userID)
	if err != nil {
		return 0, fail(ctx, "end sessions", err)
	}
	sessions = slices.DeleteFunc(sessions, func(f foundSession) bool { return except != "" && f.Token == except })
	n, err := s.endSessions(ctx, sessions...)
	return n, fail(ctx, "end sessions", err)
}
