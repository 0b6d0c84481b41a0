package main

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"

	"github.com/pintleauth/pintle/store/sqlstore"
)

// addressOf returns the URL in the arguments, or else the variable DATABASE_URL:
// all users of the machine can read the arguments in the list of processes, and a
// URL usually has a password.
func addressOf(args []string) (string, error) {
	address := os.Getenv("DATABASE_URL")
	switch len(args) {
	case 0:
	case 1:
		address = args[0]
	default:
		return "", usagef("one URL is enough, and options come before it: %q", args)
	}
	if address == "" {
		return "", usagef("which database? Give its URL, or set DATABASE_URL")
	}
	return address, nil
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
	return nil, 0, usagef("the URL has to begin with postgres:, mysql: or sqlite:")
}

// openSQLite opens a path with the settings that follow it. By default they are
// those of the documentation.
func openSQLite(address string, how opening) (*sql.DB, error) {
	path, query, _ := strings.Cut(address, "?")
	if rest, found := strings.CutPrefix(path, "//"); found && !strings.HasPrefix(rest, "/") {
		path = rest // as other tools write a relative path; SQLite takes it for a host
	}
	if how == mayCreate {
		settings := "_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)"
		return sql.Open("sqlite", "file:"+path+"?"+cmp.Or(query, settings))
	}
	_, err := os.Stat(strings.TrimPrefix(path, "//"))
	switch {
	case err != nil && how == mustHaveTables:
		return nil, fmt.Errorf("there is no database with the tables of Auth.js: %w", err)
	case err != nil:
		return nil, fmt.Errorf("there is no database yet: run pintle migrate: %w", err)
	}
	return sql.Open("sqlite", "file:"+path+"?mode=rw&"+cmp.Or(query, "_pragma=busy_timeout(5000)"))
}

// openMySQL opens a URL in the form of other tools, which the driver does not
// accept.
func openMySQL(address string) (*sql.DB, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, unquoted(err)
	}
	c := mysql.NewConfig()
	c.User, c.DBName, c.Net = u.User.Username(), strings.TrimPrefix(u.Path, "/"), "tcp"
	c.Passwd, _ = u.User.Password()
	c.Addr = u.Hostname() + ":" + cmp.Or(u.Port(), "3306")
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
