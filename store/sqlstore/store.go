package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"sync"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/sharedstate"
)

// A Store is a store in a database. Its methods may be called concurrently.
// The handle remains the host's: the store does not close it.
//
// A method fails when its context ends, and when the database has not answered
// a statement for ten seconds, fifteen at most for [Store.SessionAndUser];
// [Store.Sweep] may take longer.
type Store struct{ records }

var (
	_ pintle.Store = (*Store)(nil)
	_ pintle.Store = (*txStore)(nil)
)

// New returns a store that uses the tables [Migrate] makes. It does not use
// the database yet. It panics if there is no such dialect.
func New(db *sql.DB, d Dialect) *Store {
	if !d.known() {
		panic(fmt.Sprintf("sqlstore: New: there is no %v: use PostgreSQL, MySQL or SQLite", d))
	}
	s, err := NewShared(db, own(d))
	if err != nil {
		panic("sqlstore: unreachable: " + err.Error())
	}
	return s
}

// NewShared returns a store that uses the tables of an existing Auth.js
// installation. It fails when the layout is invalid, and does not use the
// database yet: [Store.Check] compares the tables with the layout.
//
// In shared tables session tokens are kept as they are, because Auth.js looks
// them up so.
func NewShared(db *sql.DB, l Layout) (*Store, error) {
	t, err := l.tables()
	if err != nil {
		return nil, fmt.Errorf("sqlstore: %w", err)
	}
	return &Store{records{run: db, database: &database{db: db, dialect: l.Dialect, tables: t, sql: newQueries(t)}}}, nil
}

// records is what a [Store] and the store of a transaction have in common.
//
// It is small: its methods receive a copy, which then needs no room on the stack.
type records struct {
	*database
	run runner
	tx  bool // run is in a transaction
}

// A database is what all transactions of a store share.
type database struct {
	db        *sql.DB
	dialect   Dialect
	tables    *tables
	sql       *queries
	lookups   sync.Pool // of *lookup
	deadlines sharedDeadlines
	turns     turns
}

// A txStore is the store a transaction works with.
type txStore struct{ records }

// SharedState implements [pintle.Store]. It is nil for shared tables without
// [Layout.AccountTables].
func (s *Store) SharedState() sharedstate.Store {
	if s.tables.once == nil {
		return nil
	}
	return &SharedState{records: s.records}
}

// SharedState implements [pintle.Store]: a transaction has none, since it would take
// back what was decided.
func (*txStore) SharedState() sharedstate.Store { return nil }

// InTx implements [pintle.Store]: a transaction has none within.
func (*txStore) InTx(context.Context, func(pintle.Store) error) error { return errNested }

// Features implements [pintle.Store]. Whether a store keeps passkeys, and their
// names, depends on its [Layout]. The store of a transaction has no transactions.
func (r records) Features() pintle.Features {
	passkeys := r.tables.authenticators
	f := pintle.Features{
		Accounts: true, AccountSwap: true, Sessions: true, SessionList: true, Verifications: true, DeleteUser: true, Sweep: true,
		Passkeys: passkeys != nil, PasskeyNames: passkeys != nil && passkeys.has("name"), Transactions: !r.tx,
	}
	switch {
	case !f.Passkeys:
		f.Remedy = fixTable
	case !f.PasskeyNames:
		f.Remedy = fixName
	}
	return f
}

// InTx implements [pintle.Store]. On SQLite the transaction takes the lock
// for writing when it begins, so that it cannot fail for having begun as a
// reader; others may read meanwhile if the database has a write-ahead log.
//
// f must use the store it is given. On a handle with a single connection the
// one InTx was called on waits for it.
func (s *Store) InTx(ctx context.Context, f func(pintle.Store) error) error {
	return s.atomically(ctx, "transaction", func(r records) error { return f(&txStore{r}) })
}

// atomically runs f in the transaction r is in, or in a new one.
func (r records) atomically(ctx context.Context, operation string, f func(records) error) error {
	if r.tx {
		return f(r)
	}
	begin := r.begin
	if r.dialect == SQLite {
		begin = r.beginImmediate
	}
	within, commit, rollback, err := begin(ctx)
	if err != nil {
		return r.fail(ctx, operation, err)
	}
	done, failure := false, error(nil)
	defer func() { // also when f panics
		if !done {
			rollback()
			r.afterReadOnly(ctx, failure)
		}
	}()
	if err := f(within); err != nil {
		failure = err
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	done = true
	return within.fail(ctx, operation, commit())
}

func (r records) begin(ctx context.Context) (within records, commit func() error, rollback func(), err error) {
	ctx, end := context.WithCancel(ctx)
	var tx *sql.Tx
	err = inTime(end, func() (err error) {
		tx, err = r.db.BeginTx(ctx, r.dialect.isolation())
		return err
	})
	if err != nil {
		end()
		return r, nil, nil, err
	}
	r.run, r.tx = tx, true
	commit = func() error {
		defer end()
		return inTime(end, tx.Commit)
	}
	rollback = func() {
		defer end()
		_ = inTime(end, tx.Rollback)
	}
	return r, commit, rollback, nil
}

// isolation is what a transaction rests on.
//
// Transactions lock a row and then read others. In PostgreSQL the second read has
// to see what was committed while they waited for the lock, whatever
// default_transaction_isolation is: at repeatable read it sees the rows from
// before, and two transactions remove the rows that each relies on. In MySQL the
// reads that decide lock their rows, and such reads see what was committed
// at each level.
//
// https://www.postgresql.org/docs/current/transaction-iso.html
// https://dev.mysql.com/doc/refman/8.4/en/innodb-locking-reads.html
func (d Dialect) isolation() *sql.TxOptions {
	if d == PostgreSQL {
		return &sql.TxOptions{Isolation: sql.LevelReadCommitted}
	}
	return nil
}

// beginImmediate begins a transaction that writes. A transaction of database/sql
// is of the kind in the data source name, by default a reader, which fails when
// it begins to write while another writes.
//
// https://www.sqlite.org/lang_transaction.html
func (r records) beginImmediate(ctx context.Context) (within records, commit func() error, rollback func(), err error) {
	wait, cancel := withStatementTimeout(ctx)
	defer cancel()
	conn, err := r.db.Conn(wait)
	if err != nil {
		return r, nil, nil, err
	}
	if _, err := conn.ExecContext(wait, "BEGIN IMMEDIATE"); err != nil {
		_ = conn.Close()
		return r, nil, nil, err
	}
	r.run, r.tx = conn, true
	// The end must happen although the request is over.
	rollback = func() { endConn(context.WithoutCancel(ctx), conn, "ROLLBACK") }
	commit = func() error {
		if _, err := conn.ExecContext(ctx, "COMMIT"); err != nil {
			rollback()
			return err
		}
		return conn.Close()
	}
	return r, commit, rollback, nil
}
