package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
)

// A statement is SQL that is sent again and again.
type statement struct {
	text     string
	order    []int // of the arguments, nil if it is theirs
	once     bool  // not worth preparing: it is made for one call
	prepared atomic.Pointer[sql.Stmt]
}

func (d Dialect) statement(text string) *statement {
	s := &statement{}
	s.text, s.order = d.compile(text)
	return s
}

func (s *statement) arguments(args []any) []any {
	if s.order == nil {
		return args
	}
	ordered := make([]any, len(s.order))
	for i, n := range s.order {
		ordered[i] = args[n]
	}
	return ordered
}

// A runner is where statements run: a database, a transaction, or a connection
// that is in one.
type runner interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// prepare returns the statement prepared, or nil where it is to be sent as
// text.
//
// In a transaction there may be no second connection to prepare it on. And for
// PostgreSQL it is left to the driver: pgx prepares what it sends by itself,
// unless it is configured not to, because of a connection pooler.
func (r records) prepare(ctx context.Context, s *statement) (*sql.Stmt, error) {
	if r.tx || r.dialect == PostgreSQL || s.once {
		return nil, nil // as text
	}
	if p := s.prepared.Load(); p != nil {
		return p, nil
	}
	p, err := r.db.PrepareContext(ctx, s.text)
	if err != nil {
		return nil, err
	}
	if !s.prepared.CompareAndSwap(nil, p) {
		_ = p.Close() //nolint:sqlclosecheck // another call was faster; the statement that is kept stays open
		return s.prepared.Load(), nil
	}
	return p, nil
}

func (r records) query(ctx context.Context, s *statement, args ...any) (*sql.Rows, error) {
	p, err := r.prepare(ctx, s) //nolint:sqlclosecheck // it is kept
	switch {
	case err != nil:
		return nil, err
	case p != nil:
		return p.QueryContext(ctx, s.arguments(args)...)
	}
	return r.run.QueryContext(ctx, s.text, s.arguments(args)...)
}

// exec runs a statement and returns how many rows it changed.
func (r records) exec(ctx context.Context, s *statement, args ...any) (int, error) {
	result, err := r.result(ctx, s, args...)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}

func (r records) result(ctx context.Context, s *statement, args ...any) (sql.Result, error) {
	ctx, cancel := withStatementTimeout(ctx)
	defer cancel()
	return r.repeat(ctx, s, args...)
}

// repeat runs a statement, again after each lost race.
func (r records) repeat(ctx context.Context, s *statement, args ...any) (result sql.Result, err error) {
	err = r.again(ctx, func(r records) error {
		result, err = r.runOnce(ctx, s, args...)
		return err
	})
	return result, err
}

// again runs a statement. If it loses a race outside a transaction, it had no
// effect and runs again.
//
// A lone statement has the isolation level of the connection. From repeatable read
// on, PostgreSQL gives it up as often as the rows that it changes are changed while it
// waits for them. In a transaction of the store it changes them after the wait.
func (r records) again(ctx context.Context, run func(records) error) (err error) {
	for range attempts {
		err = run(r)
		if isLostRace(err) && r.dialect == PostgreSQL && !r.tx {
			err = r.atomically(ctx, "statement", run)
		}
		if r.tx || !isLostRace(err) {
			break
		}
	}
	return err
}

func isLostRace(err error) bool { return err != nil && (isRace(err) || errors.Is(err, errLostRace)) }

// attempts is how often an operation is tried that may lose a race.
const attempts = 10

func (r records) runOnce(ctx context.Context, s *statement, args ...any) (sql.Result, error) {
	p, err := r.prepare(ctx, s) //nolint:sqlclosecheck // it is kept
	switch {
	case err != nil:
		return nil, err
	case p != nil:
		return p.ExecContext(ctx, s.arguments(args)...)
	}
	return r.run.ExecContext(ctx, s.text, s.arguments(args)...)
}

// one reads the first row of a query into dest. Without a row it returns
// [sql.ErrNoRows].
func (r records) one(ctx context.Context, dest []any, s *statement, args ...any) error {
	ctx, cancel := withStatementTimeout(ctx)
	defer cancel()
	return r.again(ctx, func(r records) error { return r.first(ctx, dest, s, args...) })
}

func (r records) first(ctx context.Context, dest []any, s *statement, args ...any) error {
	return r.read(ctx, dest, s, args, true)
}

// row is first for a SELECT of SQLite, which has no more to say after the row.
func (r records) row(ctx context.Context, dest []any, s *statement, args ...any) error {
	return r.read(ctx, dest, s, args, false)
}

func (r records) read(ctx context.Context, dest []any, s *statement, args []any, toEnd bool) (err error) {
	rows, err := r.query(ctx, s, args...)
	if err != nil {
		return err
	}
	defer func() {
		if closed := rows.Close(); err == nil {
			err = closed
		}
	}()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return err
		}
		return sql.ErrNoRows
	}
	if err := rows.Scan(dest...); err != nil {
		return err
	}
	// The row is there when the statement has run to its end: what follows it
	// may be an error, of a DELETE … RETURNING for example.
	for toEnd && rows.Next() {
	}
	return rows.Err()
}
