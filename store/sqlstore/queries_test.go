package sqlstore

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

func allLayouts() map[string]Layout {
	layouts := map[string]Layout{
		"pg-postgresql": PG(), "d1-sqlite": D1(), "supabase-postgresql": Supabase(),
	}
	for _, d := range []Dialect{PostgreSQL, MySQL, SQLite} {
		layouts["own-"+d.String()] = own(d)
		layouts["drizzle-"+d.String()] = Drizzle(d)
		layouts["prisma-"+d.String()] = Prisma(d)
		layouts["kysely-"+d.String()] = Kysely(d)
		layouts["typeorm-"+d.String()] = TypeORM(d)
	}
	// One layout of each kind of user ids, with the tables of package account.
	for _, name := range []string{"pg-postgresql", "supabase-postgresql", "drizzle-mysql", "d1-sqlite"} {
		l := layouts[name]
		l.AccountTables = true
		layouts[name+"-accounts"] = l
	}
	return layouts
}

// What a database is sent is worth reading in one place: a change of these
// files is a change of plans.
func TestStatementsOfEachLayout(t *testing.T) {
	for name, layout := range allLayouts() {
		t.Run(name, func(t *testing.T) {
			tables, err := layout.tables()
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".sql")
			got := listed(newQueries(tables))
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func listed(q *queries) string {
	var b strings.Builder
	v := reflect.ValueOf(q).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		switch f := v.Field(i); f.Kind() {
		case reflect.Slice, reflect.Array:
			for n := range f.Len() {
				write(&b, fmt.Sprintf("%s[%d]", name, n), f.Index(n))
			}
		default:
			write(&b, name, f)
		}
	}
	return b.String()
}

func write(b *strings.Builder, name string, statement reflect.Value) {
	if !statement.IsNil() {
		fmt.Fprintf(b, "-- %s\n%s;\n\n", name, statement.Elem().FieldByName("text").String())
	}
}

// SH-73: names are quoted, values are parameters.
func TestNamesAreQuotedWhateverTheyAre(t *testing.T) {
	for _, d := range []Dialect{PostgreSQL, MySQL, SQLite} {
		layout := Drizzle(d)
		layout.Users.Name = "users\"`; DROP TABLE users; --"
		layout.Users.Columns = map[string]string{"email": "e-mail \"`address"}
		layout.Users.Extra = []string{"100%s"}
		tables, err := layout.tables()
		if err != nil {
			t.Fatal(err)
		}
		want := map[Dialect]string{
			PostgreSQL: `FROM "users""` + "`" + `; DROP TABLE users; --" WHERE "e-mail ""` + "`" + `address" = $1`,
			SQLite:     `FROM "users""` + "`" + `; DROP TABLE users; --" WHERE "e-mail ""` + "`" + `address" = ?1`,
			MySQL:      "FROM `users\"``; DROP TABLE users; --` WHERE (`e-mail \"``address` = ? AND",
		}[d]
		if got := newQueries(tables).userByEmail.text; !strings.Contains(got, want) || !strings.Contains(got, "100%s") {
			t.Errorf("%v: %s\nwant %s", d, got, want)
		}
	}
}

func TestMySQLArgumentsFollowTheParameters(t *testing.T) {
	s := MySQL.statement("UPDATE t SET a = $2, b = $3 WHERE c = $1 AND d = $1 AND e = $10")
	if want := "UPDATE t SET a = ?, b = ? WHERE c = ? AND d = ? AND e = ?"; s.text != want {
		t.Errorf("text = %s, want %s", s.text, want)
	}
	got := fmt.Sprint(s.arguments([]any{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}))
	if want := "[2 3 1 1 10]"; got != want {
		t.Errorf("arguments = %s, want %s", got, want)
	}
}
