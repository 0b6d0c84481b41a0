package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/pintleauth/pintle/store/sqlstore"
)

// migrate makes the tables of sqlstore.New, or brings them up to date. With a layout it
// makes those of package account beside the tables of Auth.js.
func migrate(w io.Writer, args []string) error {
	flags := flag.NewFlagSet("migrate", flag.ContinueOnError)
	var tables tableFlags
	tables.register(flags)
	flags.BoolVar(&tables.accounts, "accounts", false, "make the tables of package account beside those of the layout")
	if err := parse(flags, args); err != nil {
		return err
	}
	how := mayCreate
	switch {
	case tables.layout != "" && !tables.accounts:
		return usagef("Auth.js's tools make the tables of a -layout: add -accounts to make those of package account beside them")
	case tables.layout != "":
		how = mustHaveTables
	case tables.given():
		return usagef("-accounts, -table, -column and -extra are about the tables of a -layout: without one, migrate makes all tables of sqlstore.New")
	}
	if err := tables.check(); err != nil {
		return err
	}
	address, err := tables.address(flags.Args())
	if err != nil {
		return err
	}
	db, dialect, err := openDatabase(address, how)
	if err != nil {
		return err
	}
	defer db.Close()
	if how == mayCreate {
		err = sqlstore.Migrate(context.Background(), db, dialect)
	} else {
		var layout sqlstore.Layout
		if layout, err = tables.of(dialect); err == nil {
			err = sqlstore.MigrateShared(context.Background(), db, layout)
		}
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "the tables are there\n")
	return err
}
