package sqlstore_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/sqlstore"
	"github.com/pintleauth/pintle/storetest"
)

// An operator may set the isolation of transactions for a whole database. The
// promises hold at each level, those about the last way to sign in among them.
func TestOwnTablesKeepEveryPromiseAtEveryIsolationLevel(t *testing.T) {
	postgreSQL := func(level string) func(string) string {
		return func(dsn string) string {
			return dsn + "&default_transaction_isolation=" + strings.ReplaceAll(level, " ", "%20")
		}
	}
	mariaDB := func(level string) func(string) string {
		return func(dsn string) string { return dsn + "?tx_isolation=%27" + level + "%27" }
	}
	tests := []struct {
		name string
		database
		set  func(dsn string) string
		show string
	}{
		{"SA-L5 PostgreSQL at repeatable read", databases[1], postgreSQL("repeatable read"), "SHOW transaction_isolation"},
		{"SA-L5 PostgreSQL at serializable", databases[1], postgreSQL("serializable"), "SHOW transaction_isolation"},
		{"SA-L5 MariaDB at read committed", databases[2], mariaDB("READ-COMMITTED"), "SELECT @@tx_isolation"},
		{"SA-L5 MariaDB at serializable", databases[2], mariaDB("SERIALIZABLE"), "SELECT @@tx_isolation"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			db := migrated(t, tt.database)
			set := withSetting(t, db, tt.set)
			var level string
			if err := set.QueryRowContext(t.Context(), tt.show).Scan(&level); err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(tt.name, strings.ReplaceAll(strings.ToLower(level), "-", " ")) {
				t.Fatalf("the isolation level is %q", level)
			}
			run := storetest.RunRaces
			if strings.HasSuffix(tt.name, "serializable") { // where reads lock, too
				run = storetest.Run
			}
			run(t, func(t *testing.T) pintle.Store {
				empty(t, db.DB, ownTables...)
				return sqlstore.New(set, tt.dialect)
			})
		})
	}
}

// withSetting opens a database a second time, with another setting.
func withSetting(t testing.TB, db *services.Database, set func(dsn string) string) *sql.DB {
	t.Helper()
	second, err := sql.Open(db.Driver, set(db.DSN))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := second.Close(); err != nil {
			t.Error(err)
		}
	})
	second.SetMaxIdleConns(writers)
	return second
}
