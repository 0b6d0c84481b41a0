package main

import (
	"context"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"

	"github.com/pintleauth/pintle/store/sqlstore"
	_ "modernc.org/sqlite" // the driver "sqlite", in Go alone
)

// defaultDatabase is a file in the user's cache directory.
func defaultDatabase() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "pintle", "quickstart.db")
}

// openDatabase opens a file with the tables of Pintle.
func openDatabase(ctx context.Context, file string) (*sql.DB, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	// SQLite would create the file readable for all users of the machine.
	made, err := os.OpenFile(file, os.O_CREATE, 0o600) //nolint:gosec // named on the command line
	if err != nil {
		return nil, err
	}
	if err := made.Close(); err != nil {
		return nil, err
	}
	settings := url.Values{
		"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "foreign_keys(1)"},
		"_txlock": {"immediate"},
	}
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(file)+"?"+settings.Encode())
	if err != nil {
		return nil, err
	}
	if err := sqlstore.Migrate(ctx, db, sqlstore.SQLite); err != nil {
		_ = db.Close() // the first error is the one to report
		return nil, err
	}
	return db, nil
}
