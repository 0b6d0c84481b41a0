package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/pintleauth/pintle/store/sqlstore"
)

// migrate makes the tables of sqlstore.New, or brings them up to date. With a layout it
// makes those of package account beside the tables of Auth.js. It makes no second set of users
// beside those of Auth.js unless it is told to: once it is there, no command hints at the layout.
func migrate(w io.Writer, args []string) error {
	flags := flag.NewFlagSet("migrate", flag.ContinueOnError)
	var tables tableFlags
	tables.register(flags)
	flags.BoolVar(&tables.accounts, "accounts", false, "make the tables of package account beside those of the layout")
	own := flags.Bool("own", false, "make all tables of sqlstore.New, also beside tables of Auth.js, whose users they do not have")
	if err := parse(flags, args); err != nil {
		return err
	}
	if err := tables.check(); err != nil {
		return err
	}
	how := mayCreate
	switch {
	case tables.given() && *own:
		return usagef("-own makes all tables of sqlstore.New: it goes without -layout and the options about its tables")
	case tables.layout != "" && !tables.accounts:
		return usagef("Auth.js's tools make the tables of a -layout: add -accounts to make those of package account beside them")
	case tables.layout != "":
		how = mustHaveTables
	case tables.given():
		return usagef("-accounts, -table, -column and -extra are about the tables of a -layout: without one, migrate makes all tables of sqlstore.New")
	}
	address, err := tables.address(flags.Args())
	if err != nil {
		return err
	}
	if how == mayCreate && !*own {
		if err := tables.refuseOthers(context.Background(), address); err != nil {
			return err
		}
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

// refuseOthers fails if a database has tables of Auth.js, or may have them, and none of ours. It opens the
// database itself, so that a refusal changes no setting of it.
func (f *tableFlags) refuseOthers(ctx context.Context, address string) error {
	db, dialect, err := openDatabase(address, mustExist)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(ctx, examination)
	defer cancel()
	if err := db.PingContext(ctx); err != nil {
		return fmt.Errorf("the %s database does not answer: %w", dialect, unquoted(err))
	}
	found, err := f.otherLayouts(ctx, db, dialect)
	if err != nil { // there may be tables that it has not seen
		return fmt.Errorf("the %s database could not be searched for tables of Auth.js: %w; "+
			"to make the tables of sqlstore.New without a search, run pintle migrate -own", dialect, unquoted(err))
	}
	if found == nil {
		return nil
	}
	return fmt.Errorf("the database has tables like those of Auth.js (%s), and those of sqlstore.New would not have their users: "+
		"to keep the users, give the layout to the application, and run pintle migrate -layout %s -accounts if it has package account; "+
		"to make a second set of tables all the same, run pintle migrate -own", strings.Join(found, ", "), strings.Join(found, " -accounts, or -layout "))
}
