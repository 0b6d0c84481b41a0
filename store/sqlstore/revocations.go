package sqlstore

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/providersession"
)

// Revocations is a [pintle.RevocationStore] in a database, for token sessions that
// several processes have to end:
//
//	Session: pintle.SessionConfig{
//		Strategy:   pintle.StrategyJWT,
//		Revocation: sqlstore.NewRevocations(db, sqlstore.PostgreSQL),
//	},
//
// It costs every signed-in request one look-up by a key. When the database does
// not answer, every request counts as signed out. The table is one of those that
// [Migrate] makes. Next to tables that are shared with Auth.js the file of
// [Migrations] that ends in _revocations.sql is enough.
//
// Its methods may be called concurrently.
type Revocations struct {
	records                             records
	revoked, marked, revoke, sweepStale *statement
}

var (
	_ pintle.RevocationStore = (*Revocations)(nil)
	_ providersession.Marker = (*Revocations)(nil)
)

// NewRevocations returns a list in the table pintle_revocations. It does not use
// the database yet. It panics if there is no such dialect.
func NewRevocations(db *sql.DB, d Dialect) *Revocations {
	if !d.known() {
		panic(fmt.Sprintf("sqlstore: NewRevocations: there is no %v: use PostgreSQL, MySQL or SQLite", d))
	}
	// Calls may be written in another order than they were made, so the mark only
	// moves forward.
	remember := "INSERT INTO pintle_revocations (id, ended, expires) VALUES ($1, $2, $3) "
	stale := "DELETE FROM pintle_revocations WHERE id IN (SELECT id FROM pintle_revocations WHERE expires < $1 ORDER BY expires LIMIT $2) AND expires < $1"
	switch d {
	case PostgreSQL:
		remember += "ON CONFLICT (id) DO UPDATE SET ended = GREATEST(pintle_revocations.ended, $2), expires = GREATEST(pintle_revocations.expires, $3)"
		stale = "WITH stale AS (SELECT id FROM pintle_revocations WHERE expires < $1 ORDER BY expires LIMIT $2 FOR UPDATE SKIP LOCKED) " +
			"DELETE FROM pintle_revocations WHERE id IN (SELECT id FROM stale) AND expires < $1" // chosen once, as in builder.sweepRows
	case MySQL:
		remember += "ON DUPLICATE KEY UPDATE ended = GREATEST(ended, $2), expires = GREATEST(expires, $3)"
		stale = "DELETE FROM pintle_revocations WHERE expires < $1 ORDER BY expires LIMIT $2"
	case SQLite:
		remember += "ON CONFLICT (id) DO UPDATE SET ended = MAX(ended, $2), expires = MAX(expires, $3)"
	}
	return &Revocations{
		records:    records{run: db, database: &database{db: db, dialect: d}},
		revoked:    d.statement("SELECT ended FROM pintle_revocations WHERE id IN ($1, $2) AND ended >= $3 LIMIT 1"),
		marked:     d.statement("SELECT ended FROM pintle_revocations WHERE id IN ($1, $2, $3, $4, $5) AND ended >= $6 LIMIT 1"),
		revoke:     d.statement(remember),
		sweepStale: d.statement(stale),
	}
}

// alwaysEnded stands for the time of a session that was ended by its id: it ends
// whenever it began.
const alwaysEnded = math.MaxInt64

// revocationKey is the key of a session, or of a user: a hash, because ids come
// out of tokens and may be of any length, and because the table should not show
// which user had which session.
func revocationKey(kind, userID, sessionID string) []byte {
	key := sha256.Sum256([]byte(kind + strconv.Itoa(len(userID)) + ":" + userID + sessionID))
	return key[:]
}

func userRevocationKey(userID string) []byte { return revocationKey("user", userID, "") }

func sessionRevocationKey(userID, sessionID string) []byte {
	return revocationKey("session", userID, sessionID)
}

func markRevocationKey(m providersession.Mark) []byte { return revocationKey("mark", string(m[:]), "") }

// Revoked implements [pintle.RevocationStore], in one round trip.
func (r *Revocations) Revoked(ctx context.Context, s pintle.TokenSession) (bool, error) {
	var began int64
	if !s.SignedIn.IsZero() {
		began = s.SignedIn.UnixMilli()
	}
	look, keys := r.revoked, []any{userRevocationKey(s.UserID), sessionRevocationKey(s.UserID, s.ID)}
	if s.Marks != ([3]providersession.Mark{}) {
		look = r.marked
		for _, m := range s.Marks {
			key := keys[0] // no mark: repeat a key that is searched anyway
			if m != (providersession.Mark{}) {
				key = markRevocationKey(m)
			}
			keys = append(keys, key)
		}
	}
	var ended int64
	err := r.records.one(ctx, []any{&ended}, look, append(keys, began)...)
	if missing(err) {
		return false, nil
	}
	return true, r.records.fail(ctx, "look for a revocation", err)
}

// Revoke implements [pintle.RevocationStore].
func (r *Revocations) Revoke(ctx context.Context, s pintle.TokenSession, until time.Time) error {
	return r.remember(ctx, "revoke session", sessionRevocationKey(s.UserID, s.ID), alwaysEnded, until)
}

// RevokeUser implements [pintle.RevocationStore]. Tokens hold their beginning in whole
// seconds, so a session that begins in the same second is ended too.
func (r *Revocations) RevokeUser(ctx context.Context, userID string, until time.Time) error {
	return r.remember(ctx, "revoke user", userRevocationKey(userID), time.Now().UnixMilli(), until)
}

// EndMarked implements [providersession.Marker].
func (r *Revocations) EndMarked(ctx context.Context, m providersession.Mark, ended, until time.Time) error {
	return r.remember(ctx, "end marked sessions", markRevocationKey(m), ended.UnixMilli(), until)
}

func (r *Revocations) remember(ctx context.Context, operation string, key []byte, ended int64, until time.Time) error {
	_, err := r.records.exec(ctx, r.revoke, key, ended, until.UnixMilli())
	return r.records.fail(ctx, operation, err)
}

// Sweep implements [pintle.Store]: it removes what may be forgotten. Call it
// as you call that of the [Store].
func (r *Revocations) Sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	if limit <= 0 {
		return 0, ctx.Err()
	}
	n, err := r.records.exec(ctx, r.sweepStale, before.UnixMilli(), limit)
	return n, r.records.fail(ctx, "sweep revocations", err)
}
