package sqlstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"iter"
	"slices"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/providersession"
)

// handles writes and reads handles, each in one form only.
var handles = base64.RawURLEncoding.Strict()

// A tokenRow is what the column of tokens holds: a token, or its hash.
type tokenRow []byte

// handle returns what identifies the session to its owner: the hash of its
// token, which leads to no token.
func (t tokenRow) handle(r records) string {
	if r.tables.hashed {
		return handles.EncodeToString(t)
	}
	return handleOf(string(t))
}

// handleOf returns what identifies a session to its owner, of its token.
func handleOf(token string) string {
	return handle(sha256.Sum256([]byte(token)))
}

// handle is handleOf for the hash of a token.
func handle(hash [sha256.Size]byte) string {
	return string(handles.AppendEncode(make([]byte, 0, 2*len(hash)), hash[:]))
}

// UserSessions implements [pintle.Store]. The tokens of the yielded
// sessions are empty. The list is made when the loop begins: no connection is
// held while it runs.
func (r records) UserSessions(ctx context.Context, userID string) iter.Seq2[*pintle.StoredSession, error] {
	return func(yield func(*pintle.StoredSession, error) bool) {
		sessions, err := r.liveSessions(ctx, userID)
		if err != nil {
			yield(nil, r.fail(ctx, "list sessions", err))
			return
		}
		for _, s := range sessions {
			if !yield(s, nil) {
				return
			}
		}
	}
}

func (r records) liveSessions(ctx context.Context, userID string) (sessions []*pintle.StoredSession, err error) {
	owner, ok := r.tables.Users.ID.column(userID)
	if !ok {
		return nil, ctx.Err()
	}
	now := time.Now()
	err = r.each(ctx, func(scan func(...any) error) error {
		var row sessionRow
		var token tokenRow
		if err := scan(append([]any{(*[]byte)(&token)}, row.dest(r)...)...); err != nil {
			return err
		}
		// Compared here, since a column may hold times in several forms.
		if row.expires.After(now) {
			handle := token.handle(r)
			s := row.session("", handle)
			s.Handle = handle
			sessions = append(sessions, s)
		}
		return nil
	}, r.sql.userSessions, owner)
	if err == nil && r.tables.facts != nil {
		err = r.addFacts(ctx, userID, sessions)
	}
	slices.SortStableFunc(sessions, func(a, b *pintle.StoredSession) int {
		return cmp.Or(b.Created.Compare(a.Created), b.Expires.Compare(a.Expires))
	})
	return sessions, err
}

// EndSession implements [pintle.Store].
func (r records) EndSession(ctx context.Context, userID, handle string) error {
	owner, ok := r.tables.Users.ID.column(userID)
	if !ok {
		return r.absent(ctx)
	}
	key, err := r.byHandle(ctx, owner, handle)
	if err != nil {
		return r.fail(ctx, "end session", err)
	}
	return r.withRows(ctx, "end session", func(r records) error {
		n, err := r.exec(ctx, r.sql.endSession, owner, key)
		if err == nil && n == 0 {
			return pintle.ErrNotFound
		}
		hash, _ := handles.DecodeString(handle) // byHandle has found it
		if err == nil {
			err = r.forgetSignIns(ctx, providersession.Key(hash))
		}
		if err == nil && r.tables.facts != nil {
			err = r.deleteFacts(ctx, hash)
		}
		return r.fail(ctx, "end session", err)
	})
}

// byHandle returns what the column of tokens holds for a session of a user.
// If that is the token, the handle is found by hashing the user's tokens.
func (r records) byHandle(ctx context.Context, owner any, handle string) (key any, err error) {
	hash, err := handles.DecodeString(handle)
	if err != nil || len(hash) != sha256.Size {
		return nil, r.absent(ctx)
	}
	if r.tables.hashed {
		return hash, nil
	}
	err = r.each(ctx, func(scan func(...any) error) error {
		var token tokenRow
		if err := scan((*[]byte)(&token)); err != nil {
			return err
		}
		if token.handle(r) == handle {
			key = string(token)
		}
		return nil
	}, r.sql.sessionTokens, owner)
	if err == nil && key == nil {
		err = pintle.ErrNotFound
	}
	return key, err
}

// EndUserSessions implements [pintle.Store].
func (r records) EndUserSessions(ctx context.Context, userID, except string) (int, error) {
	owner, ok := r.tables.Users.ID.column(userID)
	if !ok {
		return 0, ctx.Err()
	}
	s, args := r.sql.endUserSessions, []any{owner}
	if key, ok := r.tokenColumn(except); ok && except != "" {
		s, args = r.sql.endUserSessionsExcept, append(args, key)
	}
	n := 0
	err := r.withRows(ctx, "end sessions", func(r records) (err error) {
		if n, err = r.exec(ctx, s, args...); err == nil {
			err = r.forgetUserSignIns(ctx, userID, except)
		}
		if err == nil && r.tables.facts != nil {
			err = r.pruneFacts(ctx, userID, owner)
		}
		return r.fail(ctx, "end sessions", err)
	})
	return n, err
}
