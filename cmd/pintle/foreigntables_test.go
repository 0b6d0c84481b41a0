package main

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/store/sqlstore"
)

// The tables of Drizzle for SQLite, without that of passkeys.
const drizzleTables = `
CREATE TABLE user (id text PRIMARY KEY NOT NULL, name text, email text UNIQUE, emailVerified integer, image text);
CREATE TABLE account (
	userId text NOT NULL, type text NOT NULL, provider text NOT NULL, providerAccountId text NOT NULL, refresh_token text, access_token text,
	expires_at integer, token_type text, scope text, id_token text, session_state text, PRIMARY KEY (provider, providerAccountId)
);
CREATE INDEX account_user ON account (userId);
CREATE TABLE session (sessionToken text PRIMARY KEY NOT NULL, userId text NOT NULL, expires integer NOT NULL);
CREATE INDEX session_user ON session (userId);
CREATE INDEX session_expires ON session (expires);
CREATE TABLE verificationToken (identifier text NOT NULL, token text NOT NULL, expires integer NOT NULL, PRIMARY KEY (identifier, token));
CREATE INDEX verification_expires ON verificationToken (expires);
PRAGMA journal_mode = WAL`

// drizzleDatabase returns the URL of a database of Drizzle.
func drizzleDatabase(t *testing.T) (*sql.DB, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "app.db")
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.ExecContext(t.Context(), drizzleTables); err != nil {
		t.Fatal(err)
	}
	return db, "sqlite:" + path
}

// output runs the command.
func output(args ...string) (status int, text string) {
	var b strings.Builder
	status = run(args, &b, &b)
	return status, b.String()
}

// A newcomer who is told to migrate has a second set of tables, without users.
func TestTablesOfAuthJSAreNamedAndNotCalledMissing(t *testing.T) {
	t.Setenv("AUTH_SECRET", "an-authentication-secret-for-tests")
	_, address := drizzleDatabase(t)
	for _, args := range [][]string{{"doctor"}, {"activity"}, {"sweep"}, {"reseal"}, {"users", "list"}, {"doctor", "-layout", "d1"}} {
		status, text := output(append(args, address)...)
		if want := "tables of Auth.js (drizzle): use -layout drizzle\n"; status != 1 || !strings.Contains(text, want) || strings.Contains(text, "pintle migrate") {
			t.Errorf("pintle %q: status %d, want 1 and %q, without pintle migrate:\n%s", args, status, want, text)
		}
	}
}

// Once the second set is there, no command says that the application has other users.
func TestMigrateMakesNoSecondSetOfUsersUnlessToldTo(t *testing.T) {
	db, address := drizzleDatabase(t)
	if _, err := db.ExecContext(t.Context(), "PRAGMA journal_mode = DELETE"); err != nil {
		t.Fatal(err)
	}
	status, text := output("migrate", address)
	if status != 1 || !strings.Contains(text, "tables like those of Auth.js (drizzle)") ||
		!strings.Contains(text, "pintle migrate -layout drizzle -accounts") || !strings.Contains(text, "pintle migrate -own") {
		t.Errorf("migrate: status %d, want 1, the layout, and both ways to go on:\n%s", status, text)
	}
	var tables int
	var mode string
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM sqlite_master WHERE name LIKE 'pintle%'").Scan(&tables); err != nil || tables != 0 {
		t.Errorf("after the refusal there are %d tables (%v), want none", tables, err)
	}
	if err := db.QueryRowContext(t.Context(), "PRAGMA journal_mode").Scan(&mode); err != nil || mode != "delete" {
		t.Errorf("after the refusal the journal mode is %q (%v), want that of before", mode, err)
	}
	if status, text := output("migrate", "-own", "-layout", "drizzle", address); status != 2 || !strings.Contains(text, "-own") {
		t.Errorf("migrate -own -layout: status %d, want 2:\n%s", status, text)
	}
	for _, args := range [][]string{{"-layout", "drizzle", "-accounts"}, {"-own"}, {}} { // the last one is for tables that are there
		if status, text := output(append(append([]string{"migrate"}, args...), address)...); status != 0 {
			t.Errorf("migrate %q: status %d, want 0:\n%s", args, status, text)
		}
	}
}

// Users, accounts and sessions are tables of many applications.
func TestMigrateMakesTablesBesideThoseOfAnApplication(t *testing.T) {
	for _, tables := range []string{
		"CREATE TABLE users (id integer PRIMARY KEY, login text); CREATE TABLE accounts (id integer PRIMARY KEY, balance real); CREATE TABLE sessions (id text PRIMARY KEY, started text)",
		"CREATE TABLE User (id integer PRIMARY KEY, login text); CREATE TABLE Account (id integer PRIMARY KEY, owner text); CREATE TABLE Session (id text PRIMARY KEY, room text)",
	} {
		db, address := drizzleDatabase(t)
		if _, err := db.ExecContext(t.Context(), "DROP TABLE user; DROP TABLE account; DROP TABLE session; "+tables); err != nil {
			t.Fatal(err)
		}
		if status, text := output("migrate", address); status != 0 {
			t.Errorf("migrate: status %d, want 0:\n%s", status, text)
		}
	}
	// Columns of Auth.js may have other names.
	for table, rename := range map[string]string{
		"session": "ALTER TABLE session RENAME COLUMN sessionToken TO session_token",
		"account": "ALTER TABLE account RENAME COLUMN providerAccountId TO provider_account_id",
	} {
		db, address := drizzleDatabase(t)
		if _, err := db.ExecContext(t.Context(), rename); err != nil {
			t.Fatal(err)
		}
		if status, text := output("migrate", address); status != 1 || !strings.Contains(text, "tables like those of Auth.js (drizzle)") {
			t.Errorf("migrate beside another %s: status %d, want 1 and the layout:\n%s", table, status, text)
		}
	}
}

// A search that could not look everywhere has not found that there are no tables.
func TestASearchThatEndsEarlyHasNotFoundNothing(t *testing.T) {
	db, _ := drizzleDatabase(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if found, err := new(tableFlags).otherLayouts(ctx, db, sqlstore.SQLite); err == nil {
		t.Errorf("a search that was ended found %q, want an error", found)
	}
}

func TestMigrateNamesTheLayouts(t *testing.T) {
	for _, args := range [][]string{{"-layout", "foo"}, {"-layout", "foo", "-accounts"}} {
		status, text := output(append(append([]string{"migrate"}, args...), "sqlite:app.db")...)
		if want := `there is no layout "foo", only d1, drizzle, kysely, neon, pg, prisma, supabase, typeorm`; status != 2 || !strings.Contains(text, want) {
			t.Errorf("migrate %q: status %d, want 2 and %q:\n%s", args, status, want, text)
		}
	}
}

func TestTablesThatAreNotThoseOfAuthJSAreNoLayout(t *testing.T) {
	db, address := drizzleDatabase(t)
	if _, err := db.ExecContext(t.Context(), "DROP TABLE session"); err != nil {
		t.Fatal(err)
	}
	if _, text := output("doctor", address); !strings.Contains(text, "the database has no tables yet: run pintle migrate") {
		t.Errorf("doctor:\n%s\nwant that it has no tables", text)
	}
}

// Store.Check and the doctor examine the same tables, but only the program says whether its
// layout has passkeys.
func TestTheTableOfPasskeysMayBeLeftOut(t *testing.T) {
	db, address := drizzleDatabase(t)
	status, text := output("doctor", "-layout", "drizzle", address)
	if status != 1 || strings.Contains(text, "tables and indices it should have") ||
		!strings.Contains(text, "there is no table authenticator for passkeys, which the layout names: no user can be deleted\n") ||
		!strings.Contains(text, "set Layout.Authenticators = sqlstore.Table{} in the application and give -table authenticators= here") {
		t.Errorf("doctor: status %d, want 1 and what to do about the table:\n%s", status, text)
	}
	if status, text = output("doctor", "-layout", "drizzle", "-table", "authenticators=", address); status != 0 || strings.Contains(text, "passkeys") {
		t.Errorf("doctor -table authenticators=: status %d, want 0 and nothing about passkeys:\n%s", status, text)
	}
	if status, text = output("doctor", "-layout", "drizzle", "-passkeys", address); status != 1 ||
		!strings.Contains(text, "there is no table authenticator, which the layout names: no user can be deleted. If the application has no passkeys, set Layout.Authenticators") {
		t.Errorf("doctor -passkeys: status %d, want 1 and the table:\n%s", status, text)
	}
	layout := sqlstore.Drizzle(sqlstore.SQLite)
	layout.Authenticators = sqlstore.Table{}
	store, err := sqlstore.NewShared(db, layout)
	if err != nil {
		t.Fatal(err)
	}
	if problems, err := store.Check(t.Context()); err != nil || len(problems) != 0 {
		t.Errorf("Check() of the layout without the table = %v, %v, want nothing", problems, err)
	}
}

func TestAColumnThatIsMissingComesWithWhatToDo(t *testing.T) {
	_, address := drizzleDatabase(t)
	for option, want := range map[string]string{
		"-extra=users=rolle":              "the table user has no column rolle, which the layout names: create it, or leave it out of Extra of the layout, or out of -extra\n",
		"-column=users.emailVerified=ver": "the table user has no column ver, which the layout names: create it, or set its name in Columns of the layout, or with -column\n",
		"-table=verifications=tokens":     "there is no table tokens, which the layout names: set its name in the layout, or with -table\n",
	} {
		if status, text := output("doctor", "-layout", "drizzle", option, address); status != 1 || !strings.Contains(text, want) {
			t.Errorf("doctor %s: status %d, want 1 and %q:\n%s", option, status, want, text)
		}
	}
}

// A mistyped -extra hid that no user can be made.
func TestAColumnThatIsMissingHidesNoOtherProblem(t *testing.T) {
	db, address := drizzleDatabase(t)
	if _, err := db.ExecContext(t.Context(), "ALTER TABLE user RENAME TO former; CREATE TABLE user (id text PRIMARY KEY, name text, email text UNIQUE, emailVerified integer, image text, role text NOT NULL)"); err != nil {
		t.Fatal(err)
	}
	for option, wants := range map[string][]string{
		"-extra=users=rolle": {"no column rolle", "the column role of the table user must have a value, has no default, and is not in the layout: every new user is refused: " +
			"give the column a default, or name it in Extra of the layout and return a value from the Profile function\n"},
		"-extra=users=role": {"every new user is refused for which no Profile function gives one: give the column a default, or a value to each row\n"},
	} {
		status, text := output("doctor", "-layout", "drizzle", option, address)
		for _, want := range wants {
			if status != 1 || !strings.Contains(text, want) {
				t.Errorf("doctor %s: status %d, want 1 and %q:\n%s", option, status, want, text)
			}
		}
	}
}

// An address need not be proven for the act that proves it, and for no other.
func TestTheCommandVerifiesAnAddress(t *testing.T) {
	t.Setenv("AUTH_SECRET", "an-authentication-secret-for-tests")
	t.Setenv("AUTH_URL", "https://app.example.com")
	t.Setenv("DATABASE_URL", "sqlite:"+filepath.Join(t.TempDir(), "app.db"))
	for _, step := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"migrate"}, 0, ""},
		{[]string{"users", "create", "ada@example.com"}, 0, ""},
		{[]string{"users", "roles", "ada@example.com", "admin"}, 1, "has not proven the address"},
		{[]string{"users", "verify", "bob@example.com"}, 1, "there is no user"},
		{[]string{"users", "verify", "ada@example.com"}, 0, "the address is proven"},
		{[]string{"users", "roles", "ada@example.com", "admin"}, 0, ""},
	} {
		if status, text := output(step.args...); status != step.status || !strings.Contains(text, step.says) {
			t.Errorf("pintle %q: status %d, want %d and %q:\n%s", step.args, status, step.status, step.says, text)
		}
	}
}

// An option such as tls=true that was ignored would send the password without TLS.
func TestTheParametersOfAMySQLURLAreUsed(t *testing.T) {
	if _, _, err := openDatabase("mysql://app:s3cret@localhost/app?tls=nonesuch", mustExist); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("openDatabase with an unknown TLS configuration: %v, want an error without the password", err)
	}
	for _, address := range []string{"mysql://app:s3cret@localhost/app?tls=true", "mysql://app@[::1]/app"} {
		db, _, err := openDatabase(address, mustExist)
		if err != nil {
			t.Fatalf("openDatabase(%s): %v", address, err)
		}
		_ = db.Close()
	}
}
