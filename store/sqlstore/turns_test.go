package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A slowDatabase answers each look-up after a second, without a row.
type slowDatabase struct {
	watched atomic.Int32 // statements whose context can end
	ran     atomic.Int32
}

func (d *slowDatabase) Driver() driver.Driver                        { return nil }
func (d *slowDatabase) Connect(context.Context) (driver.Conn, error) { return slowConn{d}, nil }

type slowConn struct{ d *slowDatabase }

func (c slowConn) Prepare(string) (driver.Stmt, error) { return slowStmt(c), nil }
func (c slowConn) Close() error                        { return nil }
func (c slowConn) Begin() (driver.Tx, error)           { return nil, errors.ErrUnsupported }

type slowStmt struct{ d *slowDatabase }

func (s slowStmt) Close() error                               { return nil }
func (s slowStmt) NumInput() int                              { return -1 }
func (s slowStmt) Exec([]driver.Value) (driver.Result, error) { return nil, errors.ErrUnsupported }
func (s slowStmt) Query([]driver.Value) (driver.Rows, error)  { return nil, errors.ErrUnsupported }

func (s slowStmt) QueryContext(ctx context.Context, _ []driver.NamedValue) (driver.Rows, error) {
	s.d.ran.Add(1)
	if ctx.Done() != nil {
		s.d.watched.Add(1)
	}
	time.Sleep(time.Second)
	return &fakeRows{d: &fakeDatabase{}}, nil
}

// openSlow opens the database with two connections, for look-ups of SQLite.
func openSlow(t *testing.T) (*slowDatabase, *sql.DB, *Store) {
	d := &slowDatabase{}
	db := sql.OpenDB(d)
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(2)
	return d, db, New(db, SQLite)
}

func TestNoLookUpOfManyIsWatchedByItsDriver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, db, store := openSlow(t)
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if _, _, err := store.SessionAndUser(ctx, "token"); err == nil || ctx.Err() != nil {
					t.Errorf("SessionAndUser() = %v, want an error of a session that is not there", err)
				}
			})
		}
		wg.Wait()
		if ran, watched := d.ran.Load(), d.watched.Load(); ran != 16 || watched != 0 {
			t.Errorf("%d look-ups ran, %d of them with a context that can end; want 16 and 0", ran, watched)
		}
		_ = db.Close()
	})
}

func TestALookUpThatWaitsForOthersEndsWhenItsBrowserLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, db, store := openSlow(t)
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { _, _, _ = store.SessionAndUser(t.Context(), "token") })
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		began := time.Now()
		_, _, err := store.SessionAndUser(ctx, "token")
		if waited := time.Since(began); !errors.Is(err, context.Canceled) || waited != time.Millisecond {
			t.Errorf("SessionAndUser() = %v after %v, want context.Canceled after a millisecond", err, waited)
		}
		wg.Wait()
		if ran := d.ran.Load(); ran != 2 {
			t.Errorf("%d look-ups ran, want 2: nobody waits for the third", ran)
		}
		_ = db.Close()
	})
}

func TestALookUpEndsWhereOthersKeepEveryConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, db, store := openSlow(t)
		for range 2 { // as a transaction of the application does
			held, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer held.Close()
		}
		var wg sync.WaitGroup
		began := time.Now()
		for range 4 { // two have a turn, and two wait for one
			wg.Go(func() {
				if _, _, err := store.SessionAndUser(t.Context(), "token"); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("SessionAndUser() = %v, want context.DeadlineExceeded", err)
				}
			})
		}
		wg.Wait()
		if waited := time.Since(began); waited < statementTimeout || waited > 2*statementTimeout {
			t.Errorf("the look-ups ended after %v, want about %v", waited, statementTimeout)
		}
	})
}

func TestLookUpsFollowANewNumberOfConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, db, store := openSlow(t)
		for _, connections := range []int{2, 8, 1, 0} {
			db.SetMaxOpenConns(connections)
			began := time.Now()
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() { _, _, _ = store.SessionAndUser(t.Context(), "token") })
			}
			wg.Wait()
			want := time.Second
			if connections > 0 {
				want = time.Duration(8/connections) * time.Second
			}
			if took := time.Since(began); took != want {
				t.Errorf("8 look-ups over %d connections took %v, want %v", connections, took, want)
			}
		}
		if watched := d.watched.Load(); watched != 0 {
			t.Errorf("%d look-ups ran with a context that can end", watched)
		}
		_ = db.Close()
	})
}
