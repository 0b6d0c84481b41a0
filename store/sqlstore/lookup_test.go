package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
)

// A fakeDatabase answers each query with the next of its answers.
type fakeDatabase struct {
	answers  []answer
	prepares bool // its connections run prepared statements only
	directly int  // queries that came without a statement
	open     int  // answers that are being read
}

// An answer is rows, and what comes after them instead of their end.
type answer struct {
	rows  [][]driver.Value
	after error
	query error // instead of any answer
}

func (d *fakeDatabase) Driver() driver.Driver { return nil }

func (d *fakeDatabase) Connect(context.Context) (driver.Conn, error) {
	if d.prepares {
		return fakeConn{d}, nil
	}
	return fakeQueryer{fakeConn{d}}, nil
}

func (d *fakeDatabase) next() (driver.Rows, error) {
	a := d.answers[0]
	d.answers = d.answers[1:]
	if a.query != nil {
		return nil, a.query
	}
	d.open++
	return &fakeRows{d, a}, nil
}

type fakeConn struct{ d *fakeDatabase }

func (c fakeConn) Prepare(string) (driver.Stmt, error) { return fakeStmt(c), nil }
func (c fakeConn) Close() error                        { return nil }
func (c fakeConn) Begin() (driver.Tx, error)           { return nil, errors.ErrUnsupported }

type fakeQueryer struct{ fakeConn }

func (c fakeQueryer) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	c.d.directly++
	return c.d.next()
}

type fakeStmt struct{ d *fakeDatabase }

func (s fakeStmt) Close() error                               { return nil }
func (s fakeStmt) NumInput() int                              { return -1 }
func (s fakeStmt) Exec([]driver.Value) (driver.Result, error) { return nil, errors.ErrUnsupported }
func (s fakeStmt) Query([]driver.Value) (driver.Rows, error)  { return s.d.next() }

type fakeRows struct {
	d *fakeDatabase
	a answer
}

func (r *fakeRows) Columns() []string { return make([]string, 9) }

func (r *fakeRows) Close() error {
	r.d.open--
	return nil
}

func (r *fakeRows) Next(dest []driver.Value) error {
	if len(r.a.rows) > 0 {
		for i, value := range r.a.rows[0] {
			if value != nil { // as a careless driver would
				dest[i] = value
			}
		}
		r.a.rows = r.a.rows[1:]
		return nil
	}
	if r.a.after != nil {
		return r.a.after
	}
	return io.EOF
}

// The columns of a session and its user, in the order of the query.
var (
	full = []driver.Value{int64(4e12), int64(1e12), []byte(`{"theme":"dark"}`), "1", "Ada", "ada@example.org", int64(2e12), "https://example.org/ada.png", []byte(`{"role":"admin"}`)}
	bare = []driver.Value{int64(3e12), nil, nil, "2", nil, nil, nil, nil, nil}
)

func opened(t *testing.T, d *fakeDatabase, dialect Dialect) (*Store, *sql.DB) {
	t.Helper()
	db := sql.OpenDB(d)
	t.Cleanup(func() {
		if n := db.Stats().InUse; n != 0 || d.open != 0 {
			t.Errorf("%d connections are still in use, and %d answers still open", n, d.open)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return New(db, dialect), db
}

func TestASessionIsLookedUpInTheDriverWhereItCanBe(t *testing.T) {
	broken := errors.New("the statement failed after its row")
	tests := []struct {
		name     string
		answers  []answer
		prepares bool
		directly int
		want     error
	}{
		{"found", []answer{{rows: [][]driver.Value{full}}}, false, 1, nil},
		{"not found", []answer{{}}, false, 1, pintle.ErrNotFound},
		{"a driver that wants statements", []answer{{rows: [][]driver.Value{full}}}, true, 0, nil},
		{"a driver that wants statements after all", []answer{{query: driver.ErrSkip}, {query: driver.ErrSkip}, {rows: [][]driver.Value{full}}}, false, 2, nil},
		{"a connection that was dead", []answer{{query: driver.ErrBadConn}, {rows: [][]driver.Value{full}}}, false, 2, nil},
		{"a query that fails", []answer{{query: broken}}, false, 1, broken},
		{"a row that does not come", []answer{{after: broken}}, false, 1, broken},
		{"a failure after the row", []answer{{rows: [][]driver.Value{full}, after: broken}}, false, 1, broken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := &fakeDatabase{answers: tt.answers, prepares: tt.prepares}
			store, _ := opened(t, d, PostgreSQL)
			s, u, err := store.SessionAndUser(t.Context(), "token")
			if !errors.Is(err, tt.want) {
				t.Fatalf("SessionAndUser() = %v, want %v", err, tt.want)
			}
			if err == nil && (s.Token != "token" || s.UserID != "1" || s.Expires.UnixMilli() != 4e12 || s.Data["theme"] != "dark" || u.ID != "1" || u.Email != "ada@example.org" || u.Extra["role"] != "admin") {
				t.Errorf("SessionAndUser() = %+v, %+v", s, u)
			}
			if d.directly != tt.directly || len(d.answers) != 0 {
				t.Errorf("the driver was asked %d times without a statement, want %d; %d answers are left", d.directly, tt.directly, len(d.answers))
			}
		})
	}
}

func TestALookUpSeesNothingOfTheOneBefore(t *testing.T) {
	for _, dialect := range []Dialect{PostgreSQL, MySQL, SQLite} {
		store, _ := opened(t, &fakeDatabase{answers: []answer{{rows: [][]driver.Value{full}}, {rows: [][]driver.Value{bare}}}}, dialect)
		first, ada, err := store.SessionAndUser(t.Context(), "first")
		if err != nil {
			t.Fatal(err)
		}
		second, u, err := store.SessionAndUser(t.Context(), "second")
		if err != nil {
			t.Fatal(err)
		}
		if second.UserID != "2" || !second.Created.IsZero() || second.Data != nil || u.Name+u.Email+u.Image != "" || !u.EmailVerified.IsZero() || u.Extra != nil {
			t.Errorf("%v: the second look-up returned %+v, %+v", dialect, second, u)
		}
		if first.Data["theme"] != "dark" || ada.Extra["role"] != "admin" || ada.Name != "Ada" {
			t.Errorf("%v: what the first one returned became %+v, %+v", dialect, first, ada)
		}
	}
}

func TestTheWaitForAConnectionEndsWithTheDeadline(t *testing.T) {
	for _, dialect := range []Dialect{PostgreSQL, MySQL, SQLite} {
		t.Run(dialect.String(), func(t *testing.T) {
			store, db := opened(t, &fakeDatabase{answers: []answer{{rows: [][]driver.Value{full}}}}, dialect)
			db.SetMaxOpenConns(1)
			held, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer held.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if _, _, err := store.SessionAndUser(ctx, "token"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("SessionAndUser() = %v while every connection is taken, want context.DeadlineExceeded", err)
			}
		})
	}
}
