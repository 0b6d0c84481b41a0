package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/pintleauth/pintle/store/sqlstore"
)

// migrate makes the tables of sqlstore.New, or brings them up to date.
func migrate(w io.Writer, args []string) error {
	flags := flag.NewFlagSet("migrate", flag.ContinueOnError)
	if err := parse(flags, args); err != nil {
		return err
	}
	address, err := addressOf(flags.Args())
	if err != nil {
		return err
	}
	db, dialect, err := openDatabase(address, mayCreate)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := sqlstore.Migrate(context.Background(), db, dialect); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "the tables are there\n")
	return err
}
