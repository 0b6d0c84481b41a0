package services

import (
	"net/url"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // the database/sql driver "sqlite"
)

// SQLiteDatabase makes a SQLite database in a new file, with the settings of a web
// application: a write-ahead log, foreign keys, waiting for a lock instead of
// failing, and transactions that take it at once. The data need not outlive the
// machine, only the process, so that no transaction waits for the disk.
func SQLiteDatabase(t testing.TB) *Database {
	t.Helper()
	u := url.URL{Scheme: "file", Path: filepath.Join(t.TempDir(), "pintle.db"), RawQuery: url.Values{
		"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(off)", "foreign_keys(1)"},
		"_txlock": {"immediate"},
	}.Encode()}
	return openDatabase(t, "sqlite", u.String())
}
