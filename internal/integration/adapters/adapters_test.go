// Package adapters_test tests that Auth.js and Pintle share databases: Node.js
// programs with the published adapters and stores of this repository write,
// read, use and extend each other's users, accounts, sessions, mail links and
// passkeys, in tables that the adapters' own tools or documentation make.
package adapters_test

import (
	"cmp"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/redisstore"
	"github.com/pintleauth/pintle/store/sqlstore"
)

func TestMain(m *testing.M) { os.Exit(services.Run(m)) }

// An installation is an application on Auth.js: an adapter and its database.
type installation struct {
	name    string // of its tables in ../sqlstore/testdata, mostly
	adapter string // the file that opens it, without .mjs
	layout  sqlstore.Layout
	variant string // of the package that opens it, if there are several

	tables          string // if they are not those of name; "none" if no package has them
	addressRequired bool   // users have to have one
	narrow          bool   // columns end at 191 or 255 characters
	oneAccountEach  bool
	wholeSeconds    bool // times of sessions and mail links end there

	// readsFirst: the adapter reads a mail link and then deletes it, so that several
	// concurrent requests with one link may all sign in.
	readsFirst bool
	passkeys   bool
}

var installations = []installation{
	{name: "pg-postgresql", adapter: "pg", layout: sqlstore.PG()},
	{name: "neon-postgresql", tables: "pg-postgresql", adapter: "pg", variant: "neon", layout: sqlstore.PG()},
	{name: "drizzle-postgresql", adapter: "drizzle", layout: sqlstore.Drizzle(sqlstore.PostgreSQL), passkeys: true},
	{name: "drizzle-mysql", adapter: "drizzle", layout: sqlstore.Drizzle(sqlstore.MySQL), passkeys: true, narrow: true, wholeSeconds: true, readsFirst: true},
	{name: "drizzle-sqlite", adapter: "drizzle", layout: sqlstore.Drizzle(sqlstore.SQLite), passkeys: true},
	{name: "drizzle-postgresql with a table of the application's", tables: none, adapter: "drizzle", variant: "renamed", layout: renamed(sqlstore.Drizzle(sqlstore.PostgreSQL)), passkeys: true},
	{name: "prisma-postgresql", adapter: "prisma", layout: sqlstore.Prisma(sqlstore.PostgreSQL), passkeys: true, addressRequired: true},
	{name: "prisma-mysql", adapter: "prisma", layout: sqlstore.Prisma(sqlstore.MySQL), passkeys: true, oneAccountEach: true, readsFirst: true},
	{name: "prisma-sqlite", adapter: "prisma", layout: sqlstore.Prisma(sqlstore.SQLite), variant: "unixepoch-ms", passkeys: true},
	{name: "prisma-sqlite with times as text", tables: "prisma-sqlite", adapter: "prisma", layout: timesAsText(sqlstore.Prisma(sqlstore.SQLite)), variant: "iso8601", passkeys: true},
	{name: "kysely-postgresql", adapter: "kysely", layout: sqlstore.Kysely(sqlstore.PostgreSQL), addressRequired: true},
	{name: "kysely-postgresql in snake case", tables: none, adapter: "kysely", variant: "snake case", layout: snakeCase(sqlstore.Kysely(sqlstore.PostgreSQL)), addressRequired: true},
	{name: "kysely-mysql", adapter: "kysely", layout: sqlstore.Kysely(sqlstore.MySQL), addressRequired: true, readsFirst: true},
	{name: "kysely-sqlite", adapter: "kysely", layout: sqlstore.Kysely(sqlstore.SQLite), addressRequired: true},
	{name: "typeorm-postgresql", adapter: "typeorm", layout: sqlstore.TypeORM(sqlstore.PostgreSQL), readsFirst: true},
	{name: "typeorm-mysql", adapter: "typeorm", layout: sqlstore.TypeORM(sqlstore.MySQL), narrow: true, readsFirst: true},
	{name: "typeorm-mysql as MariaDB", tables: "typeorm-mysql", adapter: "typeorm", variant: "mariadb", layout: sqlstore.TypeORM(sqlstore.MySQL), narrow: true, readsFirst: true},
	{name: "typeorm-sqlite", adapter: "typeorm", layout: sqlstore.TypeORM(sqlstore.SQLite), readsFirst: true},
	{name: "d1-sqlite", adapter: "d1", layout: sqlstore.D1(), readsFirst: true},
	{name: "supabase-postgresql", adapter: "supabase", layout: sqlstore.Supabase()},
	{name: "upstash-redis", adapter: "upstash", readsFirst: true},
	{name: "unstorage on Redis", adapter: "unstorage", readsFirst: true, passkeys: true},
}

const none = "none"

// renamed is the example of sqlstore.Layout.
func renamed(l sqlstore.Layout) sqlstore.Layout {
	l.Users.Name = "app_user"
	l.Users.Columns = map[string]string{"emailVerified": "verified"}
	l.Users.Extra = []string{"role"}
	return l
}

// snakeCase converts names like Kysely's CamelCasePlugin.
func snakeCase(l sqlstore.Layout) sqlstore.Layout {
	l.Users.Name, l.Accounts.Name, l.Sessions.Name, l.Verifications.Name = "user", "account", "session", "verification_token"
	l.Users.Columns = map[string]string{"emailVerified": "email_verified"}
	l.Accounts.Columns = map[string]string{"userId": "user_id", "providerAccountId": "provider_account_id"}
	l.Sessions.Columns = map[string]string{"userId": "user_id", "sessionToken": "session_token"}
	return l
}

func timesAsText(l sqlstore.Layout) sqlstore.Layout {
	l.Times = sqlstore.ISOText
	return l
}

// A shared is a database with a client of each side.
type shared struct {
	installation

	authjs *peer
	pintle pintle.Store
}

// open makes a database, has the adapter's side make the tables, and adds the
// indices that Check asks for.
func (i installation) open(t *testing.T) *shared {
	t.Helper()
	if i.layout.Dialect == 0 {
		s, _ := i.openRedis(t)
		return s
	}
	db, authjs, _ := i.openSQL(t)
	return &shared{i, authjs, i.withAccountTables(t, db)}
}

// openSQL makes a database without the tables of package account, and returns its URL, too.
func (i installation) openSQL(t *testing.T) (db *services.Database, authjs *peer, url string) {
	t.Helper()
	switch i.layout.Dialect {
	case sqlstore.PostgreSQL:
		db = services.PostgreSQLDatabase(t)
		url = db.DSN
		elsewhere(t, db.DB, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone TO ''America/New_York''', current_database()); END $$")
	case sqlstore.MySQL:
		db = services.MariaDBDatabase(t)
		elsewhere(t, db.DB, "SET GLOBAL time_zone = '-05:00'")
		c, err := mysql.ParseDSN(db.DSN)
		if err != nil {
			t.Fatal(err)
		}
		url = "mysql://" + c.User + "@" + c.Addr + "/" + c.DBName
	case sqlstore.SQLite:
		db = services.SQLiteDatabase(t)
		if err := db.QueryRowContext(t.Context(), "SELECT file FROM pragma_database_list").Scan(&url); err != nil {
			t.Fatal(err)
		}
	}
	authjs = startPeer(t, i.adapter, map[string]string{"dialect": i.layout.Dialect.String(), "url": url, "variant": i.variant})
	s, err := sqlstore.NewShared(db.DB, i.layout)
	if err != nil {
		t.Fatal(err)
	}
	problems, err := s.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i.compareProblems(t, problems)
	for _, p := range problems {
		if _, err := db.ExecContext(t.Context(), p.Fix); err != nil {
			t.Fatalf("%s: %v", p.Fix, err)
		}
	}
	return db, authjs, url
}

// withAccountTables makes the tables of package account beside those of the adapter.
func (i installation) withAccountTables(t *testing.T, db *services.Database) *sqlstore.Store {
	t.Helper()
	i.layout.AccountTables = true
	if err := sqlstore.MigrateShared(t.Context(), db.DB, i.layout); err != nil {
		t.Fatal(err)
	}
	s, err := sqlstore.NewShared(db.DB, i.layout)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// elsewhere sets another time zone in a database, for new connections.
func elsewhere(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	db.SetMaxIdleConns(0) // closes the one that was made before
	db.SetMaxIdleConns(4)
}

// compareProblems fails when the tables of the adapter's tools are no longer those
// of the other tests of sqlstore.
func (i installation) compareProblems(t *testing.T, problems []sqlstore.Problem) {
	t.Helper()
	if i.tables == none {
		return
	}
	want, err := os.ReadFile(filepath.Join("../sqlstore/testdata", cmp.Or(i.tables, i.name)+".check"))
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, p := range problems {
		got.WriteString(p.Fix + "\n")
	}
	if got.String() != string(want) {
		t.Fatalf("Check() of the adapter's tables = %v, want:\n%s", problems, want)
	}
}

func (i installation) openRedis(t *testing.T) (*shared, *redis.Client) {
	t.Helper()
	server := services.Redis(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr, ContextTimeoutEnabled: true})
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return &shared{i, startPeer(t, i.adapter, map[string]string{"url": server.URL}), redisstore.New(client, redisstore.Options{})}, client
}

func TestAuthJSAndPintleShareADatabase(t *testing.T) {
	for _, i := range installations {
		t.Run(i.name, func(t *testing.T) {
			t.Parallel()
			if i.adapter == "prisma" {
				generate(t, i.layout.Dialect.String())
			}
			s := i.open(t)
			for n, p := range s.people(t) {
				t.Run("Auth.js wrote "+p.who, func(t *testing.T) { s.writtenByAuthJS(t, n, p) })
				t.Run("Pintle wrote "+p.who, func(t *testing.T) { s.writtenByPintle(t, n, p) })
			}
			t.Run("a mail link opened on both sides at once", s.linkOpenedOnBothSides)
			t.Run("an address and an account taken on both sides at once", s.takenOnBothSides)
			t.Run("a deleted user signs in again", s.comesBack)
			t.Run("a session ended on one side and extended on the other", s.endsAndExtends)
			t.Run("expired rows of both sides", s.sweeps)
		})
	}
}
