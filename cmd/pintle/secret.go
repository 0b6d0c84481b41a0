package main

import (
	"crypto/rand"
	"flag"
	"fmt"
	"io"
)

// printSecret writes a line for an environment file, with 256 random bits and a
// few more.
func printSecret(w io.Writer, args []string) error {
	flags := flag.NewFlagSet("secret", flag.ContinueOnError)
	if err := parse(flags, args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return usagef("it takes no arguments, but got %q", flags.Arg(0))
	}
	_, err := fmt.Fprintf(w, "AUTH_SECRET=%s%s\n", rand.Text(), rand.Text())
	return err
}
