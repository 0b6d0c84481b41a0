package outage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// connections is how many the pool may hold: fewer than there are clients.
const connections = 4

// idle is how many more goroutines there may be without load: those of HTTP
// connections that are about to end.
const idle = 4

// A database is one that faults happen to.
type database struct {
	name, driver string
	dialect      sqlstore.Dialect
	start        func(testing.TB) *services.Server
	// others lists the connections but the one it is sent on, and kill ends one.
	others, kill string
}

var databases = []database{
	{
		"PostgreSQL", "pgx", sqlstore.PostgreSQL, services.PostgreSQL,
		"SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'", "SELECT pg_terminate_backend(%d)",
	},
	{
		"MariaDB", "mysql", sqlstore.MySQL, services.MariaDB,
		"SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND user = 'pintle'", "KILL CONNECTION %d",
	},
}

// ASVS-16.5.2: a failure denies access, and ends no session.
func TestADatabaseThatFailsSignsNoUserOutAndComesBack(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			server := d.start(t)
			proxy := services.NewProxy(t, server.Addr)
			db, err := sql.Open(d.driver, strings.Replace(server.URL, server.Addr, proxy.Addr, 1))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			})
			db.SetMaxOpenConns(connections)
			db.SetMaxIdleConns(connections)
			if err := sqlstore.Migrate(t.Context(), db, d.dialect); err != nil {
				t.Fatal(err)
			}
			store := sqlstore.New(db, d.dialect)
			s := open(t, store)
			s.under(t, func() { time.Sleep(limit / 4) }) // fills the pool
			before := s.goroutines() + idle

			faults := []struct {
				name   string
				happen func(t *testing.T)
			}{
				{"stopped and started", func(t *testing.T) {
					server.Stop(t)
					noAnswer(t, store, s.tokens[0])
					time.Sleep(limit / 4)
					server.Start(t)
				}},
				{"killed and started", func(t *testing.T) {
					server.Kill(t)
					time.Sleep(limit / 4)
					server.Start(t)
				}},
				{"connections ended by the operator", func(t *testing.T) {
					for range 5 {
						d.endConnections(t, server)
						time.Sleep(20 * time.Millisecond)
					}
				}},
				{"connections reset by the network", func(*testing.T) {
					for range 5 {
						proxy.Cut()
						time.Sleep(20 * time.Millisecond)
					}
				}},
				{"slower than the time-out", func(*testing.T) {
					proxy.Stall()
					time.Sleep(limit * 3 / 2)
					proxy.Resume()
				}},
				{"every connection taken", func(t *testing.T) {
					defer hold(t, db)()
					time.Sleep(limit * 3 / 2)
				}},
			}
			for _, fault := range faults {
				t.Run(fault.name, func(t *testing.T) {
					counts := s.under(t, func() { fault.happen(t) })
					if counts[failed] == 0 {
						t.Errorf("the visits were %v: there was no fault", counts)
					}
					s.allUsers(t)
					unused(t, db)
					s.noLeak(t, before)
				})
			}
			s.checkLog(t)
		})
	}
}

// noAnswer checks that a store without its database returns no result.
func noAnswer(t *testing.T, store *sqlstore.Store, token string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if _, _, err := store.SessionAndUser(ctx, token); err == nil || errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("SessionAndUser() = %v while the database is down, want another error", err)
	}
	if _, err := store.DeleteSession(ctx, token); err == nil {
		t.Error("DeleteSession succeeded while the database is down")
	}
	if err := store.InTx(ctx, func(pintle.Store) error { return nil }); err == nil {
		t.Error("InTx succeeded while the database is down")
	}
}

// unused waits until every connection is back in the pool. One that is opened for a
// caller that no longer waits counts until it is open.
func unused(t *testing.T, db *sql.DB) {
	t.Helper()
	for deadline := time.Now().Add(recovery); db.Stats().InUse > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d connections are still in use", db.Stats().InUse)
		}
	}
}

// endConnections ends the site's connections as an operator does.
func (d database) endConnections(t *testing.T, server *services.Server) {
	t.Helper()
	db, err := sql.Open(d.driver, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	rows, err := db.QueryContext(t.Context(), d.others)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		// One that has ended meanwhile is an error of MariaDB's.
		_, _ = db.ExecContext(t.Context(), fmt.Sprintf(d.kill, id))
	}
}

// hold takes every connection of the pool and returns a function that releases
// them.
func hold(t *testing.T, db *sql.DB) (release func()) {
	t.Helper()
	var held []*sql.Conn
	for range connections {
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, conn)
	}
	return func() {
		for _, conn := range held {
			if err := conn.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
