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

// openDatabase opens what a URL names, or the variable DATABASE_URL if none is
// given: an argument is seen by everybody who lists the processes, and a URL
// mostly has a password.
func openDatabase(args []string) (*sql.DB, sqlstore.Dialect, error) {
	if len(args) > 1 {
		return nil, 0, usagef("one URL is enough, and options come before it: %q", args)
	}
	address := os.Getenv("DATABASE_URL")
	if len(args) == 1 {
		address = args[0]
	}
	if address == "" {
		return nil, 0, usagef("which database? Give its URL, or set DATABASE_URL")
	}
	scheme, rest, _ := strings.Cut(address, ":")
	switch scheme {
	case "postgres", "postgresql":
		db, err := sql.Open("pgx", address)
		return db, sqlstore.PostgreSQL, unquoted(err)
	case "mysql", "mariadb":
		db, err := openMySQL(address)
		return db, sqlstore.MySQL, err
	case "sqlite", "file":
		path, query, _ := strings.Cut(rest, "?")
		settings := "_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)"
		db, err := sql.Open("sqlite", "file:"+path+"?"+cmp.Or(query, settings))
		return db, sqlstore.SQLite, err
	}
	return nil, 0, usagef("the URL has to begin with postgres:, mysql: or sqlite:")
}

// openMySQL opens a URL as other tools take it, which the driver does not.
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
