package sqlstore_test

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/integration/recorder"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// described returns the columns and the indices of the tables of Auth.js, one a line.
func described(t *testing.T, db *sql.DB, d sqlstore.Dialect) string {
	t.Helper()
	queries := map[sqlstore.Dialect][]string{
		sqlstore.PostgreSQL: {
			`SELECT concat_ws(' ', table_schema, table_name, column_name, data_type, column_default, is_nullable) FROM information_schema.columns
			WHERE table_schema IN ('public', 'next_auth') AND table_name NOT LIKE 'pintle%' ORDER BY 1`,
			`SELECT indexdef FROM pg_indexes WHERE schemaname IN ('public', 'next_auth') AND tablename NOT LIKE 'pintle%' ORDER BY 1`,
		},
		sqlstore.MySQL: {
			`SELECT concat_ws(' ', table_name, column_name, column_type, column_default, is_nullable, collation_name) FROM information_schema.columns
			WHERE table_schema = DATABASE() AND table_name NOT LIKE 'pintle%' ORDER BY 1`,
			`SELECT concat_ws(' ', table_name, index_name, seq_in_index, column_name, non_unique) FROM information_schema.statistics
			WHERE table_schema = DATABASE() AND table_name NOT LIKE 'pintle%' ORDER BY 1`,
		},
		sqlstore.SQLite: {"SELECT coalesce(sql, name) FROM sqlite_schema WHERE tbl_name NOT LIKE 'pintle%' ORDER BY 1"},
	}
	var b strings.Builder
	for _, query := range queries[d] {
		lines := 0
		rows, err := db.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for ; rows.Next(); lines++ {
			var line string
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			b.WriteString(line + "\n")
		}
		if err := rows.Err(); err != nil || lines < 5 {
			t.Fatalf("%s: %d lines, %v", query, lines, err)
		}
	}
	return b.String()
}

// AC-211, AC-216: what package account keeps changes neither the tables of Auth.js nor
// the rows in them.
func TestAccountTablesLeaveTheTablesOfAuthJSAsTheyAre(t *testing.T) {
	for _, l := range sharedLayouts {
		t.Run(l.file, func(t *testing.T) {
			db := l.create(t)
			without := l.store(t, db)
			repair(t, db, without)
			if without.AccountStore() != nil {
				t.Error("the store has an AccountStore without Layout.AccountTables")
			}
			u, err := without.CreateUser(t.Context(), &pintle.User{ID: "1", Name: "Ada", Email: "ada@example.org"})
			if err != nil {
				t.Fatal(err)
			}
			err = errors.Join(
				without.LinkAccount(t.Context(), &pintle.Account{UserID: u.ID, Type: pintle.TypeOAuth, Provider: "github", ProviderAccountID: "1"}),
				without.CreateSession(t.Context(), &pintle.StoredSession{Token: "token", UserID: u.ID, Expires: time.Now().Add(time.Hour)}),
				without.CreateVerification(t.Context(), &pintle.Verification{Identifier: "ada@example.org", Token: "link", Expires: time.Now().Add(time.Hour)}),
			)
			if err != nil {
				t.Fatal(err)
			}
			look := func() string {
				var b strings.Builder
				b.WriteString(described(t, db.DB, l.layout.Dialect))
				for _, table := range l.tables() {
					dump(t, &b, db.DB, l.layout.Dialect, table, "")
				}
				return b.String()
			}
			before := look()

			l := l.withAccounts()
			for range 2 {
				if err := sqlstore.MigrateShared(t.Context(), db.DB, l.layout); err != nil {
					t.Fatal(err)
				}
			}
			s := l.store(t, db)
			if problems, err := s.Check(t.Context()); err != nil || len(problems) != 0 {
				t.Errorf("Check() = %v, %v, want nothing", problems, err)
			}
			rows := s.AccountStore()
			_, counted := rows.CountFailure(t.Context(), u.ID, time.Now(), time.Hour, 10)
			err = errors.Join(
				counted,
				rows.ChangeState(t.Context(), &accountstore.State{UserID: u.ID, Roles: []string{"admin"}}),
				rows.AddFactor(t.Context(), &accountstore.Factor{UserID: u.ID, Kind: "password", Secret: "$argon2id$"}),
				rows.CreateFlow(t.Context(), &accountstore.Flow{ID: accountstore.Hash{1}, Kind: "reset", Subject: u.ID, Expires: time.Now().Add(time.Hour)}),
				s.UpdateSession(t.Context(), "token", pintle.SessionUpdate{Data: map[string]any{"a": "b"}}),
			)
			if err != nil {
				t.Fatal(err)
			}
			// Prisma's schema has a column for the time of each write of a user, and
			// nothing here has written one.
			if after := look(); after != before {
				t.Errorf("the tables of Auth.js were\n%s\nand are\n%s", before, after)
			}
			if found, _, err := s.SessionAndUser(t.Context(), "token"); err != nil || found.Data["a"] != "b" {
				t.Errorf("SessionAndUser() = %+v, %v, want the data", found, err)
			}
		})
	}
}

func TestProcessesThatMigrateSharedTablesAtOnceAllSucceed(t *testing.T) {
	for _, l := range sharedLayouts {
		if l.file != "drizzle-"+l.layout.Dialect.String() && l.file != "supabase-postgresql" {
			continue
		}
		t.Run(l.file, func(t *testing.T) {
			l := l.withAccounts()
			db := l.create(t)
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
					errs[i] = sqlstore.MigrateShared(t.Context(), process, l.layout)
				})
			}
			close(start)
			all.Wait()
			if err := errors.Join(errs...); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestMigrateSharedMakesNoTablesThatTheLayoutDoesNotName(t *testing.T) {
	for _, l := range sharedLayouts {
		if l.file != "drizzle-"+l.layout.Dialect.String() {
			continue
		}
		t.Run(l.file, func(t *testing.T) {
			db := l.create(t)
			if err := sqlstore.MigrateShared(t.Context(), db.DB, l.layout); err == nil || !strings.Contains(err.Error(), "Layout.AccountTables is not set") {
				t.Errorf("MigrateShared of a layout without these tables: %v, want an error", err)
			}
			l := l.withAccounts()
			execute(t, db.DB, "ALTER TABLE "+l.quoted("session")+" ADD data text")
			l.layout.Sessions.Columns = map[string]string{"data": "data"}
			if err := sqlstore.MigrateShared(t.Context(), db.DB, l.layout); err != nil {
				t.Fatal(err)
			}
			if _, err := db.ExecContext(t.Context(), "SELECT * FROM pintle_states"); err != nil {
				t.Error(err)
			}
			if _, err := db.ExecContext(t.Context(), "SELECT * FROM pintle_facts"); err == nil {
				t.Error("there is a table for the data of sessions, for which the layout has a column")
			}
		})
	}
}

// Migrate finds the tables that MigrateShared has made, with their rows: the
// application has left the tables of Auth.js.
func TestMigrateKeepsTheRowsOfSharedTables(t *testing.T) {
	for _, l := range sharedLayouts {
		if l.file != "drizzle-"+l.layout.Dialect.String() {
			continue
		}
		t.Run(l.file, func(t *testing.T) {
			l := l.withAccounts()
			db := l.create(t)
			repair(t, db, l.store(t, db))
			f := &accountstore.Factor{UserID: "1", Kind: "password", Secret: "$argon2id$"}
			if err := l.store(t, db).AccountStore().AddFactor(t.Context(), f); err != nil {
				t.Fatal(err)
			}
			if err := sqlstore.Migrate(t.Context(), db.DB, l.layout.Dialect); err != nil {
				t.Fatal(err)
			}
			s := sqlstore.New(db.DB, l.layout.Dialect)
			if found, err := s.AccountStore().Factors(t.Context(), "1"); err != nil || len(found) != 1 || found[0].Secret != f.Secret {
				t.Errorf("Factors() = %v, %v, want the password", found, err)
			}
			if problems, err := s.Check(t.Context()); err != nil || len(problems) != 0 {
				t.Errorf("Check() = %v, %v, want nothing", problems, err)
			}
		})
	}
}

// AC-210: a program of the version before, which does not know the newest tables, goes
// on while and after a newer one migrates.
func TestAVersionWithoutAccountTablesGoesOnAfterTheMigration(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			db := d.open(t)
			all := steps(t, d.dialect)
			for _, step := range all[:3] {
				for _, statement := range step {
					execute(t, db.DB, statement)
				}
			}
			old := []string{
				"INSERT INTO pintle_users (id) VALUES ('1')", "DELETE FROM pintle_users WHERE id = '1'",
			}
			for _, statement := range old {
				execute(t, db.DB, statement)
			}
			for _, statement := range all[3] {
				execute(t, db.DB, statement)
				for _, statement := range old {
					execute(t, db.DB, statement)
				}
			}
		})
	}
}

// AC-211
func TestCheckNamesMissingAccountTablesAndTheirStatements(t *testing.T) {
	for _, l := range sharedLayouts {
		if l.file != "drizzle-"+l.layout.Dialect.String() && l.file != "supabase-postgresql" {
			continue
		}
		t.Run(l.file, func(t *testing.T) {
			l := l.withAccounts()
			db := l.create(t)
			s := l.store(t, db)
			repair(t, db, s)
			execute(t, db.DB, "DROP TABLE "+l.tables()[2])
			problems, err := s.Check(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			table := strings.NewReplacer(`"`, "", "`", "").Replace(l.tables()[2])
			want := []string{"there is no table " + table + ": run pintle migrate -layout NAME -accounts, or call sqlstore.MigrateShared"}
			if l.layout.Dialect != sqlstore.MySQL {
				want = append(want, "there is no index of the table "+table, "there is no index of the table "+table)
			}
			var texts []string
			for _, p := range problems {
				texts = append(texts, p.Text)
				if strings.Contains(p.Fix, "--") {
					t.Errorf("the statement has a comment: %s", p.Fix)
				}
			}
			if !slices.Equal(texts, want) {
				t.Errorf("Check() reports %q, want %q", texts, want)
			}
			repair(t, db, s)
			if problems, err := s.Check(t.Context()); err != nil || len(problems) != 0 {
				t.Errorf("Check() after the repair = %v, %v, want nothing", problems, err)
			}
		})
	}
}

// A number that is given out once more does not bring the password of the user who had
// it before.
func TestANumberThatIsGivenOutAgainHasNoPassword(t *testing.T) {
	for _, l := range sharedLayouts {
		if l.file != "pg-postgresql" {
			continue
		}
		l := l.withAccounts()
		db := l.create(t)
		s := l.store(t, db)
		repair(t, db, s)
		before, err := s.CreateUser(t.Context(), &pintle.User{Email: "ada@example.org"})
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(
			s.AccountStore().AddFactor(t.Context(), &accountstore.Factor{UserID: before.ID, Kind: "password", Secret: "$argon2id$"}),
			s.AccountStore().ChangeState(t.Context(), &accountstore.State{UserID: before.ID, Roles: []string{"admin"}}),
		)
		if err != nil {
			t.Fatal(err)
		}
		execute(t, db.DB, "DELETE FROM users")
		execute(t, db.DB, "ALTER SEQUENCE users_id_seq RESTART")
		u, err := s.CreateUser(t.Context(), &pintle.User{Email: "grace@example.org"})
		if err != nil || u.ID != before.ID {
			t.Fatalf("CreateUser() = %+v, %v, want the id %s", u, err, before.ID)
		}
		factors, err := s.AccountStore().Factors(t.Context(), u.ID)
		if err != nil || len(factors) != 0 {
			t.Errorf("Factors() = %v, %v, want none", factors, err)
		}
		if state, err := s.AccountStore().State(t.Context(), u.ID); err != nil || len(state.Roles) != 0 {
			t.Errorf("State() = %+v, %v, want no roles", state, err)
		}
	}
}

// A factsSite is a store whose sessions have their data in a table, and a user.
type factsSite struct {
	*testing.T
	*sqlstore.Store
	l    sharedLayout
	db   *services.Database
	user *pintle.User
}

// eachFactsSite runs a test in each layout.
func eachFactsSite(t *testing.T, test func(*factsSite)) {
	for _, l := range sharedLayouts {
		t.Run(l.file, func(t *testing.T) {
			t.Parallel()
			test(newFactsSite(t, l.withAccounts()))
		})
	}
}

func newFactsSite(t *testing.T, l sharedLayout) *factsSite {
	t.Helper()
	db := l.create(t)
	s := &factsSite{T: t, Store: l.store(t, db), l: l, db: db}
	repair(t, db, s.Store)
	s.user = s.someone("ada@example.org")
	return s
}

func (s *factsSite) someone(email string) *pintle.User {
	s.Helper()
	u, err := s.CreateUser(s.Context(), &pintle.User{Email: email})
	s.ok(err)
	return u
}

func (s *factsSite) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// session creates a session with data, which expires in some time.
func (s *factsSite) session(token string, expires time.Duration) {
	s.Helper()
	s.ok(s.CreateSession(s.Context(), &pintle.StoredSession{Token: token, UserID: s.user.ID, Expires: time.Now().Add(expires), Data: map[string]any{"of": token}}))
}

// byAuthJS runs a statement on the table of sessions, as Auth.js would.
func (s *factsSite) byAuthJS(format string, args ...any) {
	s.Helper()
	execute(s.T, s.db.DB, fmt.Sprintf(strings.ReplaceAll(format, "SESSIONS", s.l.quoted(s.l.layout.Sessions.Name)), args...))
}

// rows returns how many rows there are in the table of data.
func (s *factsSite) rows() (n int) {
	s.Helper()
	tables := s.l.tables()
	data := tables[slices.IndexFunc(tables, func(name string) bool { return strings.Contains(name, "pintle_facts") })]
	s.ok(s.db.QueryRowContext(s.Context(), "SELECT COUNT(*) FROM "+data).Scan(&n))
	return n
}

// has fails unless the sessions of the user, and no others, have their data in rows.
func (s *factsSite) has(tokens ...string) {
	s.Helper()
	for _, token := range tokens {
		found, _, err := s.SessionAndUser(s.Context(), token)
		if err != nil || found.Data["of"] != token {
			s.Errorf("SessionAndUser(%q) = %+v, %v, want its data", token, found, err)
		}
	}
	if n := s.rows(); n != len(tokens) {
		s.Errorf("%d rows have data of sessions, want %d", n, len(tokens))
	}
}

func (s *factsSite) sweeps(want int) {
	s.Helper()
	if n, err := s.Sweep(s.Context(), time.Now(), 100); n != want || err != nil {
		s.Errorf("Sweep() = %d, %v, want %d", n, err, want)
	}
}

func TestTheDataOfASessionGoesWithTheSession(t *testing.T) {
	eachFactsSite(t, func(s *factsSite) {
		for _, token := range []string{"a", "b", "c", "d", "e"} {
			s.session(token, time.Hour)
		}
		s.has("a", "b", "c", "d", "e")
		listed := 0
		for session, err := range s.UserSessions(s.Context(), s.user.ID) {
			s.ok(err)
			if len(session.Data) != 1 {
				s.Errorf("a listed session has the data %v", session.Data)
			}
			if session.Data["of"] == "a" {
				listed++
				s.ok(s.EndSession(s.Context(), s.user.ID, session.Handle))
			}
		}
		if listed != 1 {
			s.Errorf("the data of the session appears %d times in the list, want once", listed)
		}
		s.has("b", "c", "d", "e")
		deleted, err := s.DeleteSession(s.Context(), "b")
		if err != nil || deleted.Data["of"] != "b" {
			s.Errorf("DeleteSession() = %+v, %v, want its data", deleted, err)
		}
		s.has("c", "d", "e")
		s.ok(s.UpdateSession(s.Context(), "c", pintle.SessionUpdate{Data: map[string]any{}}))
		s.has("d", "e")
		n, err := s.EndUserSessions(s.Context(), s.user.ID, "d")
		if n != 2 || err != nil {
			s.Errorf("EndUserSessions() = %d, %v, want 2", n, err)
		}
		s.has("d")
		s.ok(s.DeleteUser(s.Context(), s.user.ID))
		s.has()
	})
}

func TestTheDataOfAnotherUserIsNotThatOfASession(t *testing.T) {
	eachFactsSite(t, func(s *factsSite) {
		s.session("token", time.Hour)
		other := s.someone("grace@example.org")
		s.byAuthJS("UPDATE SESSIONS SET %s = '%s'", s.l.quoted("userId"), other.ID)
		found, _, err := s.SessionAndUser(s.Context(), "token")
		if err != nil || found.UserID != other.ID || found.Data != nil {
			s.Errorf("SessionAndUser() = %+v, %v, want no data", found, err)
		}
		deleted, err := s.DeleteSession(s.Context(), "token")
		if err != nil || deleted.Data != nil {
			s.Errorf("DeleteSession() = %+v, %v, want no data", deleted, err)
		}
	})
}

func TestASweepRemovesTheDataOfSessionsThatAuthJSDeleted(t *testing.T) {
	eachFactsSite(t, func(s *factsSite) {
		s.session("live", time.Hour)
		s.session("expired", -time.Hour)
		s.session("gone", -time.Hour)
		s.session("gone early", time.Hour)
		s.byAuthJS("DELETE FROM SESSIONS WHERE %s LIKE 'gone%%'", s.l.quoted("sessionToken"))
		s.sweeps(2) // an expired session with its data, and data alone
		if n := s.rows(); n != 2 {
			s.Errorf("%d rows have data, want 2: the others expire later", n)
		}
		s.sweeps(0)
		n, err := s.Sweep(s.Context(), time.Now().Add(2*time.Hour), 1)
		if n != 1 || err != nil {
			s.Errorf("Sweep() of one = %d, %v", n, err)
		}
		n, err = s.Sweep(s.Context(), time.Now().Add(2*time.Hour), 100)
		if n > 1 || err != nil || s.rows() != 0 {
			s.Errorf("Sweep() of the rest = %d, %v, and %d rows are left", n, err, s.rows())
		}
	})
}

func TestASweepKeepsTheDataOfSessionsThatAuthJSExtended(t *testing.T) {
	eachFactsSite(t, func(s *factsSite) {
		s.session("longer", -time.Hour)
		s.session("extended", time.Hour)
		s.byAuthJS("UPDATE SESSIONS SET expires = (SELECT e FROM (SELECT expires AS e FROM SESSIONS WHERE %[1]s = 'extended') x) WHERE %[1]s = 'longer'", s.l.quoted("sessionToken"))
		s.sweeps(0)
		s.has("longer", "extended")
		s.ok(s.UpdateSession(s.Context(), "longer", pintle.SessionUpdate{Expires: time.Now().Add(-time.Hour)}))
		s.sweeps(1)
		if _, err := s.Sweep(s.Context(), time.Now().Add(2*time.Hour), 100); err != nil || s.rows() != 0 {
			s.Errorf("after the last sweep %d rows have data, %v", s.rows(), err)
		}
	})
}

// A session that Auth.js extended, and that has expired since, is found among the data
// before its turn to be swept.
func TestASweepLeavesTheDataOfExpiredSessionsThatAreLeft(t *testing.T) {
	eachFactsSite(t, func(s *factsSite) {
		s.session("extended", -3*time.Hour)
		s.session("later", -time.Hour)
		s.byAuthJS("UPDATE SESSIONS SET expires = (SELECT e FROM (SELECT expires AS e FROM SESSIONS WHERE %[1]s = 'later') x) WHERE %[1]s = 'extended'", s.l.quoted("sessionToken"))
		s.session("first", -2*time.Hour)
		for n := 1; n == 1; {
			var err error
			if n, err = s.Sweep(s.Context(), time.Now(), 1); n > 1 || err != nil {
				s.Fatalf("Sweep() of one = %d, %v", n, err)
			}
			for _, token := range []string{"extended", "later"} {
				if found, _, err := s.SessionAndUser(s.Context(), token); err == nil && found.Data["of"] != token {
					s.Errorf("the session %q is there without its data", token)
				}
			}
		}
		s.has()
	})
}

// PostgreSQL ends the transaction that has waited in a circle for deadlock_timeout, here
// that of the store. The call begins again.
func TestAChangeThatADeadlockEndedIsMade(t *testing.T) {
	for _, l := range sharedLayouts {
		if l.file != "drizzle-postgresql" {
			continue
		}
		s := newFactsSite(t, l.withAccounts())
		s.session("token", time.Hour)
		tx, err := s.db.BeginTx(s.Context(), nil)
		s.ok(err)
		defer func() { _ = tx.Rollback() }()
		for _, statement := range []string{"SET LOCAL deadlock_timeout = '1min'", "SELECT session FROM pintle_facts FOR UPDATE"} {
			_, err := tx.ExecContext(s.Context(), statement)
			s.ok(err)
		}
		changed := make(chan error)
		go func() {
			changed <- s.UpdateSession(s.Context(), "token", pintle.SessionUpdate{Data: map[string]any{"of": "token", "changed": true}})
		}()
		for waits := false; !waits; {
			s.ok(s.db.QueryRowContext(s.Context(), "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')").Scan(&waits))
		}
		_, err = tx.ExecContext(s.Context(), `SELECT "userId" FROM session FOR UPDATE`)
		s.ok(err)
		s.ok(tx.Commit())
		s.ok(<-changed)
		if found, _, err := s.SessionAndUser(s.Context(), "token"); err != nil || found.Data["changed"] != true {
			s.Errorf("SessionAndUser() = %+v, %v, want the changed data", found, err)
		}
	}
}

// AC-132
func TestASessionWithItsDataIsCheckedInOneRoundTrip(t *testing.T) {
	eachFactsSite(t, func(s *factsSite) {
		s.session("token", time.Hour)
		db, r := recorder.Open(s.T, s.db)
		db.SetMaxOpenConns(1)
		store, err := sqlstore.NewShared(db, s.l.layout)
		s.ok(err)
		for range 3 {
			r.Take()
			found, _, err := store.SessionAndUser(s.Context(), "token")
			if err != nil || found.Data["of"] != "token" {
				s.Errorf("SessionAndUser() = %+v, %v, want its data", found, err)
			}
			if sent := r.Take(); len(sent) != 1 {
				s.Errorf("sent %d statements, want 1: %v", len(sent), sent)
			}
		}
	})
}
