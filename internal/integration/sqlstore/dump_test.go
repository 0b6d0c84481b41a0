package sqlstore_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/internal/integration/accountsite"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// copied returns every value of every table, numbers and times as text.
func copied(t *testing.T, db *sql.DB, d sqlstore.Dialect) (cells []accountsite.Cell) {
	t.Helper()
	tables := textsOf(t, db, map[sqlstore.Dialect]string{
		sqlstore.PostgreSQL: `SELECT table_schema || '.' || table_name FROM information_schema.tables WHERE table_schema NOT IN ('pg_catalog', 'information_schema')`,
		sqlstore.MySQL:      `SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()`,
		sqlstore.SQLite:     `SELECT name FROM sqlite_schema WHERE type = 'table'`,
	}[d])
	quote := map[bool]string{true: "`", false: `"`}[d == sqlstore.MySQL]
	for _, table := range tables {
		rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+quote+strings.ReplaceAll(table, ".", quote+"."+quote)+quote)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			values, dest := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				dest[i] = &values[i]
			}
			if err := rows.Scan(dest...); err != nil {
				t.Fatal(err)
			}
			for i, value := range values {
				where := table + "." + columns[i]
				switch v := value.(type) {
				case nil:
				case []byte:
					cells = append(cells, accountsite.Cell{Where: where, Value: v})
				default:
					cells = append(cells, accountsite.Cell{Where: where, Value: fmt.Append(nil, v)})
				}
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return cells
}

// textsOf returns the texts of a query of one column.
func textsOf(t *testing.T, db *sql.DB, query string) (texts []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return texts
}

// AT-114, ASVS-6.5.2, AC-203: in a copy of the database is no secret, and nothing in it is one.
func TestACopyOfOwnTablesSignsNoUserIn(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			db := migrated(t, d)
			j := accountsite.New(t, sqlstore.New(db.DB, d.dialect)).Take()
			dump := copied(t, db.DB, d.dialect)
			j.GivesNothingAway(dump, nil)
			j.SignsNoUserIn(dump, nil)
		})
	}
}

// AT-114, AC-203: beside the tables of Auth.js, too. The token of a session is in its table, as
// Auth.js writes it, and nowhere else.
func TestACopyOfSharedTablesSignsNoUserIn(t *testing.T) {
	for _, l := range sharedLayouts {
		if l.file != "drizzle-"+l.layout.Dialect.String() {
			continue
		}
		t.Run(l.file, func(t *testing.T) {
			l := l.withAccounts()
			db := l.create(t)
			s := l.store(t, db)
			repair(t, db, s)
			j := accountsite.New(t, s).Take()
			dump := copied(t, db.DB, l.layout.Dialect)
			sessions := func(where string) bool {
				return strings.HasSuffix(where, l.layout.Sessions.Name+".sessionToken")
			}
			j.GivesNothingAway(dump, sessions)
			j.SignsNoUserIn(dump, sessions)
		})
	}
}
