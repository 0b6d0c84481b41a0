package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/pintleauth/pintle/sharedstate"
)

// A SharedState is a [sharedstate.Store] in a database. The tables are three of those that
// [Migrate] makes. Next to tables that are shared with Auth.js the files of [Migrations]
// that end in _sharedstate.sql and _counts.sql are enough.
//
// Its methods may be called concurrently.
type SharedState struct {
	sharedstate.Unimplemented
	records records
}

var _ sharedstate.Store = (*SharedState)(nil)

// NewSharedState returns a shared state in the tables pintle_once, pintle_leases and
// pintle_counts, for a site without a [Store]. It does not use the database yet. It panics if there is no
// such dialect.
func NewSharedState(db *sql.DB, d Dialect) *SharedState {
	if !d.known() {
		panic(fmt.Sprintf("sqlstore: NewSharedState: there is no %v: use PostgreSQL, MySQL or SQLite", d))
	}
	return &SharedState{records: New(db, d).records}
}

// atLeast is a time in milliseconds that is not before t.
func atLeast(t time.Time) int64 { return t.Add(time.Millisecond - 1).UnixMilli() }

// Once implements [sharedstate.Store], in one statement for a new key.
func (s *SharedState) Once(ctx context.Context, key sharedstate.Key, until time.Time) (bool, error) {
	first, err := s.once(ctx, key, until)
	return first, s.records.fail(ctx, "use a key once", err)
}

func (s *SharedState) once(ctx context.Context, key sharedstate.Key, until time.Time) (bool, error) {
	r := s.records
	first, err := r.makes(ctx, r.sql.once, key[:], atLeast(until))
	if err != nil || first || r.sql.forgetOnce == nil {
		return first, err
	}
	n, err := r.exec(ctx, r.sql.forgetOnce, key[:])
	if err != nil || n == 0 {
		return false, err
	}
	return r.makes(ctx, r.sql.once, key[:], atLeast(until))
}

// makes runs a statement and reports whether it has made or changed a row. In MySQL a
// row that is there is an error.
func (r records) makes(ctx context.Context, s *statement, args ...any) (bool, error) {
	n, err := r.exec(ctx, s, args...)
	if err != nil && r.dialect == MySQL && isDuplicate(err) {
		return false, nil
	}
	return err == nil && n > 0, err
}

// Lease implements [sharedstate.Store], in one statement for a lease that is free.
func (s *SharedState) Lease(ctx context.Context, key sharedstate.Key, owner sharedstate.Owner, d time.Duration) (bool, error) {
	held, err := s.lease(ctx, key, owner, max(d, time.Millisecond))
	return held, s.records.fail(ctx, "take a lease", err)
}

func (s *SharedState) lease(ctx context.Context, key sharedstate.Key, owner sharedstate.Owner, d time.Duration) (bool, error) {
	r := s.records
	if r.sql.addLease != nil {
		if held, err := r.makes(ctx, r.sql.addLease, key[:], owner[:], d.Milliseconds()); err != nil || held {
			return held, err
		}
	}
	held, err := r.makes(ctx, r.sql.takeLease, key[:], owner[:], d.Milliseconds())
	if err != nil || held || r.sql.ownLease == nil {
		return held, err
	}
	// MySQL does not count a row that had the values already, so look for it.
	var one int
	err = r.one(ctx, []any{&one}, r.sql.ownLease, key[:], owner[:])
	if missing(err) {
		return false, nil
	}
	return err == nil, err
}

// Release implements [sharedstate.Store].
func (s *SharedState) Release(ctx context.Context, key sharedstate.Key, owner sharedstate.Owner) error {
	_, err := s.records.exec(ctx, s.records.sql.releaseLease, key[:], owner[:])
	return s.records.fail(ctx, "release a lease", err)
}

// Take implements [sharedstate.Store], in one statement for an attempt that the rate allows. In
// MySQL a count that is there takes two.
func (s *SharedState) Take(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
	every, ahead := r.Milliseconds()
	wait, err := s.take(ctx, key, every, ahead)
	return wait, s.records.fail(ctx, "count an attempt", err)
}

func (s *SharedState) take(ctx context.Context, key sharedstate.Key, every, ahead int64) (time.Duration, error) {
	r := s.records
	for range attempts {
		if r.sql.addCount != nil {
			if made, err := r.makes(ctx, r.sql.addCount, key[:], every); err != nil || made {
				return 0, err
			}
		}
		if counted, err := r.makes(ctx, r.sql.take, key[:], every, ahead); err != nil || counted {
			return 0, err
		}
		// The count may be lower by now, or gone.
		left, err := s.left(ctx, key)
		if err != nil {
			return 0, err
		}
		if left > ahead+every { // the clock was set back
			if _, err := r.exec(ctx, r.sql.lower, key[:], ahead+every); err != nil {
				return 0, err
			}
			left = ahead + every
		}
		if left > ahead {
			return time.Duration(left-ahead) * time.Millisecond, nil
		}
	}
	return 0, errLostRace
}

// Wait implements [sharedstate.Store].
func (s *SharedState) Wait(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
	every, ahead := r.Milliseconds()
	left, err := s.left(ctx, key)
	if err != nil {
		return 0, s.records.fail(ctx, "look at a count", err)
	}
	return time.Duration(min(max(left-ahead, 0), every)) * time.Millisecond, nil
}

// left returns how far a count is ahead, in milliseconds. It is zero without one, and may be
// negative.
func (s *SharedState) left(ctx context.Context, key sharedstate.Key) (left int64, err error) {
	err = s.records.one(ctx, []any{&left}, s.records.sql.count, key[:])
	if missing(err) {
		return 0, ctx.Err()
	}
	return left, err
}

// GiveBack implements [sharedstate.Store].
func (s *SharedState) GiveBack(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) error {
	every, _ := r.Milliseconds()
	_, err := s.records.exec(ctx, s.records.sql.giveBack, key[:], every)
	return s.records.fail(ctx, "give an attempt back", err)
}

// Sweep removes keys, leases and counts that have expired, by the clock of the database and
// before a time, as [Store.Sweep] does. Call it if you do not call that one.
func (s *SharedState) Sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	total := 0
	for _, sweep := range []*statement{s.records.sql.sweepOnce, s.records.sql.sweepLeases, s.records.sql.sweepCounts} {
		if total >= limit {
			break
		}
		n, err := s.records.exec(ctx, sweep, before.UnixMilli(), limit-total)
		if err != nil {
			return total, s.records.fail(ctx, "sweep the shared state", err)
		}
		total += n
	}
	return total, ctx.Err()
}

// now is an expression for the time of the database, in milliseconds since 1970: when the
// row is read, in PostgreSQL, and when the statement began, in the others. It is in UTC,
// because a local time occurs twice when summer time ends.
func (d Dialect) now() string {
	switch d {
	case PostgreSQL:
		return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS bigint)"
	case MySQL:
		return "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000"
	}
	return "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
}

// greater is the name of the function that returns the greater of two numbers.
func (d Dialect) greater() string {
	if d == SQLite {
		return "MAX"
	}
	return "GREATEST"
}

// sharedRows adds the statements of the shared state.
func (b builder) sharedRows(q *queries) {
	o, l, now := b.once, b.leases, b.Dialect.now()
	id, expires, owner := o.columns["id"], o.columns["expires"], l.columns["owner"]
	expired := fmt.Sprintf(" AND %s <= %s", expires, now)
	once := fmt.Sprintf("INSERT INTO %s AS t (%s, %s) VALUES ($1, $2) ON CONFLICT (%[2]s) DO UPDATE SET %[3]s = $2 WHERE t.%[3]s <= %[4]s", o.quoted, id, expires, now)
	lease := fmt.Sprintf("INSERT INTO %s AS t (%s, %s, %s) VALUES ($1, $2, %[5]s + $3) ON CONFLICT (%[2]s) DO UPDATE SET %[3]s = $2, %[4]s = %[5]s + $3 "+
		"WHERE t.%[3]s = $2 OR t.%[4]s <= %[5]s", l.quoted, id, owner, expires, now)
	if b.Dialect == MySQL {
		// ON DUPLICATE KEY UPDATE has no condition, and what it counts depends on a
		// setting of the connection.
		// https://dev.mysql.com/doc/refman/8.4/en/insert-on-duplicate.html
		once = fmt.Sprintf("INSERT INTO %s (%s, %s) VALUES ($1, $2)", o.quoted, id, expires)
		lease = fmt.Sprintf("UPDATE %s SET %s = $2, %s = %s + $3 WHERE %s = $1 AND (%[2]s = $2 OR %[3]s <= %[4]s)", l.quoted, owner, expires, now, id)
		q.forgetOnce = b.statement("DELETE FROM %s WHERE %s = $1%s", o.quoted, id, expired)
		q.addLease = b.statement("INSERT INTO %s (%s, %s, %s) VALUES ($1, $2, %s + $3)", l.quoted, id, owner, expires, now)
		q.ownLease = b.statement("SELECT 1 FROM %s WHERE %s = $1 AND %s = $2 AND %s > %s", l.quoted, id, owner, expires, now)
	}
	q.once, q.takeLease = b.Dialect.statement(once), b.Dialect.statement(lease)
	q.releaseLease = b.statement("DELETE FROM %s WHERE %s = $1 AND %s = $2", l.quoted, id, owner)
	// A process whose clock is ahead forgets nothing before its time.
	q.sweepOnce = b.sweepRows(o, expired, id)
	q.sweepLeases = b.sweepRows(l, expired, id)
	b.countRows(q, expired)
}

// countRows adds the statements of counts. What now returns may differ within a statement,
// by less than a count can tell.
func (b builder) countRows(q *queries, expired string) {
	c, now, greater := b.counts, b.Dialect.now(), b.Dialect.greater()
	id, expires := c.columns["id"], c.columns["expires"]
	take := fmt.Sprintf("INSERT INTO %s AS t (%s, %s) VALUES ($1, %[4]s + $2) ON CONFLICT (%[2]s) DO UPDATE SET %[3]s = %[5]s(t.%[3]s, %[4]s) + $2 "+
		"WHERE t.%[3]s <= %[4]s + $3", c.quoted, id, expires, now, greater)
	if b.Dialect == MySQL {
		take = fmt.Sprintf("UPDATE %[1]s SET %[2]s = %[3]s(%[2]s, %[4]s) + $2 WHERE %[5]s = $1 AND %[2]s <= %[4]s + $3", c.quoted, expires, greater, now, id)
		q.addCount = b.statement("INSERT INTO %s (%s, %s) VALUES ($1, %s + $2)", c.quoted, id, expires, now)
	}
	q.take = b.Dialect.statement(take)
	q.count = b.statement("SELECT %s - %s FROM %s WHERE %s = $1", expires, now, c.quoted, id)
	q.lower = b.statement("UPDATE %[1]s SET %[2]s = %[3]s + $2 WHERE %[4]s = $1 AND %[2]s > %[3]s + $2", c.quoted, expires, now, id)
	q.giveBack = b.statement("UPDATE %[1]s SET %[2]s = %[2]s - $2 WHERE %[3]s = $1", c.quoted, expires, id)
	q.sweepCounts = b.sweepRows(c, expired, id)
}
