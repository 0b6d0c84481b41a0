package sqlstore

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"

	"github.com/pintleauth/pintle"
)

// A lookup holds the buffers for finding a session and its user. Every request
// needs one, so lookups are pooled; each row overwrites all of it.
type lookup struct {
	session sessionRow
	user    userRow
	facts   factsRow
	dest    []any // scanners, in the order of the columns
	values  []driver.Value
	args    [2]any
	named   [2]driver.NamedValue // the same for a driver
	hash    [sha256.Size]byte    // of the token
	hashed  any                  // hash as an argument

	// ask is the method askConn, bound once. The context and the text are those of its query.
	ask  func(driverConn any) error
	look context.Context
	text string
	sent []driver.NamedValue
}

func (r records) newLookup() *lookup {
	if l, kept := r.lookups.Get().(*lookup); kept {
		return l
	}
	l := &lookup{}
	l.dest = append(l.session.dest(r)[1:], l.user.dest(r)...) // the user's id is that of the session
	if r.tables.facts != nil {
		l.dest = append(l.dest, &l.facts.owner, &l.facts.data)
	}
	l.values = make([]driver.Value, len(l.dest))
	l.hashed = l.hash[:]
	l.ask = l.askConn
	return l
}

// SessionAndUser implements [pintle.Store], in one round trip.
func (r records) SessionAndUser(ctx context.Context, token string) (*pintle.StoredSession, *pintle.User, error) {
	if !r.tables.hashed && !storable(token) {
		return nil, nil, r.absent(ctx)
	}
	l := r.newLookup()
	defer r.lookups.Put(l)
	err := r.find(ctx, l, l.arguments(r, token))
	clear(l.args[:]) // the pool keeps no token
	clear(l.named[:])
	if err != nil {
		return nil, nil, r.fail(ctx, "find session", err)
	}
	s, u := l.found(r, token)
	return s, u, nil
}

// arguments are those of the statement that finds the session with a token.
func (l *lookup) arguments(r records, token string) []any {
	args := l.args[:1]
	if r.tables.hashed {
		l.hash = sha256.Sum256([]byte(token))
		args[0] = l.hashed
	} else {
		args[0] = token
	}
	if r.tables.facts != nil {
		args = append(args, factsKey(token))
	}
	return args
}

// found returns the session and the user of the row that was read.
func (l *lookup) found(r records, token string) (*pintle.StoredSession, *pintle.User) {
	found := new(struct { // one allocation for both
		session pintle.StoredSession
		user    pintle.User
	})
	s, u := &found.session, &found.user
	l.user.into(u, r)
	l.session.into(s, token, l.handle(r, token))
	s.UserID = u.ID
	if r.tables.facts != nil {
		s.Data = l.facts.of(u.ID)
	}
	return s, u
}

// handle returns the handle of the session that was found, if it has no id.
func (l *lookup) handle(r records, token string) string {
	switch {
	case l.session.id != "":
		return ""
	case r.tables.hashed:
		return handle(l.hash)
	}
	return handleOf(token)
}

func (r records) find(ctx context.Context, l *lookup, args []any) error {
	switch {
	case r.dialect == PostgreSQL && !r.tx:
		err := r.askDriver(ctx, l, args)
		if !errors.Is(err, driver.ErrSkip) && !errors.Is(err, driver.ErrBadConn) {
			return err
		}
		// The driver cannot, or the connection died before the query left.
	case r.dialect == SQLite && r.tx && ctx.Err() == nil:
		return r.row(context.WithoutCancel(ctx), l.dest, r.sql.sessionAndUser, args...)
	case r.dialect == SQLite && ctx.Err() == nil:
		return r.inTurn(ctx, l, args)
	}
	return r.one(ctx, l.dest, r.sql.sessionAndUser, args...)
}

// inTurn waits for a connection, and then runs the statement with a context that
// cannot end. Drivers of SQLite watch a context that can end: with one, which sets
// a time-out, a look-up takes 1.4 times as long. Without one it waits for others at
// most, and they are bounded by the busy timeout.
func (r records) inTurn(ctx context.Context, l *lookup, args []any) error {
	connections, inUse := r.connections()
	if connections > 0 {
		places, waited, err := r.turns.take(ctx, &r.deadlines, connections)
		if err != nil {
			return err
		}
		defer func() { <-places }()
		if waited {
			_, inUse = r.connections()
		}
		if inUse >= connections {
			// Others than look-ups have them all, and it is not known for how long.
			return r.one(ctx, l.dest, r.sql.sessionAndUser, args...)
		}
	}
	return r.row(context.WithoutCancel(ctx), l.dest, r.sql.sessionAndUser, args...)
}

// connections returns how many connections the pool may have, or 0 if it has no limit, and
// how many of them are in use.
//
// It is not inlined: the statistics would take stack from all that is called further in.
//
//go:noinline
func (r records) connections() (most, inUse int) {
	pool := r.db.Stats()
	return pool.MaxOpenConnections, pool.InUse
}

// askDriver calls the driver directly, on a connection of the pool: [sql.Rows]
// would start a goroutine to watch a context that drivers of PostgreSQL watch
// already, which costs as much as the rest of database/sql. The pool keeps its
// limits and handles broken connections as usual. Other drivers need a
// statement prepared on the connection, which only the pool can find.
func (r records) askDriver(ctx context.Context, l *lookup, args []any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	look := r.deadlines.of(ctx)
	conn, err := r.db.Conn(look)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // gives it back
	for i, value := range args {
		l.named[i] = driver.NamedValue{Ordinal: i + 1, Value: value}
	}
	l.look, l.text, l.sent = look, r.sql.sessionAndUser.text, l.named[:len(args)]
	err = conn.Raw(l.ask)
	l.look = nil // the pool keeps no request
	return err
}

// askConn runs the query on a connection of the driver.
func (l *lookup) askConn(driverConn any) error {
	queryer, ok := driverConn.(driver.QueryerContext)
	if !ok {
		return driver.ErrSkip
	}
	rows, err := queryer.QueryContext(l.look, l.text, l.sent)
	if err != nil {
		return err
	}
	if err := l.scan(rows); err != nil {
		_ = rows.Close()
		return err
	}
	return rows.Close()
}

// scan reads the first row.
func (l *lookup) scan(rows driver.Rows) error {
	clear(l.values) // a driver that passes over a NULL must not leave another's value
	err := rows.Next(l.values)
	if errors.Is(err, io.EOF) {
		return sql.ErrNoRows
	}
	if err != nil {
		return err
	}
	for i, d := range l.dest {
		if err := d.(sql.Scanner).Scan(l.values[i]); err != nil {
			return err
		}
	}
	// The row is there when the statement has run to its end.
	for err == nil {
		err = rows.Next(l.values)
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}
