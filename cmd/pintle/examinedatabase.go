package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// layouts are the layouts that the command supports, by the names of Auth.js's
// adapters.
var layouts = map[string]func(sqlstore.Dialect) sqlstore.Layout{
	"pg":       func(sqlstore.Dialect) sqlstore.Layout { return sqlstore.PG() },
	"neon":     func(sqlstore.Dialect) sqlstore.Layout { return sqlstore.PG() },
	"supabase": func(sqlstore.Dialect) sqlstore.Layout { return sqlstore.Supabase() },
	"d1":       func(sqlstore.Dialect) sqlstore.Layout { return sqlstore.D1() },
	"drizzle":  sqlstore.Drizzle,
	"prisma":   sqlstore.Prisma,
	"kysely":   sqlstore.Kysely,
	"typeorm":  sqlstore.TypeORM,
}

// tableFlags describe the tables of a database, as the application's
// [sqlstore.Layout] does.
type tableFlags struct {
	layout, database       string
	passkeys, accounts     bool
	tables, columns, extra pairs
	tenants                names
}

// pairs are the values of a flag that may be repeated.
type pairs [][2]string

func (p *pairs) String() string { return "" }

// Set implements [flag.Value].
func (p *pairs) Set(text string) error {
	name, value, found := strings.Cut(text, "=")
	if !found || name == "" {
		return fmt.Errorf("want NAME=VALUE")
	}
	*p = append(*p, [2]string{name, value})
	return nil
}

func (f *tableFlags) register(flags *flag.FlagSet) {
	flags.StringVar(&f.layout, "layout", "", "the `adapter` of Auth.js that made the tables: "+strings.Join(slices.Sorted(maps.Keys(layouts)), ", "))
	flags.StringVar(&f.database, "database", "", "the `URL` of the database, instead of DATABASE_URL")
	flags.Var(&f.tables, "table", "another name of a table, as `users=app_user`; may be repeated")
	flags.Var(&f.columns, "column", "another name of a column, as `users.emailVerified=verified`")
	flags.Var(&f.extra, "extra", "a further column, as `users=role`")
}

func (f *tableFlags) given() bool {
	return f.layout != "" || f.passkeys || f.accounts || len(f.tables)+len(f.columns)+len(f.extra) > 0
}

// examineDatabase looks at the database that args or the environment name.
func examineDatabase(ctx context.Context, r *report, args []string, f tableFlags) error {
	named := len(args) > 0 || f.database != ""
	if err := f.check(); err != nil {
		return err
	}
	address, err := f.address(args)
	var db *sql.DB
	var dialect sqlstore.Dialect
	if err == nil {
		db, dialect, err = openDatabase(address, mustExist)
	}
	switch {
	case err != nil && named:
		return err
	case err != nil: // one of the faults of the environment
		text := err.Error()
		if !strings.HasPrefix(text, "DATABASE_URL ") {
			text = "DATABASE_URL: " + text
		}
		r.problem("%s", text)
		return nil
	}
	defer db.Close()
	store, err := f.storeOf(db, dialect)
	if err != nil {
		return err
	}
	if err := db.PingContext(ctx); err != nil {
		r.problem("the %s database does not answer: %v", dialect, unquoted(err))
		return nil
	}
	if found, _ := f.otherLayouts(ctx, db, dialect); found != nil {
		r.problem("%s", foreignTables(found))
		return nil
	}
	problems, err := store.Check(ctx)
	if err != nil {
		return err
	}
	if !f.passkeys {
		problems = append(problems, f.examinePasskeys(ctx, db, dialect)...)
	}
	for _, p := range problems {
		r.problem("%s", p.Text)
		r.fix(p.Fix)
	}
	if len(problems) == 0 {
		r.good("the %s database has the tables and indices it should have", dialect)
		examineSeals(ctx, r, store.AccountStore(), f.tenants)
	}
	if slices.ContainsFunc(problems, func(p sqlstore.Problem) bool { return strings.HasPrefix(p.Fix, "CREATE UNIQUE") }) {
		r.note("a statement that makes an index unique fails while there are duplicates: merge those first")
	}
	return nil
}

// examinePasskeys looks for the table of passkeys that the layout has by default, and that the
// store does not examine here: an application that keeps it in its layout without the table
// deletes no user.
func (f *tableFlags) examinePasskeys(ctx context.Context, db *sql.DB, dialect sqlstore.Dialect) []sqlstore.Problem {
	if f.layout == "" || slices.ContainsFunc(f.tables, func(p [2]string) bool { return p[0] == "authenticators" }) {
		return nil
	}
	l, err := f.of(dialect)
	name := layouts[f.layout](dialect).Authenticators.Name
	if err != nil || name == "" || !exists(ctx, db, quoted(dialect, l.Users.Name)) || exists(ctx, db, quoted(dialect, name)) {
		return nil
	}
	return []sqlstore.Problem{{
		Text: fmt.Sprintf("there is no table %s for passkeys, which the layout names: no user can be deleted", name),
		Fix:  "set Layout.Authenticators = sqlstore.Table{} in the application and give -table authenticators= here, or create the table",
	}}
}

// examineSeals counts the secrets of authenticator apps by the secrets that open them. Rows
// may be nil.
func examineSeals(ctx context.Context, r *report, rows accountstore.Store, tenants []string) {
	secrets := environmentSecrets()
	if rows == nil || len(secrets) == 0 {
		return
	}
	c, err := account.Reseal(ctx, rows, account.ResealOptions{Secrets: secrets, Tenants: tenants, CountOnly: true})
	total := c.First + c.Old + c.Unopened
	switch {
	case c.Unopened > 0:
		r.problem("%d of %d secrets of authenticator apps do not open: their users cannot use the apps", c.Unopened, total)
		r.fix("set each AUTH_SECRET that has sealed them, and name the tenants with -tenant")
	case err != nil:
		r.problem("the secrets of authenticator apps cannot be read: %v", err)
	case c.Old == 0 && total > 0:
		r.good("the first secret opens the secrets of all %d authenticator apps", total)
	}
	if c.Old > 0 {
		r.note("only an old secret opens %d of %d secrets of authenticator apps: run pintle reseal before you take it away", c.Old, total)
	}
}

// check reports a mistyped option before the database is opened.
func (f *tableFlags) check() error {
	if _, known := layouts[f.layout]; f.layout != "" && !known {
		return usagef("there is no layout %q, only %s", f.layout, strings.Join(slices.Sorted(maps.Keys(layouts)), ", "))
	}
	return nil
}

// store returns a store on its own tables, or on those of a layout. It fails if the database
// has tables of another layout instead.
func (f *tableFlags) store(ctx context.Context, db *sql.DB, dialect sqlstore.Dialect) (*sqlstore.Store, error) {
	store, err := f.storeOf(db, dialect)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, examination)
	defer cancel()
	if found, _ := f.otherLayouts(ctx, db, dialect); found != nil {
		return nil, errors.New(foreignTables(found))
	}
	return store, nil
}

// storeOf is store without a look at the database.
func (f *tableFlags) storeOf(db *sql.DB, dialect sqlstore.Dialect) (*sqlstore.Store, error) {
	if f.layout == "" {
		if f.given() {
			return nil, usagef("-table, -column, -extra, -passkeys and -accounts are about the tables of a -layout")
		}
		return sqlstore.New(db, dialect), nil
	}
	l, err := f.of(dialect)
	if err != nil {
		return nil, err
	}
	store, err := sqlstore.NewShared(db, l)
	if err != nil {
		return nil, usagef("%v", err)
	}
	return store, nil
}

// of returns the layout in a dialect.
func (f *tableFlags) of(dialect sqlstore.Dialect) (sqlstore.Layout, error) {
	l := layouts[f.layout](dialect)
	if l.Dialect != dialect {
		return l, usagef("that layout is for %v, and the database is %v", l.Dialect, dialect)
	}
	if !f.passkeys {
		l.Authenticators = sqlstore.Table{}
	}
	l.AccountTables = f.accounts
	if err := f.change(&l); err != nil {
		return l, err
	}
	if f.passkeys && l.Authenticators.Name == "" {
		return l, usagef("the layout has no table for passkeys: name yours with -table authenticators=NAME")
	}
	return l, nil
}

// change applies the names of the flags to a layout.
func (f *tableFlags) change(l *sqlstore.Layout) error {
	tables := map[string]*sqlstore.Table{
		"users": &l.Users, "accounts": &l.Accounts, "sessions": &l.Sessions, "verifications": &l.Verifications, "authenticators": &l.Authenticators,
	}
	find := func(name string) (*sqlstore.Table, error) {
		if tables[name] == nil {
			return nil, usagef("there is no table %q in a layout, only %s", name, strings.Join(slices.Sorted(maps.Keys(tables)), ", "))
		}
		return tables[name], nil
	}
	for _, p := range f.tables {
		t, err := find(p[0])
		if err != nil {
			return err
		}
		t.Name = p[1]
	}
	for _, p := range f.columns {
		table, column, _ := strings.Cut(p[0], ".")
		t, err := find(table)
		if err != nil {
			return err
		}
		t.Columns = maps.Clone(t.Columns)
		if t.Columns == nil {
			t.Columns = make(map[string]string)
		}
		t.Columns[column] = p[1]
	}
	for _, p := range f.extra {
		t, err := find(p[0])
		if err != nil {
			return err
		}
		t.Extra = append(t.Extra, p[1])
	}
	return nil
}
