package main

import (
	"context"
	"flag"
	"io"
	"os"
	"time"
)

// examination is how long the doctor waits for all servers, and answer for each of
// them.
const (
	examination = time.Minute
	answer      = 5 * time.Second
)

// doctor examines the environment and the servers it names, or a database alone.
// It changes nothing.
func doctor(w io.Writer, args []string) error {
	flags := flag.NewFlagSet("doctor", flag.ContinueOnError)
	var tables tableFlags
	tables.register(flags)
	flags.BoolVar(&tables.passkeys, "passkeys", false, "examine the table of passkeys of the layout too")
	flags.BoolVar(&tables.accounts, "accounts", false, "examine the tables of package account beside those of the layout too")
	tenantFlag(flags, &tables.tenants)
	if err := parse(flags, args); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), examination)
	defer cancel()
	r := newReport(w)
	if flags.NArg() == 0 && tables.database == "" {
		e := environment{os.Getenv, os.Environ()}
		e.examineSecrets(r)
		e.examineAddress(ctx, r)
		e.examineProviders(ctx, r)
		e.examineMailServer(ctx, r)
		if e.get("DATABASE_URL") == "" {
			if tables.given() {
				return usagef("which database? Give its URL, or set DATABASE_URL")
			}
			r.note("DATABASE_URL is not set: no database was examined")
			return r.end()
		}
	}
	if err := examineDatabase(ctx, r, flags.Args(), tables); err != nil {
		return err
	}
	return r.end()
}
