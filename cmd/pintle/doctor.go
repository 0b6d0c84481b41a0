package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/pintleauth/pintle/store/sqlstore"
)

// layouts are the tables the doctor knows, by the names of Auth.js's adapters.
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

var errProblems = errors.New("see to these first: statements that make an index unique fail while there are duplicates")

// doctor says what about a database makes a store slow or unsafe. It changes
// nothing.
func doctor(w io.Writer, args []string) error {
	flags := flag.NewFlagSet("doctor", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	names := strings.Join(slices.Sorted(maps.Keys(layouts)), ", ")
	layout := flags.String("layout", "", "")
	if err := flags.Parse(args); err != nil {
		return usagef("%v", err)
	}
	chosen, known := layouts[*layout]
	if *layout != "" && !known {
		return usagef("there is no layout %q, only %s", *layout, names)
	}
	db, dialect, err := openDatabase(flags.Args())
	if err != nil {
		return err
	}
	defer db.Close()
	store, err := storeOf(db, dialect, chosen)
	if err != nil {
		return err
	}
	problems, err := store.Check(context.Background())
	if err != nil {
		return err
	}
	if len(problems) == 0 {
		_, err := fmt.Fprintln(w, "nothing is wrong")
		return err
	}
	for _, p := range problems {
		fmt.Fprintln(w, p.Text)
		if p.Fix != "" {
			fmt.Fprintf(w, "\t%s\n", p.Fix)
		}
	}
	return errProblems
}

// storeOf returns a store on its own tables, or on those of a layout.
func storeOf(db *sql.DB, dialect sqlstore.Dialect, layout func(sqlstore.Dialect) sqlstore.Layout) (*sqlstore.Store, error) {
	if layout == nil {
		return sqlstore.New(db, dialect), nil
	}
	l := layout(dialect)
	if l.Dialect != dialect {
		return nil, usagef("that layout is for %v, and the database is %v", l.Dialect, dialect)
	}
	return sqlstore.NewShared(db, l)
}
