// Package recorder records the statements that a program sends to a database.
package recorder

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
	"testing"

	"github.com/pintleauth/pintle/internal/integration/services"
)

// A Recorder opens a database through its driver and records the statements that are sent
// to it. Its methods may be called concurrently.
type Recorder struct {
	driver driver.Driver
	dsn    string

	mu           sync.Mutex
	sent         []Statement
	prepared     int
	transactions []string
}

// A Statement was sent with its arguments.
type Statement struct {
	Text string
	Args []any
}

// Open opens db once more, through a recorder. It is closed when the test ends.
func Open(t testing.TB, db *services.Database) (*sql.DB, *Recorder) {
	t.Helper()
	r := &Recorder{driver: db.DB.Driver(), dsn: db.DSN}
	recorded := sql.OpenDB(r)
	t.Cleanup(func() {
		if err := recorded.Close(); err != nil {
			t.Error(err)
		}
	})
	return recorded, r
}

// Take returns the statements since the last call. Transactions are not among them.
func (r *Recorder) Take() []Statement {
	r.mu.Lock()
	defer r.mu.Unlock()
	sent := r.sent
	r.sent = nil
	return sent
}

// TakeTransactions returns what began and ended transactions since the last call: BEGIN,
// COMMIT and ROLLBACK, each of which is a round trip of its own.
func (r *Recorder) TakeTransactions() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	steps := r.transactions
	r.transactions = nil
	return steps
}

// Prepared returns how many statements were prepared since the recorder was opened.
func (r *Recorder) Prepared() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.prepared
}

func (r *Recorder) note(text string, args []driver.NamedValue) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Statement{Text: text}
	for _, arg := range args {
		s.Args = append(s.Args, arg.Value)
	}
	r.sent = append(r.sent, s)
}

func (r *Recorder) noteTransaction(step string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.transactions = append(r.transactions, step)
}

// Driver implements [driver.Connector].
func (r *Recorder) Driver() driver.Driver { return r.driver }

// Connect implements [driver.Connector].
func (r *Recorder) Connect(context.Context) (driver.Conn, error) {
	c, err := r.driver.Open(r.dsn)
	if err != nil {
		return nil, err
	}
	return recordedConn{c, r}, nil
}

type recordedConn struct {
	driver.Conn
	r *Recorder
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
	tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	c.r.noteTransaction("BEGIN")
	return recordedTx{tx, c.r}, nil
}

type recordedTx struct {
	driver.Tx
	r *Recorder
}

func (t recordedTx) Commit() error {
	t.r.noteTransaction("COMMIT")
	return t.Tx.Commit()
}

func (t recordedTx) Rollback() error {
	t.r.noteTransaction("ROLLBACK")
	return t.Tx.Rollback()
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
	r    *Recorder
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
