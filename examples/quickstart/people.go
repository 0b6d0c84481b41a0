package main

import (
	"context"
	"errors"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/password"
	"github.com/pintleauth/pintle/userimport"
)

// A demoUser is a user for trying the program. The page shows the password.
type demoUser struct{ Name, Email, Password string }

var demoUsers = []demoUser{
	{"Mary Anning", "mary@example.com", "ammonite and belemnite"},
	{"Omar Khayyam", "omar@example.com", "the moving finger writes"},
}

// createDemoUsers creates the demo users that do not exist yet, as an application imports
// the users that it has.
func createDemoUsers(ctx context.Context, store pintle.Store) error {
	_, err := userimport.Import(ctx, store, func(yield func(*userimport.User, error) bool) {
		hasher := &password.Hasher{}
		for _, demo := range demoUsers {
			_, err := store.UserByEmail(ctx, demo.Email)
			if err == nil {
				continue
			}
			hash := ""
			if errors.Is(err, pintle.ErrNotFound) {
				hash, err = hasher.Hash(ctx, demo.Password)
			}
			// A code is mailed to users whose address is not verified, when they sign in.
			u := &userimport.User{Name: demo.Name, Email: demo.Email, EmailVerified: time.Now(), Password: hash}
			if !yield(u, err) || err != nil {
				return
			}
		}
	}, userimport.Options{})
	return err
}
