package main

import (
	"crypto/rand"
	"fmt"
	"io"
)

// printSecret writes a line for an environment file, with 256 random bits and a
// few more.
func printSecret(w io.Writer, args []string) error {
	if len(args) > 0 {
		return usagef("there is nothing to say about it: %q", args[0])
	}
	_, err := fmt.Fprintf(w, "AUTH_SECRET=%s%s\n", rand.Text(), rand.Text())
	return err
}
