package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/pintleauth/pintle/account"
)

// names are the values of a flag that may be repeated.
type names []string

func (n *names) String() string { return "" }

// Set implements [flag.Value].
func (n *names) Set(text string) error {
	*n = append(*n, text)
	return nil
}

// tenantFlag is the flag for the tenants whose secrets of authenticator apps are read.
func tenantFlag(flags *flag.FlagSet, tenants *names) {
	flags.Var(tenants, "tenant", "the `name` of a tenant whose authenticator apps are in the database; may be repeated")
}

// reseal seals the secrets of authenticator apps with the first of the secrets.
func reseal(w io.Writer, args []string) error {
	flags := flag.NewFlagSet("reseal", flag.ContinueOnError)
	var tables tableFlags
	var tenants names
	tables.register(flags)
	tenantFlag(flags, &tenants)
	if err := parse(flags, args); err != nil {
		return err
	}
	if err := tables.check(); err != nil {
		return err
	}
	tables.accounts = tables.layout != "" // the tables beside those of the layout
	secrets := environmentSecrets()
	if len(secrets) == 0 {
		return usagef("set AUTH_SECRET, and AUTH_SECRET_1 to AUTH_SECRET_3, to the secrets of the application")
	}
	address, err := tables.address(flags.Args())
	if err != nil {
		return err
	}
	db, dialect, err := openDatabase(address, mustExist)
	if err != nil {
		return err
	}
	defer db.Close()
	store, err := tables.store(context.Background(), db, dialect)
	if err != nil {
		return err
	}
	count, err := account.Reseal(context.Background(), store.AccountStore(), account.ResealOptions{
		Secrets: secrets, Tenants: tenants,
		Progress: func(c account.SealCount) {
			_, _ = fmt.Fprintf(w, "so far: %d of %d sealed anew\n", c.Resealed, c.First+c.Unopened)
		},
	})
	if _, printErr := fmt.Fprintf(w, "sealed anew: %d; sealed with the first secret: %d\n", count.Resealed, count.First); err == nil {
		err = printErr
	}
	return err
}
