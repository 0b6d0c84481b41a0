// Package sqlstore_test runs store/sqlstore against real databases.
package sqlstore_test

import (
	"database/sql"
	"flag"
	"os"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/sqlstore"
	"github.com/pintleauth/pintle/storetest"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

func TestMain(m *testing.M) { os.Exit(services.Run(m)) }

// A database is a kind of database under test.
type database struct {
	name    string
	dialect sqlstore.Dialect
	open    func(testing.TB) *services.Database
}

var databases = []database{
	{"SQLite", sqlstore.SQLite, services.SQLiteDatabase},
	{"PostgreSQL", sqlstore.PostgreSQL, services.PostgreSQLDatabase},
	{"MariaDB", sqlstore.MySQL, services.MariaDBDatabase},
}

// writers is how many connections the suite uses at once. Keeping them saves
// most of its time.
const writers = 64

func migrated(t testing.TB, d database) *services.Database {
	t.Helper()
	db := d.open(t)
	db.SetMaxIdleConns(writers)
	if err := sqlstore.Migrate(t.Context(), db.DB, d.dialect); err != nil {
		t.Fatal(err)
	}
	return db
}

// empty removes every row, children first.
func empty(t testing.TB, db *sql.DB, tables ...string) {
	t.Helper()
	for _, table := range tables {
		if _, err := db.ExecContext(t.Context(), "DELETE FROM "+table); err != nil {
			t.Fatal(err)
		}
	}
}

// ownTables are the tables of the store, children first.
var ownTables = []string{
	"pintle_sessions", "pintle_authenticators", "pintle_accounts", "pintle_users", "pintle_verifications",
	"pintle_states", "pintle_factors", "pintle_flows", "pintle_activity", "pintle_once", "pintle_leases", "pintle_counts",
	"pintle_provider_sessions", "pintle_provider_ends",
}

// AT-111: the races of accountstore are among the promises.
// RPT-81, RPT-82: so are a session that its provider ends while it begins, is extended or is
// deleted, and texts with any characters.
func TestOwnTablesKeepEveryPromise(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			db := migrated(t, d)
			storetest.Run(t, func(t *testing.T) pintle.Store {
				empty(t, db.DB, ownTables...)
				return sqlstore.New(db.DB, d.dialect)
			})
		})
	}
}
