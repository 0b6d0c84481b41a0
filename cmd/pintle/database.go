package main

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"

	"github.com/pintleauth/pintle/store/sqlstore"
)

// address returns the URL in the arguments or of the option -database, or else the
// variable DATABASE_URL: all users of the machine can read the arguments in the list of
// processes, and a URL usually has a password.
func (f *tableFlags) address(args []string) (string, error) {
	if f.database != "" {
		args = append(slices.Clip(args), f.database)
	}
	if len(args) > 1 {
		return "", usagef("one URL is enough, and options come before it: %s", shownArguments(args))
	}
	address, what := os.Getenv("DATABASE_URL"), "DATABASE_URL"
	if len(args) == 1 {
		address, what = args[0], "the URL"
	}
	if address == "" {
		return "", usagef("which database? Give its URL, such as sqlite:app.db, or set DATABASE_URL")
	}
	if !isDatabase(address) {
		return "", usagef("%s has to begin with postgres:, mysql: or sqlite:, as postgres://USER:PASSWORD@HOST/DATABASE or, "+
			"for a file, sqlite:app.db; only pintle sweep takes redis:, rediss: and mongodb: as well", what)
	}
	return address, nil
}

// schemes are those of the URLs of databases.
var schemes = []string{"postgres", "postgresql", "mysql", "mariadb", "sqlite", "file", "redis", "rediss", "mongodb", "mongodb+srv"}

// isDatabase reports whether an argument is the URL of a database, which is no user and no file.
func isDatabase(arg string) bool {
	scheme, _, found := strings.Cut(arg, ":")
	return found && slices.Contains(schemes, scheme)
}

// withoutDatabase rejects the URL of a database among arguments that name something else.
func withoutDatabase(args []string) error {
	if slices.ContainsFunc(args, isDatabase) {
		return usagef("name the database with -database URL, before the other arguments, or set DATABASE_URL")
	}
	return nil
}

// shownArguments are arguments in a message. One that may be the URL of a database is left
// out, whatever its form: it may have a password, and messages are in logs.
func shownArguments(args []string) string {
	shown := make([]string, len(args))
	for i, arg := range args {
		if strings.ContainsAny(arg, ":=") {
			arg = "…"
		}
		shown[i] = arg
	}
	return fmt.Sprintf("%q", shown)
}

// An opening sets what opening a database may change.
type opening int

const (
	mayCreate      opening = iota // a file that does not exist is made
	mustExist                     // creates no file and changes no setting of one
	mustHaveTables                // the same, for a database with the tables of Auth.js
)

// openDatabase opens what a URL names. It does not connect yet.
func openDatabase(address string, how opening) (*sql.DB, sqlstore.Dialect, error) {
	scheme, rest, _ := strings.Cut(address, ":")
	switch scheme {
	case "postgres", "postgresql":
		db, err := sql.Open("pgx", address)
		return db, sqlstore.PostgreSQL, unquoted(err)
	case "mysql", "mariadb":
		db, err := openMySQL(address)
		return db, sqlstore.MySQL, err
	case "sqlite", "file":
		db, err := openSQLite(rest, how)
		return db, sqlstore.SQLite, err
	}
	return nil, 0, usagef("this command takes no database of that kind: the URL has to begin with postgres:, mysql: or sqlite:")
}

// openSQLite opens a path with the settings that follow it. By default they are
// those of the documentation.
func openSQLite(address string, how opening) (*sql.DB, error) {
	path, query, _ := strings.Cut(address, "?")
	if rest, found := strings.CutPrefix(path, "//"); found && !strings.HasPrefix(rest, "/") {
		path = rest // as other tools write a relative path; SQLite takes it for a host
	}
	if path == "" { // SQLite would make a database that is gone when it is closed
		return nil, usagef("the URL has to name a file: sqlite:app.db")
	}
	if how == mayCreate {
		directory := filepath.Dir(fileOf(path))
		if info, err := os.Stat(directory); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("the file of the database cannot be made: there is no directory %s", directory)
		}
		settings := "_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)"
		return sql.Open("sqlite", "file:"+path+"?"+cmp.Or(query, settings))
	}
	_, err := os.Stat(fileOf(path))
	switch {
	case err != nil && how == mustHaveTables:
		return nil, fmt.Errorf("there is no database with the tables of Auth.js: %w", err)
	case err != nil:
		return nil, fmt.Errorf("there is no database yet: run pintle migrate, unless the name of the file is wrong: %w", err)
	}
	return sql.Open("sqlite", "file:"+path+"?mode=rw&"+cmp.Or(query, "_pragma=busy_timeout(5000)"))
}

// fileOf returns the name of the file that the path of a URL names.
func fileOf(path string) string {
	path = strings.TrimPrefix(path, "//")
	if name, err := url.PathUnescape(path); err == nil {
		return name
	}
	return path
}

// openMySQL opens a URL in the form of other tools, which the driver does not
// accept. What follows the "?" are parameters of the driver: without them tls=true would
// be ignored, and the password sent without TLS.
func openMySQL(address string) (*sql.DB, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, unquoted(err)
	}
	c, err := mysql.ParseDSN("tcp(" + net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "3306")) + ")/?" + u.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("the URL of the database: %w", err)
	}
	c.User, c.DBName = u.User.Username(), strings.TrimPrefix(u.Path, "/")
	c.Passwd, _ = u.User.Password()
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// unquoted keeps the URL, and the password in it, out of a message.
func unquoted(err error) error {
	if parse, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("the URL of the database: %w", parse.Err)
	}
	return err
}
