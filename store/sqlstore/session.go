package sqlstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/providersession"
)

// tokenColumn returns what the column of tokens holds for one, if it can.
func (r records) tokenColumn(token string) (value any, ok bool) {
	if r.tables.hashed {
		hash := sha256.Sum256([]byte(token))
		return hash[:], true
	}
	return token, storable(token)
}

// A sessionRow is a session as a row is read into it.
type sessionRow struct {
	id, owner        idText
	expires, created instant
	data             object
}

// dest is where the columns go, in the order of [builder.sessions].
func (s *sessionRow) dest(r records) []any {
	s.expires.wallClock, s.created.wallClock = r.dialect == MySQL, r.dialect == MySQL
	return r.tables.sessions.optional(append(make([]any, 0, 16), &s.owner), []optionalColumn{
		{"id", &s.id}, {"expires", &s.expires}, {"created", &s.created}, {"data", &s.data},
	})
}

// session returns the session that was read, with the handle as its id where
// the table has no column for one.
func (s *sessionRow) session(token, handle string) *pintle.StoredSession {
	session := new(pintle.StoredSession)
	s.into(session, token, handle)
	return session
}

func (s *sessionRow) into(session *pintle.StoredSession, token, handle string) {
	*session = pintle.StoredSession{Token: token, ID: cmp.Or(string(s.id), handle), UserID: string(s.owner), Expires: s.expires.Time, Created: s.created.Time, Data: s.data}
}

// CreateSession implements [pintle.Store].
func (r records) CreateSession(ctx context.Context, s *pintle.StoredSession) error {
	token, ok := r.tokenColumn(s.Token)
	if !ok {
		return r.fail(ctx, "create session", errNotText)
	}
	owner, ok := r.tables.Users.ID.column(s.UserID)
	if !ok {
		return r.absent(ctx)
	}
	data, err := object(s.Data).column()
	if err != nil {
		return r.fail(ctx, "create session", fmt.Errorf("encode Data: %w", err))
	}
	t := r.tables.sessions
	args := []any{token, owner, r.tables.Times.column(r.dialect, s.Expires)}
	if t.has("created") {
		args = append(args, r.tables.Times.column(r.dialect, s.Created))
	}
	if t.has("data") {
		args = append(args, data)
	}
	if t.makesID() {
		args = append(args, t.ID.propose(""))
	}
	args = r.touched(t, args)
	if r.tables.facts == nil || data == nil {
		return r.createOwned(ctx, "create session", r.sql.createSession, args...)
	}
	return r.inOneStep(ctx, "create session", func(r records) error {
		if err := r.createOwned(ctx, "create session", r.sql.createSession, args...); err != nil {
			return err
		}
		return r.fail(ctx, "create session: data", r.putFacts(ctx, s.Token, s.UserID, data, s.Expires))
	})
}

// UpdateSession implements [pintle.Store]. Data is ignored if the layout has no place
// for it.
func (r records) UpdateSession(ctx context.Context, token string, change pintle.SessionUpdate) error {
	key, ok := r.tokenColumn(token)
	if !ok {
		return r.absent(ctx)
	}
	mask, args := 0, []any{key}
	if !change.Expires.IsZero() {
		mask |= 1
		args = append(args, r.tables.Times.column(r.dialect, change.Expires))
	}
	if change.Data != nil && r.tables.facts != nil {
		return r.updateWithFacts(ctx, token, key, change)
	}
	if change.Data != nil && r.tables.sessions.has("data") {
		data, err := object(change.Data).column()
		if err != nil {
			return r.fail(ctx, "update session", fmt.Errorf("encode Data: %w", err))
		}
		mask |= 2
		args = append(args, data)
	}
	if mask != 0 {
		n, err := r.exec(ctx, r.sql.updateSession[mask], r.touched(r.tables.sessions, args)...)
		if err != nil || n > 0 {
			return r.fail(ctx, "update session", err)
		}
	}
	// MySQL does not count a row that had the values already, so look for it.
	var expires instant
	return r.fail(ctx, "update session", r.one(ctx, []any{&expires}, r.sql.sessionExists, key))
}

// updateWithFacts changes a session whose data is in the table of data. The row of the
// session is locked before, so that a call that deletes it waits and then removes both.
func (r records) updateWithFacts(ctx context.Context, token string, key any, change pintle.SessionUpdate) error {
	data, err := object(change.Data).column()
	if err != nil {
		return r.fail(ctx, "update session", fmt.Errorf("encode Data: %w", err))
	}
	change.Data = nil
	return r.inOneStep(ctx, "update session", func(r records) error {
		if err := r.UpdateSession(ctx, token, change); err != nil {
			return err
		}
		var owner idText
		expires := instant{wallClock: r.dialect == MySQL}
		err := r.one(ctx, []any{&owner, &expires}, r.sql.lockSession, key)
		if err == nil {
			err = r.putFacts(ctx, token, string(owner), data, expires.Time)
		}
		return r.fail(ctx, "update session: data", err)
	})
}

// DeleteSession implements [pintle.Store].
func (r records) DeleteSession(ctx context.Context, token string) (s *pintle.StoredSession, err error) {
	key, ok := r.tokenColumn(token)
	if !ok {
		return nil, r.absent(ctx)
	}
	err = r.withRows(ctx, "delete session", func(r records) (err error) {
		if s, err = r.deleteSession(ctx, token, key); err == nil {
			err = r.forgetSignIns(ctx, providersession.KeyOf(token))
		}
		if err != nil || r.tables.facts == nil {
			return r.fail(ctx, "delete session", err)
		}
		s.Data, err = r.takeFacts(ctx, token, s.UserID)
		return r.fail(ctx, "delete session: data", err)
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (r records) deleteSession(ctx context.Context, token string, key any) (*pintle.StoredSession, error) {
	var row sessionRow
	find := r.sql.deleteSession
	if !r.dialect.returning() {
		find = r.sql.session
	}
	err := r.one(ctx, row.dest(r), find, key)
	if err == nil && !r.dialect.returning() {
		var n int
		// Of several calls that read the row, one deletes it.
		if n, err = r.exec(ctx, r.sql.deleteSession, key); err == nil && n == 0 {
			return nil, pintle.ErrNotFound
		}
	}
	if err != nil {
		return nil, r.fail(ctx, "delete session", err)
	}
	return row.session(token, handleOf(token)), nil
}
