package sqlstore_test

import (
	"context"
	"database/sql"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// For the database, each handle is another process.
func TestProcessesThatMigrateAtOnceAllSucceed(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			db := d.open(t)
			start := make(chan struct{})
			errs := make([]error, 16)
			var all sync.WaitGroup
			for i := range errs {
				process, err := sql.Open(db.Driver, db.DSN)
				if err != nil {
					t.Fatal(err)
				}
				defer process.Close()
				all.Go(func() {
					<-start
					errs[i] = sqlstore.Migrate(t.Context(), process, d.dialect)
				})
			}
			close(start)
			all.Wait()
			for _, err := range errs {
				if err != nil {
					t.Error(err)
				}
			}
			populate(t, sqlstore.New(db.DB, d.dialect), 2)
			if got, want := applied(t, db), len(steps(t, d.dialect)); got != want {
				t.Errorf("%d migrations are recorded, want %d", got, want)
			}
		})
	}
}

// steps returns the statements of each migration.
func steps(t *testing.T, d sqlstore.Dialect) [][]string {
	t.Helper()
	names, err := fs.Glob(sqlstore.Migrations(d), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for _, name := range names {
		text, err := fs.ReadFile(sqlstore.Migrations(d), name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.Split(strings.TrimSpace(string(text)), ";\n"))
	}
	return all
}

func applied(t *testing.T, db *services.Database) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM pintle_migrations").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestMigratingAgainKeepsWhatIsThere(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			db := migrated(t, d)
			s := sqlstore.New(db.DB, d.dialect)
			one := populate(t, s, 1)[0]
			if err := sqlstore.Migrate(t.Context(), db.DB, d.dialect); err != nil {
				t.Fatal(err)
			}
			if _, _, err := s.SessionAndUser(t.Context(), one.session.Token); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTablesOfALaterVersionAreLeftAlone(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			db := migrated(t, d)
			execute(t, db.DB, "INSERT INTO pintle_migrations (version, applied) VALUES (99, 0)")
			if err := sqlstore.Migrate(t.Context(), db.DB, d.dialect); err != nil {
				t.Fatal(err)
			}
			if got, want := applied(t, db), len(steps(t, d.dialect))+1; got != want {
				t.Errorf("%d migrations are recorded, want %d", got, want)
			}
		})
	}
}

func TestAMigrationThatFailsLeavesNothing(t *testing.T) {
	for _, d := range databases {
		if d.dialect == sqlstore.MySQL {
			continue // where changes of tables cannot be taken back
		}
		t.Run(d.name, func(t *testing.T) {
			db := d.open(t)
			execute(t, db.DB, "CREATE TABLE pintle_sessions (id INTEGER)")
			if err := sqlstore.Migrate(t.Context(), db.DB, d.dialect); err == nil {
				t.Fatal("Migrate succeeded although a table was in its way")
			}
			if _, err := db.ExecContext(t.Context(), "SELECT 1 FROM pintle_users"); err == nil {
				t.Error("a table that was made before the failure is still there")
			}
			execute(t, db.DB, "DROP TABLE pintle_sessions")
			if err := sqlstore.Migrate(t.Context(), db.DB, d.dialect); err != nil {
				t.Fatal(err)
			}
			populate(t, sqlstore.New(db.DB, d.dialect), 2)
		})
	}
}

func TestAMigrationThatBrokeOffOnMySQLIsFinishedByTheNext(t *testing.T) {
	statements := slices.Concat(steps(t, sqlstore.MySQL)...)
	for done := range len(statements) + 1 {
		db := services.MariaDBDatabase(t)
		db.SetMaxOpenConns(1) // statements may prepare others
		for _, statement := range statements[:done] {
			execute(t, db.DB, statement)
		}
		if err := sqlstore.Migrate(t.Context(), db.DB, sqlstore.MySQL); err != nil {
			t.Fatalf("after %d statements: %v", done, err)
		}
		populate(t, sqlstore.New(db.DB, sqlstore.MySQL), 2)
	}
}

func TestTablesOfTheFirstVersionAreBroughtUpToDate(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			db := d.open(t)
			for _, statement := range steps(t, d.dialect)[0] {
				execute(t, db.DB, statement)
			}
			execute(t, db.DB, "CREATE TABLE pintle_migrations (version INTEGER NOT NULL PRIMARY KEY, applied BIGINT NOT NULL)")
			execute(t, db.DB, "INSERT INTO pintle_migrations (version, applied) VALUES (1, 0)")
			execute(t, db.DB, "INSERT INTO pintle_users (id) VALUES ('ada')")
			execute(t, db.DB, "INSERT INTO pintle_authenticators (credential_id, user_id, provider_account_id, public_key, counter, device_type, backed_up) VALUES ('AAAA', 'ada', 'AAAA', 'AA==', 7, 'singleDevice', "+no[d.dialect]+")")
			if err := sqlstore.Migrate(t.Context(), db.DB, d.dialect); err != nil {
				t.Fatal(err)
			}
			s := sqlstore.New(db.DB, d.dialect)
			if err := s.RenamePasskey(t.Context(), "ada", "AAAA", "Key ring"); err != nil {
				t.Error(err)
			}
			a, err := s.Passkey(t.Context(), "AAAA")
			if err != nil || a.Counter != 7 || a.Name != "Key ring" || !a.Created.IsZero() || !a.LastUsed.IsZero() {
				t.Errorf("the passkey is %+v, %v", a, err)
			}
		})
	}
}

// no is SQL's false.
var no = map[sqlstore.Dialect]string{sqlstore.PostgreSQL: "false", sqlstore.MySQL: "0", sqlstore.SQLite: "0"}

func TestMigrateGivesUpWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "busy.db")
	busy, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path}).String())
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	conn, err := busy.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := sqlstore.Migrate(ctx, busy, sqlstore.SQLite); err == nil {
		t.Error("Migrate succeeded while another process held the lock")
	}
	if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := sqlstore.Migrate(t.Context(), busy, sqlstore.SQLite); err != nil {
		t.Error(err)
	}
}
