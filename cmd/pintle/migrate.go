package main

import (
	"context"
	"fmt"
	"io"

	"github.com/pintleauth/pintle/store/sqlstore"
)

// migrate makes the tables of sqlstore.New, or brings them up to date.
func migrate(w io.Writer, args []string) error {
	db, dialect, err := openDatabase(args)
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
