package main

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/pintleauth/pintle/store/sqlstore"
)

// otherLayouts returns the names of the layouts of Auth.js whose tables a database has, if it
// has none of those that the flags name. Without a word about them, an operator would make a
// second set of tables, without users, beside those of the application.
//
// It fails if it could not look everywhere.
func (f *tableFlags) otherLayouts(ctx context.Context, db *sql.DB, dialect sqlstore.Dialect) ([]string, error) {
	users := "pintle_users"
	if f.layout != "" {
		l, err := f.of(dialect)
		if err != nil {
			return nil, err
		}
		users = l.Users.Name
	}
	if exists(ctx, db, quoted(dialect, users)) {
		return nil, nil
	}
	return presentLayouts(ctx, db, dialect)
}

// presentLayouts returns the names of the layouts whose users, accounts and sessions a
// database has. Several have the same names of tables: those whose columns have the fewest
// problems are the ones that fit. Any of these tables may lack an index.
func presentLayouts(ctx context.Context, db *sql.DB, dialect sqlstore.Dialect) ([]string, error) {
	var fitting []string
	least := 0
	for _, name := range slices.Sorted(maps.Keys(layouts)) {
		l := layouts[name](dialect)
		if l.Dialect != dialect {
			continue
		}
		if there, err := hasTables(ctx, db, l); err != nil {
			return nil, err
		} else if !there {
			continue
		}
		l.Authenticators = sqlstore.Table{}
		store, err := sqlstore.NewShared(db, l)
		if err != nil {
			continue
		}
		problems, err := store.Check(ctx)
		if err != nil {
			return nil, err
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
	return fitting, nil
}

// hasTables reports whether a database has the users, accounts and sessions of a layout. Many
// applications have tables with such names that are not those of Auth.js: one of the columns that
// no other has as a rule must be there too. The others may have other names.
func hasTables(ctx context.Context, db *sql.DB, l sqlstore.Layout) (bool, error) {
	for _, t := range []sqlstore.Table{l.Users, l.Accounts, l.Sessions} {
		if there, err := present(ctx, db, l.Dialect, t.Name); err != nil || !there {
			return false, err
		}
	}
	alike, err := hasColumn(ctx, db, l.Dialect, l.Accounts, "provider", "providerAccountId")
	if err == nil && !alike {
		alike, err = hasColumn(ctx, db, l.Dialect, l.Sessions, "sessionToken")
	}
	return alike, err
}

// hasColumn reports whether a table has one of the columns, or may not be read.
func hasColumn(ctx context.Context, db *sql.DB, dialect sqlstore.Dialect, t sqlstore.Table, columns ...string) (bool, error) {
	rows, err := db.QueryContext(ctx, "SELECT * FROM "+quoted(dialect, t.Name)+" WHERE 1 = 0") //nolint:gosec // a quoted name
	if err != nil {
		return ctx.Err() == nil, ctx.Err()
	}
	defer rows.Close()
	there, err := rows.Columns()
	if err != nil {
		return false, err
	}
	for _, c := range columns {
		if name, renamed := t.Columns[c]; renamed {
			c = name
		}
		if slices.ContainsFunc(there, func(column string) bool { return strings.EqualFold(column, c) }) {
			return true, nil
		}
	}
	return false, rows.Err()
}

// present reports whether a database has a table of exactly that name, also if the user of the
// database may not read it. SQLite reads User also by the name user, which another adapter has,
// with other forms of times.
func present(ctx context.Context, db *sql.DB, dialect sqlstore.Dialect, table string) (there bool, err error) {
	switch dialect {
	case sqlstore.SQLite:
		err = db.QueryRowContext(ctx, "SELECT COUNT(*) > 0 FROM sqlite_master WHERE name = $1", table).Scan(&there)
		return there, err
	case sqlstore.PostgreSQL:
		err = db.QueryRowContext(ctx, "SELECT to_regclass($1) IS NOT NULL", quoted(dialect, table)).Scan(&there)
		return there, err
	}
	rows, err := db.QueryContext(ctx, "SELECT 1 FROM "+quoted(dialect, table)+" WHERE 1 = 0") //nolint:gosec // a quoted name
	if err == nil {
		defer rows.Close()
		return true, rows.Err()
	}
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		// The server says that a table must not be read whether or not it is there.
		const denied, missing = 1142, 1146
		if e.Number == denied || e.Number == missing {
			return false, nil
		}
	}
	return false, err
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
