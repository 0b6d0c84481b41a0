package sqlstore_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/sharedstate"
	"github.com/pintleauth/pintle/store/sqlstore"
	"github.com/pintleauth/pintle/storetest"
)

// A sharedLayout is the tables of one Auth.js adapter in one database, as its
// documentation makes them.
type sharedLayout struct {
	file   string // in testdata
	open   func(testing.TB) *services.Database
	layout sqlstore.Layout
	limits []storetest.Limit
}

const (
	wholeSeconds    = storetest.WholeSeconds
	narrow          = storetest.NarrowColumns
	addressRequired = storetest.AddressRequired
	oneAccountEach  = storetest.OneAccountEach
	loose           = storetest.LooseUniqueness
)

var sharedLayouts = []sharedLayout{
	{"pg-postgresql", services.PostgreSQLDatabase, sqlstore.PG(), []storetest.Limit{}},
	{"drizzle-postgresql", services.PostgreSQLDatabase, sqlstore.Drizzle(sqlstore.PostgreSQL), []storetest.Limit{narrow}},
	{"drizzle-mysql", services.MariaDBDatabase, sqlstore.Drizzle(sqlstore.MySQL), []storetest.Limit{narrow, wholeSeconds, loose}},
	{"drizzle-sqlite", services.SQLiteDatabase, sqlstore.Drizzle(sqlstore.SQLite), nil},
	{"prisma-postgresql", services.PostgreSQLDatabase, sqlstore.Prisma(sqlstore.PostgreSQL), []storetest.Limit{narrow, addressRequired}},
	{"prisma-mysql", services.MariaDBDatabase, sqlstore.Prisma(sqlstore.MySQL), []storetest.Limit{narrow, oneAccountEach, loose}},
	{"prisma-sqlite", services.SQLiteDatabase, sqlstore.Prisma(sqlstore.SQLite), nil},
	{"d1-sqlite", services.SQLiteDatabase, sqlstore.D1(), nil},
	{"kysely-postgresql", services.PostgreSQLDatabase, sqlstore.Kysely(sqlstore.PostgreSQL), []storetest.Limit{addressRequired}},
	{"kysely-mysql", services.MariaDBDatabase, sqlstore.Kysely(sqlstore.MySQL), []storetest.Limit{narrow, addressRequired, loose}},
	{"kysely-sqlite", services.SQLiteDatabase, sqlstore.Kysely(sqlstore.SQLite), []storetest.Limit{addressRequired}},
	{"typeorm-postgresql", services.PostgreSQLDatabase, sqlstore.TypeORM(sqlstore.PostgreSQL), nil},
	{"typeorm-mysql", services.MariaDBDatabase, sqlstore.TypeORM(sqlstore.MySQL), []storetest.Limit{narrow, loose}},
	{"typeorm-sqlite", services.SQLiteDatabase, sqlstore.TypeORM(sqlstore.SQLite), nil},
	{"supabase-postgresql", services.PostgreSQLDatabase, sqlstore.Supabase(), nil},
}

// create makes the tables as documented.
func (l sharedLayout) create(t testing.TB) *services.Database {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", l.file+".sql"))
	if err != nil {
		t.Fatal(err)
	}
	db := l.open(t)
	db.SetMaxIdleConns(writers)
	for statement := range strings.SplitSeq(string(text), ";\n") {
		if strings.TrimSpace(statement) != "" {
			execute(t, db.DB, statement)
		}
	}
	return db
}

func execute(t testing.TB, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func (l sharedLayout) store(t testing.TB, db *services.Database) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.NewShared(db.DB, l.layout)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// repair runs the statements of Check.
func repair(t testing.TB, db *services.Database, s *sqlstore.Store) {
	t.Helper()
	problems, err := s.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if p.Fix == "" {
			t.Errorf("Check: %s: want a statement that repairs it", p.Text)
			continue
		}
		execute(t, db.DB, p.Fix)
	}
}

// withAccounts is the layout with the tables of package account.
func (l sharedLayout) withAccounts() sharedLayout {
	l.layout.AccountTables = true
	return l
}

// quoted is the name of a table as a statement has it.
func (l sharedLayout) quoted(table string) string {
	mark := `"`
	if l.layout.Dialect == sqlstore.MySQL {
		mark = "`"
	}
	return mark + strings.ReplaceAll(table, ".", mark+"."+mark) + mark
}

func (l sharedLayout) tables() []string {
	var names []string
	if l.layout.AccountTables {
		schema, _, dotted := strings.Cut(l.layout.Users.Name, ".")
		for _, table := range []string{"pintle_states", "pintle_factors", "pintle_flows", "pintle_activity", "pintle_facts", "pintle_once", "pintle_leases", "pintle_counts", "pintle_provider_sessions", "pintle_provider_ends"} {
			if dotted {
				table = schema + "." + table
			}
			names = append(names, l.quoted(table))
		}
	}
	for _, table := range []sqlstore.Table{l.layout.Sessions, l.layout.Authenticators, l.layout.Accounts, l.layout.Users, l.layout.Verifications} {
		if table.Name != "" {
			names = append(names, l.quoted(table.Name))
		}
	}
	return names
}

func TestSharedTablesKeepEveryPromiseOnceCheckIsContent(t *testing.T) {
	for _, l := range sharedLayouts {
		if !besideAccounts[l.file] {
			t.Run(l.file, func(t *testing.T) { l.keepsEveryPromise(t, storetest.RunWithoutRaces) })
			continue
		}
		t.Run(l.file+" with the tables of package account", func(t *testing.T) {
			run := storetest.RunWithoutRaces
			if withRaces[l.file] {
				run = storetest.Run
			}
			l.withAccounts().keepsEveryPromise(t, run)
		})
	}
}

// besideAccounts are layouts that differ in what the tables of package account join: the
// dialect, the type of ids, and whether sessions have an id. The other layouts, of every
// dialect, are tested without those tables. The adapters of Auth.js run beside them in
// every layout; see package adapters.
var besideAccounts = map[string]bool{
	"pg-postgresql": true, "drizzle-mysql": true, "prisma-mysql": true, "typeorm-mysql": true,
	"kysely-sqlite": true, "typeorm-sqlite": true, "supabase-postgresql": true,
}

// withRaces is a layout of each dialect. The others have the same statements with other
// names, and other checks find a unique index that is missing.
var withRaces = map[string]bool{"pg-postgresql": true, "drizzle-mysql": true, "typeorm-sqlite": true}

// A layoutStore has no shared state: its tables are the same beside every layout, and are
// tested as those of the own tables.
type layoutStore struct{ *sqlstore.Store }

func (layoutStore) SharedState() sharedstate.Store { return nil }

func (l sharedLayout) keepsEveryPromise(t *testing.T, run func(*testing.T, func(*testing.T) pintle.Store, ...storetest.Limit)) {
	t.Parallel()
	db := l.create(t)
	repair(t, db, l.store(t, db))
	run(t, func(t *testing.T) pintle.Store {
		empty(t, db.DB, l.tables()...)
		return layoutStore{l.store(t, db)}
	}, append(slices.Clip(l.limits), storetest.AuthJSAccounts)...)
}

func TestCheckNamesEveryMissingIndexAndItsStatement(t *testing.T) {
	for _, l := range sharedLayouts {
		t.Run(l.file, func(t *testing.T) {
			db := l.create(t)
			s := l.store(t, db)
			problems, err := s.Check(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var fixes []string
			for _, p := range problems {
				fixes = append(fixes, p.Fix)
			}
			golden(t, l.file+".check", strings.Join(fixes, "\n")+"\n")
			repair(t, db, s)
			if problems, err := s.Check(t.Context()); err != nil || len(problems) != 0 {
				t.Errorf("Check() after the repair = %v, %v, want nothing", problems, err)
			}
		})
	}
}

// Deleting users by hand leaves their accounts in tables without foreign keys.
// Auth.js links such an account a second time, which a unique index rejects.
func TestCheckNamesAccountsOfDeletedUsers(t *testing.T) {
	for _, l := range sharedLayouts {
		if l.file != "pg-postgresql" && l.file != "d1-sqlite" {
			continue
		}
		t.Run(l.file, func(t *testing.T) {
			db := l.create(t)
			s := l.store(t, db)
			repair(t, db, s)
			someone := func(email string) *pintle.Account {
				u, err := s.CreateUser(t.Context(), &pintle.User{Email: email})
				if err != nil {
					t.Fatal(err)
				}
				return &pintle.Account{UserID: u.ID, Type: pintle.TypeOAuth, Provider: "github", ProviderAccountID: email}
			}
			gone, kept := someone("gone@example.org"), someone("kept@example.org")
			if err := errors.Join(s.LinkAccount(t.Context(), gone), s.LinkAccount(t.Context(), kept)); err != nil {
				t.Fatal(err)
			}
			execute(t, db.DB, "DELETE FROM users WHERE email = 'gone@example.org'")
			again := someone("gone@example.org")
			if err := s.LinkAccount(t.Context(), again); !errors.Is(err, pintle.ErrConflict) {
				t.Errorf("LinkAccount before the repair: %v, want ErrConflict", err)
			}

			problems, err := s.Check(t.Context())
			if err != nil || len(problems) != 1 || !strings.Contains(problems[0].Text, "users who are gone, 1 of them") {
				t.Fatalf("Check() = %v, %v, want the account", problems, err)
			}
			repair(t, db, s)
			if err := s.LinkAccount(t.Context(), again); err != nil {
				t.Errorf("LinkAccount after the repair: %v", err)
			}
			if _, err := s.UserByAccount(t.Context(), "github", "kept@example.org"); err != nil {
				t.Errorf("the account of an existing user: %v", err)
			}
			if problems, err := s.Check(t.Context()); err != nil || len(problems) != 0 {
				t.Errorf("Check() after the repair = %v, %v, want nothing", problems, err)
			}
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\n got %s\nwant %s", name, got, want)
	}
}

func TestOwnTablesNeedNoRepair(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			db := migrated(t, d)
			problems, err := sqlstore.New(db.DB, d.dialect).Check(t.Context())
			if err != nil || len(problems) != 0 {
				t.Errorf("Check() = %v, %v, want nothing", problems, err)
			}
		})
	}
}

func TestCheckNamesWhatIsMissing(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			db := d.open(t)
			s := sqlstore.New(db.DB, d.dialect)
			says := func(want ...string) {
				t.Helper()
				problems, err := s.Check(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				var texts []string
				for _, p := range problems {
					texts = append(texts, p.Text)
				}
				if !slices.Equal(texts, want) {
					t.Errorf("Check() reports %q, want %q", texts, want)
				}
			}
			says("the database has no tables yet: run pintle migrate, or call sqlstore.Migrate")
			if err := sqlstore.Migrate(t.Context(), db.DB, d.dialect); err != nil {
				t.Fatal(err)
			}
			says()
			if _, err := s.CreateUser(t.Context(), &pintle.User{ID: "1"}); err != nil {
				t.Fatal(err)
			}
			err := s.InTx(t.Context(), func(tx pintle.Store) error {
				for i := range 1000 {
					session := &pintle.StoredSession{Token: strconv.Itoa(i), UserID: "1", Expires: time.Now().Add(-25 * time.Hour)}
					if err := tx.CreateSession(t.Context(), session); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			says("the table pintle_sessions has 1000 rows or more that expired over a day ago: call Store.Sweep from a schedule")
			if _, err := s.Sweep(t.Context(), time.Now(), 1); err != nil {
				t.Fatal(err)
			}
			says()
			execute(t, db.DB, "ALTER TABLE pintle_authenticators DROP COLUMN last_used")
			says("the table pintle_authenticators has no column last_used, which the layout names")
			execute(t, db.DB, "DROP TABLE pintle_authenticators")
			says("there is no table pintle_authenticators, which the layout names")
			execute(t, db.DB, "DELETE FROM pintle_migrations WHERE version > 1")
			says("the tables are of version 1 and the newest is 9: run pintle migrate, or call sqlstore.Migrate")
			execute(t, db.DB, "DROP TABLE pintle_migrations") // another tool applied them
			says("there is no table pintle_authenticators, which the layout names")
		})
	}
}

// The table of passkeys is in the layout of Drizzle, and many applications have none. It is a
// problem all the same: the store deletes what a user has in every table of the layout.
func TestCheckSaysHowToLeaveTheTableOfPasskeysOut(t *testing.T) {
	for _, l := range sharedLayouts {
		if !strings.HasPrefix(l.file, "drizzle-") && !strings.HasPrefix(l.file, "prisma-") {
			continue
		}
		table := "authenticator"
		if strings.HasPrefix(l.file, "prisma-") {
			table = `"Authenticator"`
			if l.layout.Dialect == sqlstore.MySQL {
				table = "`Authenticator`"
			}
		}
		t.Run(l.file, func(t *testing.T) {
			db := l.create(t)
			repair(t, db, l.store(t, db))
			execute(t, db.DB, "DROP TABLE "+table)
			s := l.store(t, db)
			u, err := s.CreateUser(t.Context(), &pintle.User{Email: "ada@example.org"})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.DeleteUser(t.Context(), u.ID); err == nil {
				t.Error("DeleteUser without a table of the layout succeeded, and Check says that it does not")
			}
			problems, err := s.Check(t.Context())
			if err != nil || len(problems) != 1 || !strings.Contains(problems[0].Text, "set Layout.Authenticators = sqlstore.Table{}") {
				t.Fatalf("Check() = %v, %v, want how to leave the table out", problems, err)
			}
			execute(t, db.DB, problems[0].Fix)
			if left, err := s.Check(t.Context()); err != nil || len(left) != 0 {
				t.Errorf("after %s\nCheck() = %v, %v, want nothing", problems[0].Fix, left, err)
			}
			key := &pintle.Passkey{CredentialID: "a2V5", UserID: u.ID, ProviderAccountID: "a2V5", PublicKey: "cHVibGlj", DeviceType: "multiDevice", BackedUp: true}
			if err := s.CreatePasskey(t.Context(), key); err != nil {
				t.Errorf("CreatePasskey in the table of Check: %v", err)
			}
			if keys, err := s.UserPasskeys(t.Context(), u.ID); err != nil || len(keys) != 1 || !keys[0].BackedUp {
				t.Errorf("UserPasskeys = %v, %v", keys, err)
			}
			if err := s.DeletePasskey(t.Context(), u.ID, "a2V5"); err != nil {
				t.Error(err)
			}
			execute(t, db.DB, "DROP TABLE "+table)
			// A program that migrates before it starts learns of it then.
			shared := l.withAccounts().layout
			if err := sqlstore.MigrateShared(t.Context(), db.DB, shared); err == nil || !strings.Contains(err.Error(), ", which the layout names: ") ||
				!strings.Contains(err.Error(), "no user can be deleted. If the application has no passkeys, set Layout.Authenticators = sqlstore.Table{}") {
				t.Errorf("MigrateShared() = %v, want how to leave the table out", err)
			}
			shared.Authenticators = sqlstore.Table{}
			if err := sqlstore.MigrateShared(t.Context(), db.DB, shared); err != nil {
				t.Errorf("MigrateShared() of the layout without the table = %v", err)
			}

			l.layout.Authenticators = sqlstore.Table{}
			s = l.store(t, db)
			if problems, err := s.Check(t.Context()); err != nil || len(problems) != 0 {
				t.Errorf("Check() of the layout without the table = %v, %v, want nothing", problems, err)
			}
			if err := s.DeleteUser(t.Context(), u.ID); err != nil {
				t.Errorf("DeleteUser with the layout without the table: %v", err)
			}
		})
	}
}

func TestCheckNamesSettingsThatHurt(t *testing.T) {
	tests := []struct {
		name    string
		dialect sqlstore.Dialect
		open    func(testing.TB) *services.Database
		dsn     func(string) string
		want    []string
	}{
		{"SQLite", sqlstore.SQLite, services.SQLiteDatabase, func(dsn string) string { return strings.Split(dsn, "?")[0] }, []string{"busy_timeout"}},
		{"MariaDB", sqlstore.MySQL, services.MariaDBDatabase, func(dsn string) string { return dsn + "?sql_mode=''&charset=latin1" }, []string{"STRICT_TRANS_TABLES", "utf8mb4"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			made := migrated(t, database{tt.name, tt.dialect, tt.open})
			db, err := sql.Open(made.Driver, tt.dsn(made.DSN))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			problems, err := sqlstore.New(db, tt.dialect).Check(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(problems) != len(tt.want) {
				t.Errorf("Check() = %v, want %d problems", problems, len(tt.want))
			}
			for i, p := range problems {
				if !strings.Contains(p.Text, tt.want[i]) || p.Fix != "" {
					t.Errorf("problem %d is %v, want one with %s", i, p, tt.want[i])
				}
			}
		})
	}
}
