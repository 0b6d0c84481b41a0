// Package sqlstore keeps users and sessions in PostgreSQL, MySQL, MariaDB or
// SQLite, through any driver of database/sql.
//
//	db, err := sql.Open("pgx", os.Getenv("DATABASE_URL"))
//	…
//	if err := sqlstore.Migrate(ctx, db, sqlstore.PostgreSQL); err != nil {
//		…
//	}
//	auth, err := pintle.New(pintle.Config{
//		Store: sqlstore.New(db, sqlstore.PostgreSQL),
//		…
//	})
//
// [New] uses the tables that [Migrate] makes, whose names begin with "pintle_".
// [NewShared] uses the tables of an existing Auth.js
// installation, where either side sees the users and sessions of the other. A
// [Store] implements every store interface of package pintle, and those of packages
// accountstore, providersession and sharedstate: in tables of [Migrate], or of [MigrateShared] beside
// those of Auth.js.
//
// # Its own tables
//
// Session tokens are kept as SHA-256 hashes, so that a copy of the database lets
// no reader sign in. Checking a session is one query in one
// round trip. Times are integers, in milliseconds since 1970, so that no
// setting of a connection can shift them.
//
// # Drivers
//
// The package imports none. It is tested with github.com/jackc/pgx/v5/stdlib,
// github.com/go-sql-driver/mysql and modernc.org/sqlite.
//
// SQLite wants settings that a driver takes in its data source name. For
// modernc.org/sqlite:
//
//	file:app.db?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)
//
// and for github.com/mattn/go-sqlite3:
//
//	file:app.db?_busy_timeout=5000&_journal_mode=WAL&_foreign_keys=1
//
// Without a busy timeout, a request that writes while another does fails at
// once instead of waiting for its turn. With a write-ahead log readers do not
// wait for writers. A database in memory belongs to one connection: call
// SetMaxOpenConns(1) on its handle, or use package memstore. [Store.Check]
// reports settings that cause such problems.
package sqlstore
