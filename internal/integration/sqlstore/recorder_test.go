package sqlstore_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
	"testing"

	"github.com/pintleauth/pintle/internal/integration/services"
)

// A recorder opens a database through its driver and records the statements that
// are sent to it.
type recorder struct {
	driver driver.Driver
	dsn    string

	mu       sync.Mutex
	sent     []sentStatement
	prepared int // statements
}

type sentStatement struct {
	text string
	args []any
}

// record opens db once more, through a recorder.
func record(t testing.TB, db *services.Database) (*sql.DB, *recorder) {
	t.Helper()
	r := &recorder{driver: db.DB.Driver(), dsn: db.DSN}
	recorded := sql.OpenDB(r)
	t.Cleanup(func() {
		if err := recorded.Close(); err != nil {
			t.Error(err)
		}
	})
	return recorded, r
}

// take returns the statements since the last call.
func (r *recorder) take() []sentStatement {
	r.mu.Lock()
	defer r.mu.Unlock()
	sent := r.sent
	r.sent = nil
	return sent
}

func (r *recorder) note(text string, args []driver.NamedValue) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := sentStatement{text: text}
	for _, arg := range args {
		s.args = append(s.args, arg.Value)
	}
	r.sent = append(r.sent, s)
}

func (r *recorder) Driver() driver.Driver { return r.driver }

func (r *recorder) Connect(context.Context) (driver.Conn, error) {
	c, err := r.driver.Open(r.dsn)
	if err != nil {
		return nil, err
	}
	return recordedConn{c, r}, nil
}

type recordedConn struct {
	driver.Conn
	r *recorder
}

func (c recordedConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	s, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	c.r.prepared++
	return recordedStmt{s, text, c.r}, nil
}

func (c recordedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
}

func (c recordedConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.Conn.(driver.QueryerContext).QueryContext(ctx, text, args)
	if !errors.Is(err, driver.ErrSkip) {
		c.r.note(text, args)
	}
	return rows, err
}

func (c recordedConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	result, err := c.Conn.(driver.ExecerContext).ExecContext(ctx, text, args)
	if !errors.Is(err, driver.ErrSkip) {
		c.r.note(text, args)
	}
	return result, err
}

func (c recordedConn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.Conn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

type recordedStmt struct {
	driver.Stmt
	text string
	r    *recorder
}

func (s recordedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.r.note(s.text, args)
	return s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
}

func (s recordedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.r.note(s.text, args)
	return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

func (s recordedStmt) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := s.Stmt.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}
