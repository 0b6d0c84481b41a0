package main

import (
	"context"
	"crypto/rand"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/throttle"
)

// config is the whole configuration of Pintle. Users sign in with a password or
// the local identity provider; applications with a code of a user.
func config(store pintle.Store, codes *codes, idp *authtest.IdentityProvider) pintle.Config {
	guard := &throttle.Guard{} // limits guesses of passwords and of codes
	return pintle.Config{
		Providers: []pintle.Provider{
			guard.Credentials(&pintle.Credentials{Name: "a password", Authorize: checkPassword(store)}, "username"),
			idp.OIDC("local"),
			guard.Credentials(&pintle.Credentials{ID: "code", Fields: []pintle.Field{}, Authorize: codes.redeem}, "code"), // no form
		},
		Store:   store,
		Secrets: []string{rand.Text() + rand.Text()}, // in production it comes from AUTH_SECRET
		Session: pintle.SessionConfig{
			// Short tokens, which end at once when a device is lost.
			Strategy:    pintle.StrategyDatabase,
			AllowBearer: true,
		},
		Getenv: func(string) string { return "" }, // a variable of another project must not confuse this one
	}
}

// kim is the only user with a password.
var kim = pintle.User{ID: "1", Name: "Kim", Email: "kim@example.com"}

// checkPassword stands for a table of users and their hashes; see package
// password.
func checkPassword(store pintle.Store) func(context.Context, *pintle.Submission) (*pintle.User, error) {
	return func(ctx context.Context, s *pintle.Submission) (*pintle.User, error) {
		if s.Text("username") != "kim" || s.Text("password") != "open sesame" {
			return nil, nil // wrong credentials
		}
		return store.User(ctx, kim.ID)
	}
}
