package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
)

// A silentDatabase takes statements and answers none.
type silentDatabase struct {
	seen   context.Context // of the last statement
	begins bool            // transactions, but does not end them
}

func (d *silentDatabase) Driver() driver.Driver                        { return nil }
func (d *silentDatabase) Connect(context.Context) (driver.Conn, error) { return silentConn{d}, nil }

func (d *silentDatabase) wait(ctx context.Context) error {
	d.seen = ctx
	<-ctx.Done()
	return ctx.Err()
}

type silentConn struct{ d *silentDatabase }

func (c silentConn) Prepare(string) (driver.Stmt, error) { return nil, errors.ErrUnsupported }
func (c silentConn) Close() error                        { return nil }
func (c silentConn) Begin() (driver.Tx, error)           { return nil, errors.ErrUnsupported }

func (c silentConn) QueryContext(ctx context.Context, _ string, _ []driver.NamedValue) (driver.Rows, error) {
	return nil, c.d.wait(ctx)
}

func (c silentConn) ExecContext(ctx context.Context, _ string, _ []driver.NamedValue) (driver.Result, error) {
	return nil, c.d.wait(ctx)
}

func (c silentConn) BeginTx(ctx context.Context, _ driver.TxOptions) (driver.Tx, error) {
	if !c.d.begins {
		return nil, c.d.wait(ctx)
	}
	return silentTx{c.d, ctx}, nil
}

type silentTx struct {
	d   *silentDatabase
	ctx context.Context
}

func (t silentTx) Commit() error   { return t.d.wait(t.ctx) }
func (t silentTx) Rollback() error { return t.d.wait(t.ctx) }

func TestACallToASilentDatabaseEnds(t *testing.T) {
	calls := map[string]func(ctx context.Context, s *Store) error{
		"a look-up": func(ctx context.Context, s *Store) error {
			_, _, err := s.SessionAndUser(ctx, "t")
			return err
		},
		"a query": func(ctx context.Context, s *Store) error {
			_, err := s.User(ctx, "1")
			return err
		},
		"a list": func(ctx context.Context, s *Store) error {
			_, err := s.UserAccounts(ctx, "1")
			return err
		},
		"a change": func(ctx context.Context, s *Store) error {
			return s.CreateSession(ctx, &pintle.StoredSession{Token: "t", UserID: "1"})
		},
		"a transaction": func(ctx context.Context, s *Store) error {
			return s.InTx(ctx, func(pintle.Store) error { return nil })
		},
	}
	for name, call := range calls {
		for _, begins := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					db := sql.OpenDB(&silentDatabase{begins: begins})
					defer db.Close()
					began := time.Now()
					err := call(t.Context(), New(db, PostgreSQL))
					if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took < statementTimeout || took > statementTimeout*3/2 {
						t.Errorf("it ended after %v with %v, want context.DeadlineExceeded after ten seconds or a little more", took, err)
					}
					if n := db.Stats().InUse; n != 0 {
						t.Errorf("%d connections are still in use", n)
					}
				})
			})
		}
	}
}

func TestALookUpLastsAsLongAsItsRequestSays(t *testing.T) {
	type key struct{}
	tests := []struct {
		name  string
		limit func(context.Context) (context.Context, context.CancelFunc)
		took  time.Duration
		want  error
	}{
		{"a second", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, time.Second, context.DeadlineExceeded},
		{"an hour", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Hour)
		}, statementTimeout * 3 / 2, context.DeadlineExceeded},
		// Closing its connection would be the only way to take the look-up back.
		{"until the browser leaves", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		}, statementTimeout * 3 / 2, context.DeadlineExceeded},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &silentDatabase{}
				db := sql.OpenDB(d)
				defer db.Close()
				ctx, cancel := tt.limit(context.WithValue(t.Context(), key{}, "a trace"))
				defer cancel()
				began := time.Now()
				_, _, err := New(db, PostgreSQL).SessionAndUser(ctx, "t")
				if took := time.Since(began); took != tt.took || !errors.Is(err, tt.want) {
					t.Errorf("it ended after %v with %v, want %v after %v", took, err, tt.want, tt.took)
				}
				if d.seen.Value(key{}) != "a trace" {
					t.Error("the driver does not see the values of the request")
				}
			})
		})
	}
}

func TestLookUpsOfTheSameSecondsShareATimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sharedDeadlines
		at := func() *sharedDeadline { return s.of(t.Context()).(*lookupContext).sharedDeadline }
		first := at()
		time.Sleep(statementTimeout/2 - time.Nanosecond)
		if at() != first {
			t.Error("a second timer began before the first one's time was over")
		}
		time.Sleep(time.Nanosecond)
		second := at()
		if second == first {
			t.Error("the first timer goes on for ever")
		}
		time.Sleep(statementTimeout - time.Nanosecond)
		if first.Err() != nil {
			t.Error("the last look-up did not have ten seconds")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if first.Err() == nil || second.Err() != nil {
			t.Errorf("the deadlines ended so: %v, %v", first.Err(), second.Err())
		}
	})
}
