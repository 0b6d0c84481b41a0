package adapters_test

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/integration/accountsite"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// AT-112, AC-216: a real adapter writes rows, the command makes the tables of package account, and
// users go through all its pages. The rows of the adapter are byte for byte what they were,
// but for the sessions that a reset of a password ends. The adapter goes on with its
// rows, and with those of users who have signed up here.
func TestAccountsLeaveTheRowsOfAuthJSAsTheyAre(t *testing.T) {
	command := filepath.Join(t.TempDir(), "pintle")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", command, "github.com/pintleauth/pintle/cmd/pintle")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the command: %v\n%s", err, out)
	}
	for _, i := range installations {
		if i.layout.Dialect == 0 || i.tables != "" { // those of another, or of an application
			continue
		}
		t.Run(i.name, func(t *testing.T) {
			t.Parallel()
			if i.adapter == "prisma" {
				generate(t, i.layout.Dialect.String())
			}
			db, authjs, url := i.openSQL(t)
			s := &shared{i, authjs, nil}
			people, owners := s.writeAll(t)
			mary := people[0]
			before := i.rows(t, db)

			if i.layout.Dialect == sqlstore.SQLite {
				url = db.DSN // file:…
			}
			migrate := exec.CommandContext(t.Context(), command, "migrate", "-layout", i.adapter, "-accounts", url)
			if out, err := migrate.CombinedOutput(); err != nil {
				t.Fatalf("migrate: %v\n%s", err, out)
			}
			i.layout.AccountTables = true
			var err error
			if s.pintle, err = sqlstore.NewShared(db.DB, i.layout); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, i.rows(t, db)); diff != "" {
				t.Fatalf("the migration changes rows of Auth.js (-before +after):\n%s", diff)
			}

			j := s.usePages(t, mary, people[3])
			left, added := i.rows(t, db), map[string]int{}
			for table, rows := range left {
				missing := without(before[table], rows)
				if table == i.layout.Sessions.Name { // the reset has ended that of Mary
					missing = slices.DeleteFunc(missing, func(row string) bool { return strings.Contains(row, mary.session.Token) })
				}
				if len(missing) > 0 {
					t.Errorf("%s no longer has the rows\n%s\nand has\n%s", table, strings.Join(missing, "\n"), strings.Join(rows, "\n"))
				}
				added[table] = len(without(rows, before[table]))
			}
			for table, want := range map[string]int{i.layout.Users.Name: 2, i.layout.Accounts.Name: 0, i.layout.Authenticators.Name: 0} {
				if added[table] != want {
					t.Errorf("%s has %d more rows, want %d", table, added[table], want)
				}
			}

			s.adapterGoesOn(t, people, owners, j)
		})
	}
}

// AT-112, AC-216: in Redis there is nothing to migrate. No key of the adapter has another value
// afterwards, but for those of the session that the reset ends.
func TestAccountsLeaveTheKeysOfAuthJSAsTheyAre(t *testing.T) {
	for _, i := range installations {
		if i.layout.Dialect != 0 {
			continue
		}
		t.Run(i.name, func(t *testing.T) {
			t.Parallel()
			s, client := i.openRedis(t)
			people, owners := s.writeAll(t)
			mary := people[0]
			before := keys(t, client)
			j := s.usePages(t, mary, people[3])
			after := keys(t, client)
			for key, value := range before {
				ended := key == "user:session:"+mary.session.Token || key == "user:session:by-user-id:"+mary.user.ID
				if after[key] != value && !ended {
					t.Errorf("%s had the value %q and has %q", key, value, after[key])
				}
			}
			s.adapterGoesOn(t, people, owners, j)
		})
	}
}

// keys returns the keys in Redis and their values, which are the texts that the adapters
// write.
func keys(t *testing.T, client *redis.Client) map[string]string {
	t.Helper()
	all := map[string]string{}
	names := client.Scan(t.Context(), 0, "*", 100).Iterator()
	for names.Next(t.Context()) {
		if client.Type(t.Context(), names.Val()).Val() == "string" {
			all[names.Val()] = client.Get(t.Context(), names.Val()).Val()
		}
	}
	if err := names.Err(); err != nil || len(all) < 20 {
		t.Fatalf("there are %d keys, %v", len(all), err)
	}
	return all
}

// writeAll has the adapter write the rows of all people, and returns its ids of the users.
func (s *shared) writeAll(t *testing.T) (people []person, owners []any) {
	t.Helper()
	for _, p := range s.people(t) {
		p = p.by("authjs", s)
		owner := ownerKey(t, s.authjs.call(t, "createUser", userObject(p.user)))
		id := ownerID(owner)
		p.user.ID, p.account.UserID, p.session.UserID, p.passkey.UserID = id, id, id, id
		s.authjs.call(t, "linkAccount", accountObject(p.account, owner))
		s.authjs.call(t, "createSession", sessionObject(p.session, owner))
		s.authjs.call(t, "createVerificationToken", linkObject(p.link))
		if s.passkeys {
			s.authjs.call(t, "createAuthenticator", passkeyObject(p.passkey, owner))
		}
		people, owners = append(people, p), append(owners, owner)
	}
	return people, owners
}

// usePages makes users go through the pages of package account: new ones, one whom Auth.js
// knows and who chooses a password, and one whose session is that of Auth.js.
func (s *shared) usePages(t *testing.T, mary, signedIn person) *accountsite.Journey {
	t.Helper()
	site := accountsite.New(t, s.pintle)
	j := site.Take()
	site.Browser().SetCookie("authjs.session-token", signedIn.session.Token).IsSignedInAs(signedIn.user.Email)

	const chosen = "a password that Mary chooses"
	site.Browser().Get("/auth/account/forgot").Post("/auth/account/forgot", "email", mary.user.Email)
	site.Browser().Get(site.Mail(mary.user.Email).URL).Post("/auth/account/reset", "password", chosen).IsAt("/auth/signin")
	if _, _, err := s.pintle.SessionAndUser(t.Context(), mary.session.Token); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("after the reset the session of before is %v, want ErrNotFound", err)
	}
	b := site.Browser().SignIn(mary.user.Email, chosen).IsSignedInAs(mary.user.Email)
	site.Browser().SignIn(mary.user.Email, "another password than that").IsSignedInAs("")
	stored, u, err := s.pintle.SessionAndUser(t.Context(), b.Cookies()["authjs.session-token"])
	if err != nil || u.ID != mary.user.ID || len(stored.Data) == 0 {
		t.Errorf("the session of the password is %+v of %+v, %v, want one of Mary with its facts", stored, u, err)
	}
	return j
}

// adapterGoesOn has the adapter read the rows that it wrote, and the user of a journey, and
// use and change further rows.
func (s *shared) adapterGoesOn(t *testing.T, people []person, owners []any, j *accountsite.Journey) {
	t.Helper()
	for n, p := range people[1:] {
		s.authJSFinds(t, p, owners[1+n])
	}
	same(t, "getUser of Mary", object(t, s.authjs.call(t, "getUser", owners[0])), describedUser(&people[0].user), userFields)
	both, ok := s.authjs.call(t, "getSessionAndUser", j.SessionToken()).(map[string]any)
	if !ok || object(t, both["user"])["email"] != fmt.Sprintf("%q", j.Address) {
		t.Errorf("getSessionAndUser of a user who signed up here is %v", both)
	}

	later := s.people(t)[1]
	later.user.Email, later.account.ProviderAccountID = "later-"+later.user.Email, "later"
	s.writtenByAuthJS(t, 1, later)
}

// rows returns the rows of each table of Auth.js, sorted, every column as text.
func (i installation) rows(t *testing.T, db *services.Database) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, table := range []sqlstore.Table{i.layout.Users, i.layout.Accounts, i.layout.Sessions, i.layout.Verifications, i.layout.Authenticators} {
		if table.Name == "" {
			continue
		}
		rows, err := db.QueryContext(t.Context(), i.wholeRows(t, db, table.Name))
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var row string
			if err := rows.Scan(&row); err != nil {
				t.Fatal(err)
			}
			all[table.Name] = append(all[table.Name], row)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		slices.Sort(all[table.Name])
	}
	return all
}

// wholeRows is a query that returns each row of a table as one text of the database.
func (i installation) wholeRows(t *testing.T, db *services.Database, table string) string {
	t.Helper()
	if i.layout.Dialect == sqlstore.PostgreSQL {
		return `SELECT CAST(r AS text) FROM "` + strings.ReplaceAll(table, ".", `"."`) + `" r`
	}
	mark, form := `"`, `quote(%s)`
	if i.layout.Dialect == sqlstore.MySQL {
		mark, form = "`", `COALESCE(QUOTE(%s), 'NULL')`
	}
	rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+mark+table+mark+" WHERE 1 = 0")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil || rows.Err() != nil {
		t.Fatal(err, rows.Err())
	}
	for n, column := range columns {
		columns[n] = fmt.Sprintf(form, mark+column+mark)
	}
	if i.layout.Dialect == sqlstore.MySQL {
		return "SELECT CONCAT_WS(',', " + strings.Join(columns, ", ") + ") FROM " + mark + table + mark
	}
	return "SELECT " + strings.Join(columns, " || ',' || ") + " FROM " + mark + table + mark
}

// without returns the rows that others do not have.
func without(rows, others []string) []string {
	have := map[string]int{}
	for _, row := range others {
		have[row]++
	}
	return slices.DeleteFunc(slices.Clone(rows), func(row string) bool {
		have[row]--
		return have[row] >= 0
	})
}
