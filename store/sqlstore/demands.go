package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A column is one of a table, as the database describes it.
type column struct {
	name   string
	kind   string // its type, where the statement that makes it optional needs it
	demand bool   // it has to have a value and has no default
}

// The statements below list the columns of the table $1.
var columnQueries = map[Dialect]string{
	PostgreSQL: `SELECT attname, '', attnotnull AND NOT atthasdef AND attidentity = ''
FROM pg_attribute
WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped
ORDER BY attnum`,

	MySQL: `SELECT column_name, column_type, is_nullable = 'NO' AND column_default IS NULL AND extra NOT LIKE '%auto_increment%' AND extra NOT LIKE '%GENERATED%'
FROM information_schema.columns
WHERE table_schema = COALESCE($2, DATABASE()) AND table_name = $1
ORDER BY ordinal_position`,

	// The key of a table with row ids is numbered when it is an integer.
	SQLite: `SELECT name, '', "notnull" = 1 AND dflt_value IS NULL AND hidden = 0 AND NOT (pk > 0 AND upper(type) = 'INTEGER')
FROM pragma_table_xinfo($1)
ORDER BY cid`,
}

// checkDemands looks for NOT NULL columns without a default for which the store
// does not always have a value: the database refuses such rows.
func (s *Store) checkDemands(t *table, columns []column) []Problem {
	what, function := "row", ""
	switch t {
	case s.tables.users:
		what, function = "user", "Profile"
	case s.tables.accounts:
		what, function = "account", "Account"
	case s.tables.sessions:
		what = "session"
	case s.tables.verifications:
		what = "mail link"
	case s.tables.authenticators:
		what = "passkey"
	}
	var problems []Problem
	for _, c := range columns {
		if !c.demand || slices.Contains(t.written(), s.dialect.quote(c.name)) {
			continue
		}
		text := fmt.Sprintf("the column %s of the table %s must have a value, has no default, and is not in the layout: every new %s is refused%s", c.name, t.Name, what, otherwise(function))
		if slices.Contains(t.Extra, c.name) {
			text = fmt.Sprintf("the column %s of the table %s must have a value and has no default: every new %s is refused for which no %s function gives one: give the column a default, or a value to each row", c.name, t.Name, what, function)
		}
		problems = append(problems, Problem{Text: text, Fix: s.makeOptional(t, c)})
	}
	return problems
}

// otherwise says how rows are accepted while the column stays as it is. Only rows with a
// function of the host have further columns.
func otherwise(function string) string {
	if function == "" {
		return ": give the column a default"
	}
	return fmt.Sprintf(": give the column a default, or name it in Extra of the layout and return a value from the %s function", function)
}

// lacking returns those of the layout's quoted names that are no columns of a
// table. Only PostgreSQL distinguishes upper and lower case.
func (s *Store) lacking(names []string, columns []column) []string {
	var lacking []string
	for _, name := range names {
		if !slices.ContainsFunc(columns, func(c column) bool {
			is := s.dialect.quote(c.name)
			return is == name || s.dialect != PostgreSQL && strings.EqualFold(is, name)
		}) {
			lacking = append(lacking, strings.Trim(name, "\"`"))
		}
	}
	return lacking
}

// written returns the quoted names of the columns that the store writes in every
// row it makes.
func (t *table) written() []string {
	var names []string
	for column, name := range t.columns {
		if column != "id" || t.makesID() {
			names = append(names, name)
		}
	}
	return names
}

// makeOptional returns the statement that makes a column nullable, or "" for
// SQLite, which has none.
func (s *Store) makeOptional(t *table, c column) string {
	switch s.dialect {
	case PostgreSQL:
		return fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s DROP NOT NULL", t.quoted, s.dialect.quote(c.name))
	case MySQL:
		return fmt.Sprintf("ALTER TABLE %s MODIFY %s %s NULL", t.quoted, s.dialect.quote(c.name), c.kind)
	}
	return ""
}

func (s *Store) columns(ctx context.Context, t *table) (columns []column, err error) {
	err = s.each(ctx, func(scan func(...any) error) error {
		var c column
		err := scan(&c.name, &c.kind, &c.demand)
		columns = append(columns, c)
		return err
	}, s.dialect.statement(columnQueries[s.dialect]), s.tableArguments(t)...)
	return columns, err
}

// tableArguments are the parameters for a table in the queries of the schema.
func (s *Store) tableArguments(t *table) []any {
	schema, name, dotted := strings.Cut(t.Name, ".")
	switch {
	case s.dialect == PostgreSQL:
		return []any{t.quoted}
	case s.dialect == SQLite:
		return []any{t.Name}
	case dotted:
		return []any{name, schema}
	}
	return []any{t.Name, nil}
}
