package sqlstore_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"modernc.org/sqlite"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// A disk opens connections to a file, which only read while the file cannot be written.
type disk struct {
	file     string
	readOnly atomic.Bool
}

func (d *disk) Driver() driver.Driver { return &sqlite.Driver{} }

func (d *disk) Connect(context.Context) (driver.Conn, error) {
	mode := "rwc"
	if d.readOnly.Load() {
		mode = "ro"
	}
	return d.Driver().Open("file:" + d.file + "?mode=" + mode + "&_pragma=busy_timeout(5000)")
}

// A connection that SQLite has opened while the file could not be written only reads for as long as it
// lasts. It must not last.
func TestASiteWritesAgainWhenItsFileCanBeWritten(t *testing.T) {
	for name, write := range map[string]func(s *sqlstore.Store, id string) error{
		"by a statement": func(s *sqlstore.Store, id string) error {
			_, err := s.CreateUser(t.Context(), &pintle.User{ID: id})
			return err
		},
		"in a transaction": func(s *sqlstore.Store, id string) error {
			return s.InTx(t.Context(), func(tx pintle.Store) error {
				_, err := tx.CreateUser(t.Context(), &pintle.User{ID: id})
				return err
			})
		},
		"to the list of ended sessions": func(s *sqlstore.Store, id string) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			d := &disk{file: t.TempDir() + "/app.db"}
			db := sql.OpenDB(d)
			t.Cleanup(func() { _ = db.Close() })
			if err := sqlstore.Migrate(t.Context(), db, sqlstore.SQLite); err != nil {
				t.Fatal(err)
			}
			s, list := sqlstore.New(db, sqlstore.SQLite), sqlstore.NewRevocations(db, sqlstore.SQLite)
			if name == "to the list of ended sessions" {
				write = func(_ *sqlstore.Store, id string) error {
					return list.RevokeUser(t.Context(), id, time.Now().Add(time.Hour))
				}
			}
			db.SetMaxIdleConns(0) // closes the connections of the migration
			db.SetMaxIdleConns(4)
			d.readOnly.Store(true)
			var conns []*sql.Conn
			for range 4 {
				conn, err := db.Conn(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				conns = append(conns, conn)
			}
			for _, conn := range conns {
				_ = conn.Close()
			}
			if n := db.Stats().Idle; n != 4 {
				t.Fatalf("%d connections are idle, want 4", n)
			}
			d.readOnly.Store(false)
			if err := write(s, "first"); err == nil {
				t.Fatal("a connection that only reads has written")
			}
			for i := range 10 {
				if err := write(s, fmt.Sprint(i)); err != nil {
					t.Errorf("write %d when the file can be written: %v", i, err)
				}
			}
		})
	}
}
