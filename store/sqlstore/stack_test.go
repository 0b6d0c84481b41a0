package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"
	"unsafe"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/testsite"
)

// stackHere is an address near the end of its caller's stack frame.
//
//go:noinline
func stackHere() uintptr {
	var here byte
	return uintptr(unsafe.Pointer(&here))
}

// A stackDatabase notes where the stack is when it is asked.
type stackDatabase struct{ at uintptr }

func (d *stackDatabase) Driver() driver.Driver                        { return nil }
func (d *stackDatabase) Connect(context.Context) (driver.Conn, error) { return stackConn{d}, nil }

type stackConn struct{ d *stackDatabase }

func (c stackConn) Prepare(string) (driver.Stmt, error) { return stackStmt(c), nil }
func (c stackConn) Close() error                        { return nil }
func (c stackConn) Begin() (driver.Tx, error)           { return nil, errors.ErrUnsupported }

func (c stackConn) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	c.d.at = stackHere()
	return &fakeRows{d: &fakeDatabase{}}, nil
}

type stackStmt struct{ d *stackDatabase }

func (s stackStmt) Close() error                               { return nil }
func (s stackStmt) NumInput() int                              { return -1 }
func (s stackStmt) Exec([]driver.Value) (driver.Result, error) { return nil, errors.ErrUnsupported }

func (s stackStmt) Query([]driver.Value) (driver.Rows, error) {
	s.d.at = stackHere()
	return &fakeRows{d: &fakeDatabase{}}, nil
}

// Drivers need several kilobytes, and the goroutine of a request has eight in all; see
// the test of the same name in package pintle.
func TestASessionCheckLeavesTheStackToTheDriver(t *testing.T) {
	most := uintptr(2048) // bytes, with what database/sql takes; it is 1720
	if testsite.Race {
		most += most / 2 // for what the detector adds
	}
	for _, dialect := range []Dialect{SQLite, PostgreSQL} {
		t.Run(dialect.String(), func(t *testing.T) {
			d := &stackDatabase{}
			db := sql.OpenDB(d)
			t.Cleanup(func() { _ = db.Close() })
			db.SetMaxOpenConns(2)
			store := New(db, dialect)
			var used uintptr
			for range 2 { // the stack may move in the first round, but not in the second
				began := stackHere()
				if _, _, err := store.SessionAndUser(t.Context(), "token"); !errors.Is(err, pintle.ErrNotFound) {
					t.Fatal(err)
				}
				used = began - d.at
			}
			t.Logf("%d bytes", used)
			if used > most {
				t.Errorf("the driver is called %d bytes further down the stack, want at most %d", used, most)
			}
		})
	}
}
