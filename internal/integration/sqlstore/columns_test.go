package sqlstore_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
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
				t.Errorf("Extra = %v, want what there are columns for", u.Extra)
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
			a := &pintle.Authenticator{CredentialID: "AAAA", UserID: u.ID, ProviderAccountID: "AAAA", PublicKey: "AA==", DeviceType: "singleDevice", Name: "Key", Created: now}
			if err := without.CreateAuthenticator(t.Context(), a); err != nil {
				t.Fatal(err)
			}
			if err := without.RenameAuthenticator(t.Context(), u.ID, "AAAA", "Key ring"); !errors.Is(err, errors.ErrUnsupported) {
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
				s.CreateAuthenticator(t.Context(), &b),
				s.RenameAuthenticator(t.Context(), u.ID, "AAAA", "Key ring"),
				s.UseAuthenticator(t.Context(), &b, 0),
			)
			if err != nil {
				t.Fatal(err)
			}
			for id, want := range map[string]string{"AAAA": "Key ring, never, never", "BBBB": "Key, created, used"} {
				found, err := s.Authenticator(t.Context(), id)
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
