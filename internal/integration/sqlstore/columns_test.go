package sqlstore_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/sqlstore"
)

func TestFurtherColumnsAreUsedWhenTheLayoutNamesThem(t *testing.T) {
	for _, l := range sharedLayouts {
		if l.file != "drizzle-"+l.layout.Dialect.String() {
			continue
		}
		t.Run(l.file, func(t *testing.T) {
			db := l.create(t)
			mark := `"`
			if l.layout.Dialect == sqlstore.MySQL {
				mark = "`"
			}
			created := map[sqlstore.Dialect]string{sqlstore.PostgreSQL: "timestamp", sqlstore.MySQL: "datetime(3)", sqlstore.SQLite: "integer"}[l.layout.Dialect]
			for _, column := range []string{"user ADD role varchar(20)", "user ADD level integer", "account ADD refresh_token_expires_in integer", "session ADD data text", "session ADD created " + created} {
				var table, rest string
				if _, err := fmt.Sscanf(column, "%s", &table); err != nil {
					t.Fatal(err)
				}
				rest = column[len(table):]
				execute(t, db.DB, "ALTER TABLE "+mark+table+mark+rest)
			}
			l.layout.Users.Extra = []string{"role", "level"}
			l.layout.Accounts.Extra = []string{"refresh_token_expires_in"}
			l.layout.Sessions.Columns = map[string]string{"data": "data", "created": "created"}
			s := l.store(t, db)

			u, err := s.CreateUser(t.Context(), &pintle.User{ID: "1", Email: "ada@example.org", Extra: map[string]any{"role": "admin", "level": 7, "unknown": "x"}})
			if err != nil {
				t.Fatal(err)
			}
			now := time.Now().UTC().Truncate(time.Second)
			session := &pintle.StoredSession{Token: "t", UserID: u.ID, Created: now, Expires: now.Add(time.Hour), Data: map[string]any{"theme": "dark"}}
			if err := s.CreateSession(t.Context(), session); err != nil {
				t.Fatal(err)
			}
			account := &pintle.Account{UserID: u.ID, Type: pintle.TypeOIDC, Provider: "p", ProviderAccountID: "1", Extra: map[string]any{"refresh_token_expires_in": json.Number("15897600")}}
			if err := s.LinkAccount(t.Context(), account); err != nil {
				t.Fatal(err)
			}
			found, u, err := s.SessionAndUser(t.Context(), "t")
			if err != nil {
				t.Fatal(err)
			}
			a, err := s.Account(t.Context(), "p", "1")
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprintf("%v %v %v %v %v", u.Extra["role"], u.Extra["level"], found.Data["theme"], found.Created.Equal(now), a.Extra["refresh_token_expires_in"])
			if want := "admin 7 dark true 15897600"; got != want {
				t.Errorf("read back %s, want %s", got, want)
			}
			if len(u.Extra) != 2 {
				t.Errorf("Extra = %v, want the members that have columns", u.Extra)
			}
		})
	}
}

func TestPasskeysHaveNamesWhereTheLayoutHasAColumn(t *testing.T) {
	for _, l := range sharedLayouts {
		if l.file != "drizzle-"+l.layout.Dialect.String() {
			continue
		}
		t.Run(l.file, func(t *testing.T) {
			db := l.create(t)
			without := l.store(t, db)
			u, err := without.CreateUser(t.Context(), &pintle.User{ID: "1", Email: "ada@example.org"})
			if err != nil {
				t.Fatal(err)
			}
			now := time.Now().UTC().Truncate(time.Second)
			a := &pintle.Passkey{CredentialID: "AAAA", UserID: u.ID, ProviderAccountID: "AAAA", PublicKey: "AA==", DeviceType: "singleDevice", Name: "Key", Created: now}
			if err := without.CreatePasskey(t.Context(), a); err != nil {
				t.Fatal(err)
			}
			if err := without.RenamePasskey(t.Context(), u.ID, "AAAA", "Key ring"); !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("without a column: %v, want errors.ErrUnsupported", err)
			}

			times := map[sqlstore.Dialect]string{sqlstore.PostgreSQL: "timestamp", sqlstore.MySQL: "datetime(3)", sqlstore.SQLite: "integer"}[l.layout.Dialect]
			for _, column := range []string{"label varchar(255)", "registered " + times, "used " + times} {
				execute(t, db.DB, "ALTER TABLE authenticator ADD "+column)
			}
			l.layout.Authenticators.Columns = map[string]string{"name": "label", "created": "registered", "lastUsed": "used"}
			s := l.store(t, db)
			b := *a
			b.CredentialID, b.ProviderAccountID, b.LastUsed = "BBBB", "BBBB", now.Add(time.Minute)
			err = errors.Join(
				s.CreatePasskey(t.Context(), &b),
				s.RenamePasskey(t.Context(), u.ID, "AAAA", "Key ring"),
				s.UsePasskey(t.Context(), &b, 0),
			)
			if err != nil {
				t.Fatal(err)
			}
			for id, want := range map[string]string{"AAAA": "Key ring, never, never", "BBBB": "Key, created, used"} {
				found, err := s.Passkey(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				words := map[time.Time]string{{}: "never", b.Created: "created", b.LastUsed: "used"}
				if got := found.Name + ", " + words[found.Created] + ", " + words[found.LastUsed]; got != want {
					t.Errorf("%s reads back as %s, want %s", id, got, want)
				}
			}
		})
	}
}

func TestTimesDoNotDependOnTheDriversSettings(t *testing.T) {
	for _, l := range sharedLayouts {
		if l.layout.Dialect != sqlstore.MySQL {
			continue
		}
		t.Run(l.file, func(t *testing.T) {
			db := l.create(t)
			elsewhere, err := sql.Open(db.Driver, db.DSN+"?parseTime=true&loc=Asia%2FKolkata")
			if err != nil {
				t.Fatal(err)
			}
			defer elsewhere.Close()
			other, err := sqlstore.NewShared(elsewhere, l.layout)
			if err != nil {
				t.Fatal(err)
			}
			expires := time.Now().UTC().Truncate(time.Second).Add(time.Hour)
			for i, pair := range [][2]*sqlstore.Store{{l.store(t, db), other}, {other, l.store(t, db)}} {
				u, err := pair[0].CreateUser(t.Context(), &pintle.User{Email: fmt.Sprintf("%d@example.org", i), EmailVerified: expires})
				if err != nil {
					t.Fatal(err)
				}
				token := fmt.Sprintf("token %d", i)
				if err := pair[0].CreateSession(t.Context(), &pintle.StoredSession{Token: token, UserID: u.ID, Expires: expires}); err != nil {
					t.Fatal(err)
				}
				for _, s := range pair {
					found, u, err := s.SessionAndUser(t.Context(), token)
					if err != nil {
						t.Fatal(err)
					}
					if !found.Expires.Equal(expires) || !u.EmailVerified.Equal(expires) {
						t.Errorf("read %v and %v, want %v", found.Expires, u.EmailVerified, expires)
					}
				}
			}
		})
	}
}

// A SQLite file may have been written by several programs, each with its own
// idea of a time.
func TestSQLiteTimesAreReadInEachEncodingAndSweptInOne(t *testing.T) {
	for _, l := range sharedLayouts {
		if l.layout.Dialect != sqlstore.SQLite {
			continue
		}
		t.Run(l.file, func(t *testing.T) {
			db := l.create(t)
			s := l.store(t, db)
			u, err := s.CreateUser(t.Context(), &pintle.User{ID: "1", Email: "ada@example.org"})
			if err != nil {
				t.Fatal(err)
			}
			expires := time.Now().UTC().Truncate(time.Millisecond).Add(time.Hour)
			forms := map[string]any{
				"integer": expires.UnixMilli(),
				"decimal": fmt.Sprint(expires.UnixMilli()),
				"ISO":     expires.Format("2006-01-02T15:04:05.000Z"),
				"offset":  expires.Format("2006-01-02T15:04:05.000") + "+00:00",
			}
			for token, form := range forms {
				if err := s.CreateSession(t.Context(), &pintle.StoredSession{Token: token, UserID: u.ID, Expires: expires}); err != nil {
					t.Fatal(err)
				}
				if _, err := db.ExecContext(t.Context(), `UPDATE "`+l.layout.Sessions.Name+`" SET expires = ? WHERE "sessionToken" = ?`, form, token); err != nil {
					t.Fatal(err)
				}
			}
			if n, err := s.Sweep(t.Context(), time.Now(), 100); n != 0 || err != nil {
				t.Errorf("Sweep() = %d, %v, want 0: nothing has expired", n, err)
			}
			for token := range forms {
				found, _, err := s.SessionAndUser(t.Context(), token)
				if err != nil {
					t.Errorf("%s: %v", token, err)
				} else if !found.Expires.Equal(expires) {
					t.Errorf("%s: read %v, want %v", token, found.Expires, expires)
				}
			}
		})
	}
}

func BenchmarkSessionAndUser(b *testing.B) {
	for _, d := range databases {
		b.Run(d.name, func(b *testing.B) {
			db := migrated(b, d)
			s := sqlstore.New(db.DB, d.dialect)
			token := populate(b, s, 1000)[500].session.Token
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := s.SessionAndUser(b.Context(), token); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The role of a user is the column that applications add first.
func TestColumnsWithADefaultKeepItForNewRows(t *testing.T) {
	for _, l := range sharedLayouts {
		if l.file != "drizzle-"+l.layout.Dialect.String() {
			continue
		}
		t.Run(l.file, func(t *testing.T) {
			db := l.create(t)
			user, account, session := l.quoted("user"), l.quoted("account"), l.quoted("session")
			role := "role varchar(20) NOT NULL DEFAULT 'member'"
			switch l.layout.Dialect {
			case sqlstore.PostgreSQL:
				execute(t, db.DB, "CREATE TYPE role AS ENUM ('member', 'admin')")
				role = "role role NOT NULL DEFAULT 'member'"
			case sqlstore.MySQL:
				role = "role enum('member', 'admin') NOT NULL DEFAULT 'member'"
			}
			for _, statement := range []string{
				user + " ADD " + role, user + " ADD plan varchar(20) DEFAULT 'free'", user + " ADD level integer NOT NULL DEFAULT 1",
				account + " ADD " + role, account + " ADD origin varchar(20) NOT NULL DEFAULT 'web'",
				session + " ADD device varchar(20) NOT NULL DEFAULT 'unknown'",
			} {
				execute(t, db.DB, "ALTER TABLE "+statement)
			}
			l.layout.Users.Extra = []string{"role", "plan", "level"}
			l.layout.Accounts.Extra = []string{"role", "origin"}
			s := l.store(t, db)
			repair(t, db, s)
			for i, tt := range []struct {
				extra map[string]any
				want  string
			}{
				{nil, "member free 1"},
				{map[string]any{"role": nil}, "member free 1"},
				{map[string]any{"role": "admin"}, "admin free 1"},
				{map[string]any{"plan": "paid", "level": 7}, "member paid 7"},
				{map[string]any{"role": "admin", "plan": "paid", "level": json.Number("7")}, "admin paid 7"},
			} {
				id := fmt.Sprint(i)
				created, err := s.CreateUser(t.Context(), &pintle.User{ID: id, Email: id + "@example.org", Extra: tt.extra})
				if err != nil {
					t.Fatalf("CreateUser with %v: %v", tt.extra, err)
				}
				found, err := s.UserByEmail(t.Context(), id+"@example.org")
				if err != nil {
					t.Fatal(err)
				}
				for _, u := range []*pintle.User{created, found} {
					if got := fmt.Sprint(u.Extra["role"], " ", u.Extra["plan"], " ", u.Extra["level"]); got != tt.want {
						t.Errorf("a user with %v has %s, want %s", tt.extra, got, tt.want)
					}
				}
				a := &pintle.Account{UserID: id, Type: pintle.TypeOIDC, Provider: "p", ProviderAccountID: id, Extra: map[string]any{"role": tt.extra["role"]}}
				want := "member web"
				if a.Extra["role"] != nil {
					want = "admin web"
				}
				if err := s.LinkAccount(t.Context(), a); err != nil {
					t.Fatalf("LinkAccount with %v: %v", a.Extra, err)
				}
				// New tokens come without the application's data.
				if err := s.UpdateAccount(t.Context(), &pintle.Account{Provider: "p", ProviderAccountID: id, AccessToken: "new"}); err != nil {
					t.Fatal(err)
				}
				linked, err := s.Account(t.Context(), "p", id)
				if err != nil {
					t.Fatal(err)
				}
				if got := fmt.Sprint(linked.Extra["role"], " ", linked.Extra["origin"]); got != want || linked.AccessToken != "new" {
					t.Errorf("an account with %v has %s and the token %q, want %s", a.Extra, got, linked.AccessToken, want)
				}
				if err := s.CreateSession(t.Context(), &pintle.StoredSession{Token: id, UserID: id, Expires: time.Now().Add(time.Hour)}); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// A role of the host's own tables follows the provider: enums, columns that must
// have a value, and the object of one column for what has no column.
func TestFurtherColumnsOfAUserAreChangedByName(t *testing.T) {
	for _, l := range sharedLayouts {
		if l.file != "drizzle-"+l.layout.Dialect.String() && l.file != "prisma-"+l.layout.Dialect.String() {
			continue
		}
		t.Run(l.file, func(t *testing.T) {
			db := l.create(t)
			users := l.quoted(l.layout.Users.Name)
			role := "role varchar(20) NOT NULL DEFAULT 'member'"
			switch l.layout.Dialect {
			case sqlstore.PostgreSQL:
				execute(t, db.DB, "CREATE TYPE rank AS ENUM ('member', 'admin')")
				role = "role rank NOT NULL DEFAULT 'member'"
			case sqlstore.MySQL:
				role = "role enum('member', 'admin') NOT NULL DEFAULT 'member'"
			}
			for _, column := range []string{role, "plan varchar(20) DEFAULT 'free'", "level integer", "teams text", "extra text"} {
				execute(t, db.DB, "ALTER TABLE "+users+" ADD "+column)
			}
			l.layout.Users.Extra = []string{"role", "plan", "level", "teams"}
			withObject := l
			withObject.layout.Users.Columns = maps.Clone(l.layout.Users.Columns)
			if withObject.layout.Users.Columns == nil {
				withObject.layout.Users.Columns = map[string]string{}
			}
			withObject.layout.Users.Columns["extra"] = "extra"
			repair(t, db, l.store(t, db))
			for _, tt := range []struct {
				s    *sqlstore.Store
				rest string // what has no column
			}{{l.store(t, db), "<nil> <nil>"}, {withObject.store(t, db), "kept <nil>"}} {
				u, err := tt.s.CreateUser(t.Context(), &pintle.User{ID: "1", Name: "Ada", Email: "ada@example.org", Extra: map[string]any{"role": "admin", "level": 7}})
				if err != nil {
					t.Fatal(err)
				}
				other, err := tt.s.CreateUser(t.Context(), &pintle.User{ID: "2", Email: "grace@example.org", Extra: map[string]any{"role": "admin"}})
				if err != nil {
					t.Fatal(err)
				}
				name := "Augusta"
				for _, step := range []struct {
					change pintle.UserUpdate
					want   string
				}{
					{pintle.UserUpdate{Extra: map[string]any{"role": "member"}}, "Ada member free 7 <nil>"},
					{pintle.UserUpdate{Name: &name, Extra: map[string]any{"plan": nil, "level": json.Number("8"), "unknown": "kept", "gone": nil}}, "Augusta member <nil> 8 <nil>"},
					{pintle.UserUpdate{Extra: map[string]any{"teams": []any{"engines", "looms"}, "level": nil}}, `Augusta member <nil> <nil> ["engines","looms"]`},
				} {
					updated, err := tt.s.UpdateUser(t.Context(), u.ID, step.change)
					if err != nil {
						t.Fatal(err)
					}
					found, err := tt.s.User(t.Context(), u.ID)
					if err != nil {
						t.Fatal(err)
					}
					for _, u := range []*pintle.User{updated, found} {
						if got := fmt.Sprint(u.Name, " ", u.Extra["role"], " ", u.Extra["plan"], " ", u.Extra["level"], " ", u.Extra["teams"]); got != step.want {
							t.Errorf("after the change to %v the user has %s, want %s", step.change.Extra, got, step.want)
						}
					}
				}
				found, err := tt.s.User(t.Context(), u.ID)
				if err != nil {
					t.Fatal(err)
				}
				if got := fmt.Sprint(found.Extra["unknown"], " ", found.Extra["gone"]); got != tt.rest {
					t.Errorf("what has no column is %s, want %s", got, tt.rest)
				}
				// A column that must have a value refuses none: the role stays.
				if _, err := tt.s.UpdateUser(t.Context(), u.ID, pintle.UserUpdate{Extra: map[string]any{"role": nil}}); err == nil || errors.Is(err, pintle.ErrNotFound) || errors.Is(err, pintle.ErrConflict) {
					t.Errorf("UpdateUser that removes the role: %v, want the database's error", err)
				}
				if found, err := tt.s.User(t.Context(), other.ID); err != nil || found.Extra["role"] != "admin" {
					t.Errorf("the other user has %+v, %v", found, err)
				}
				for _, u := range []*pintle.User{u, other} {
					if err := tt.s.DeleteUser(t.Context(), u.ID); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

// Check finds columns that reject every new row, before the first new user does.
func TestCheckNamesColumnsThatRejectNewRows(t *testing.T) {
	for _, l := range sharedLayouts {
		if l.file != "drizzle-"+l.layout.Dialect.String() {
			continue
		}
		t.Run(l.file, func(t *testing.T) {
			db := l.create(t)
			l.layout.Users.Extra = []string{"role"}
			for table, column := range map[string]string{"user": "role", "account": "origin", "session": "device", "verificationToken": "language", "authenticator": "label"} {
				// SQLite adds no such column to a table, not even to an empty one.
				if l.layout.Dialect == sqlstore.SQLite {
					rebuild(t, db.DB, table, column)
				} else {
					execute(t, db.DB, "ALTER TABLE "+l.quoted(table)+" ADD "+column+" varchar(20) NOT NULL")
				}
			}
			s := l.store(t, db)
			if _, err := s.CreateUser(t.Context(), &pintle.User{ID: "1", Email: "ada@example.org"}); err == nil && l.layout.Dialect != sqlstore.MySQL {
				t.Fatal("a user without a role was created, so the column does not reject rows")
			}
			problems, err := s.Check(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{
				"the column role of the table user must have a value and has no default: every new user is refused for which no Profile function gives one",
				"the column origin of the table account must have a value, has no default, and is not in the layout: every new account is refused",
				"the column device of the table session must have a value, has no default, and is not in the layout: every new session is refused",
				"the column language of the table verificationToken must have a value, has no default, and is not in the layout: every new mail link is refused",
				"the column label of the table authenticator must have a value, has no default, and is not in the layout: every new passkey is refused",
			} {
				i := slices.IndexFunc(problems, func(p sqlstore.Problem) bool { return strings.HasPrefix(p.Text, want) })
				if i < 0 {
					t.Errorf("Check does not report %q, only %q", want, problems)
				} else if fixes := l.layout.Dialect != sqlstore.SQLite; (problems[i].Fix != "") != fixes {
					t.Errorf("%q has the statement %q", want, problems[i].Fix)
				} else if fixes {
					execute(t, db.DB, problems[i].Fix)
				}
			}
			if l.layout.Dialect == sqlstore.SQLite {
				return
			}
			if problems, err = s.Check(t.Context()); err != nil || slices.ContainsFunc(problems, func(p sqlstore.Problem) bool { return strings.Contains(p.Text, "must have a value") }) {
				t.Errorf("after the statements Check reports %q, %v", problems, err)
			}
			if _, err := s.CreateUser(t.Context(), &pintle.User{ID: "2", Email: "grace@example.org"}); err != nil {
				t.Errorf("after the statements: %v", err)
			}
		})
	}
}

// rebuild makes a table of SQLite again with one more column.
func rebuild(t testing.TB, db *sql.DB, table, column string) {
	t.Helper()
	var made string
	if err := db.QueryRowContext(t.Context(), "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", table).Scan(&made); err != nil {
		t.Fatal(err)
	}
	execute(t, db, `DROP TABLE "`+table+`"`)
	head, rest, _ := strings.Cut(made, "(")
	execute(t, db, head+"("+column+" text NOT NULL, "+rest)
}
