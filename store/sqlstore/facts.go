package sqlstore

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// The data of the sessions of a shared layout, whose own table has no column for it, is
// in the table pintle_facts. A session whose row there is missing, or is that of another
// user, has no data. Auth.js deletes and extends sessions and leaves these rows as they
// are: Sweep removes those whose session is gone.

// factsRow is the data of a session as a row is read into it.
type factsRow struct {
	owner sql.NullString
	data  object
}

// of returns the data if the row is that of a user.
func (f *factsRow) of(userID string) map[string]any {
	if !f.owner.Valid || f.owner.String != userID {
		return nil
	}
	return f.data
}

// factsKey is what a row has instead of the token.
func factsKey(token string) []byte {
	hash := sha256.Sum256([]byte(token))
	return hash[:]
}

// withRows runs f, which ends sessions, in a transaction if there are tables for their
// data or for sign-ins at providers.
func (r records) withRows(ctx context.Context, operation string, f func(records) error) error {
	if r.tables.facts == nil && r.tables.signIns == nil {
		return f(r)
	}
	return r.inOneStep(ctx, operation, f)
}

// putFacts writes the data of a session. Without data it removes the row.
func (r records) putFacts(ctx context.Context, token, userID string, data any, expires time.Time) error {
	if data == nil {
		return r.deleteFacts(ctx, factsKey(token))
	}
	_, err := r.exec(ctx, r.sql.putFacts, factsKey(token), userID, data, expires.UnixMilli())
	return err
}

func (r records) deleteFacts(ctx context.Context, key []byte) error {
	_, err := r.exec(ctx, r.sql.deleteFacts, key)
	return err
}

// takeFacts returns the data of a session and removes its row.
func (r records) takeFacts(ctx context.Context, token, userID string) (map[string]any, error) {
	var row factsRow
	if err := r.one(ctx, []any{&row.owner, &row.data}, r.sql.facts, factsKey(token)); err != nil {
		if missing(err) {
			err = nil
		}
		return nil, err
	}
	return row.of(userID), r.deleteFacts(ctx, factsKey(token))
}

// userFacts returns the data of the sessions of a user by the hashes of their tokens.
func (r records) userFacts(ctx context.Context, userID string) (map[accountstore.Hash]map[string]any, error) {
	found := make(map[accountstore.Hash]map[string]any)
	err := r.each(ctx, func(scan func(...any) error) error {
		var session accountstore.Hash
		var data object
		err := scan((*hashColumn)(&session), &data)
		found[session] = data
		return err
	}, r.sql.userFacts, userID)
	return found, err
}

// addFacts adds their data to sessions of a user.
func (r records) addFacts(ctx context.Context, userID string, sessions []*pintle.StoredSession) error {
	if len(sessions) == 0 {
		return nil
	}
	found, err := r.userFacts(ctx, userID)
	for _, s := range sessions {
		hash, decoded := handles.DecodeString(s.Handle)
		if err = errors.Join(err, decoded); err == nil {
			s.Data = found[accountstore.Hash(hash)]
		}
	}
	return err
}

// pruneFacts removes the data of those sessions of a user that are gone. It reads the
// rows of the data first: the session of a row that it sees is there, or was deleted.
func (r records) pruneFacts(ctx context.Context, userID string, owner any) error {
	facts, err := r.userFacts(ctx, userID)
	if err != nil || len(facts) == 0 {
		return err
	}
	live, err := r.sessionEnds(ctx, owner)
	if err != nil {
		return err
	}
	for session := range facts {
		if _, found := live[session]; !found {
			if err := r.deleteFacts(ctx, session[:]); err != nil {
				return err
			}
		}
	}
	return nil
}

// sessionEnds returns when the sessions of a user expire, by the hashes of their tokens.
func (r records) sessionEnds(ctx context.Context, owner any) (map[accountstore.Hash]time.Time, error) {
	ends := make(map[accountstore.Hash]time.Time)
	err := r.each(ctx, func(scan func(...any) error) error {
		var row sessionRow
		var token tokenRow
		if err := scan(append([]any{(*[]byte)(&token)}, row.dest(r)...)...); err != nil {
			return err
		}
		ends[sha256.Sum256(token)] = row.expires.Time
		return nil
	}, r.sql.userSessions, owner)
	return ends, err
}

// A staleRow is a row of data whose session may be gone.
type staleRow struct {
	session accountstore.Hash
	userID  string
	expires int64
}

// sweepFacts removes at most limit rows whose session is gone, and returns how many. A
// row whose session is there is looked at again when the session expires.
func (r records) sweepFacts(ctx context.Context, before time.Time, limit int) (removed int, err error) {
	for removed < limit {
		stale, err := r.staleFacts(ctx, before, limit-removed)
		if err != nil || len(stale) == 0 {
			return removed, err
		}
		n, kept, err := r.dropStale(ctx, stale, before)
		removed += n
		if err != nil || kept > 0 && n == 0 {
			return removed, err // the sessions that are left have to be swept first
		}
	}
	return removed, nil
}

func (r records) staleFacts(ctx context.Context, before time.Time, limit int) (stale []staleRow, err error) {
	err = r.each(ctx, func(scan func(...any) error) error {
		var row staleRow
		err := scan((*hashColumn)(&row.session), &row.userID, &row.expires)
		stale = append(stale, row)
		return err
	}, r.sql.staleFacts, before.UnixMilli(), limit)
	return stale, err
}

// dropStale removes those of some rows whose session is gone, and returns how many. kept
// is how many stay as they are, because their session has expired and is there.
func (r records) dropStale(ctx context.Context, stale []staleRow, before time.Time) (removed, kept int, err error) {
	users := make(map[string]map[accountstore.Hash]time.Time)
	for _, row := range stale {
		ends, known := users[row.userID]
		if owner, ok := r.tables.Users.ID.column(row.userID); !known && ok {
			if ends, err = r.sessionEnds(ctx, owner); err != nil {
				return removed, kept, err
			}
			users[row.userID] = ends
		}
		expires, there := ends[row.session]
		var n int
		switch {
		case !there:
			n, err = r.exec(ctx, r.sql.dropFacts, row.session[:], row.expires)
			removed += n
		case expires.Before(before):
			kept++
		default:
			_, err = r.exec(ctx, r.sql.keepFacts, row.session[:], row.expires, expires.UnixMilli())
		}
		if err != nil {
			return removed, kept, err
		}
	}
	return removed, kept, nil
}
