package main

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"github.com/pintleauth/pintle/store/sqlstore"
)

// otherLayouts returns the names of the layouts of Auth.js whose tables a database has, if it
// has none of those that the flags name. Without a word about them, an operator would make a
// second set of tables, without users, beside those of the application.
func (f *tableFlags) otherLayouts(ctx context.Context, db *sql.DB, dialect sqlstore.Dialect) []string {
	users := "pintle_users"
	if f.layout != "" {
		l, err := f.of(dialect)
		if err != nil {
			return nil
		}
		users = l.Users.Name
	}
	if db.PingContext(ctx) != nil || exists(ctx, db, quoted(dialect, users)) {
		return nil
	}
	return presentLayouts(ctx, db, dialect)
}

// presentLayouts returns the names of the layouts whose users, accounts and sessions a
// database has. Several have the same names of tables: those whose columns have the fewest
// problems are the ones that fit. Any of these tables may lack an index.
func presentLayouts(ctx context.Context, db *sql.DB, dialect sqlstore.Dialect) []string {
	var fitting []string
	least := 0
	for _, name := range slices.Sorted(maps.Keys(layouts)) {
		l := layouts[name](dialect)
		if l.Dialect != dialect || slices.ContainsFunc([]sqlstore.Table{l.Users, l.Accounts, l.Sessions}, func(t sqlstore.Table) bool {
			return !present(ctx, db, dialect, t.Name)
		}) {
			continue
		}
		l.Authenticators = sqlstore.Table{}
		store, err := sqlstore.NewShared(db, l)
		if err != nil {
			continue
		}
		problems, err := store.Check(ctx)
		if err != nil {
			continue
		}
		misfits := 0
		for _, p := range problems {
			if !strings.HasPrefix(p.Fix, "CREATE ") {
				misfits++
			}
		}
		switch {
		case fitting == nil || misfits < least:
			fitting, least = []string{name}, misfits
		case misfits == least:
			fitting = append(fitting, name)
		}
	}
	return fitting
}

// present reports whether a database has a table of exactly that name. SQLite reads User also
// by the name user, which another adapter has, with other forms of times.
func present(ctx context.Context, db *sql.DB, dialect sqlstore.Dialect, table string) bool {
	if dialect != sqlstore.SQLite {
		return exists(ctx, db, quoted(dialect, table))
	}
	found := 0
	err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM sqlite_master WHERE name = $1", table).Scan(&found)
	return err == nil && found > 0
}

// foreignTables is the message about tables of layouts that the command line does not name.
func foreignTables(found []string) string {
	return "the database has tables of Auth.js (" + strings.Join(found, ", ") + "): use -layout " + strings.Join(found, " or -layout ")
}

// quoted is the name of a table as a statement has it.
func quoted(dialect sqlstore.Dialect, table string) string {
	mark := `"`
	if dialect == sqlstore.MySQL {
		mark = "`"
	}
	parts := strings.Split(table, ".")
	for i, part := range parts {
		parts[i] = mark + strings.ReplaceAll(part, mark, mark+mark) + mark
	}
	return strings.Join(parts, ".")
}
