package main

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
)

// readSecret returns the secret in a file, which it makes at the first start. A
// reader of the file can sign in as any user; a new secret signs all users out. In
// production it comes from AUTH_SECRET.
func readSecret(file string) (string, error) {
	secret, err := os.ReadFile(file) //nolint:gosec // named on the command line
	if errors.Is(err, fs.ErrNotExist) {
		secret = []byte(rand.Text() + rand.Text())
		err = os.WriteFile(file, secret, 0o600)
	}
	return string(secret), err
}
