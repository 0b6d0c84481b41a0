package main

import (
	"context"
	"crypto/rand"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/native"
	"github.com/pintleauth/pintle/throttle"
)

// config is the whole configuration of Pintle. Users sign in with a password or
// the local identity provider, and applications through the browser.
func config(store pintle.Store, passwords *pintle.Credentials, idp *authtest.IdentityProvider) pintle.Config {
	return pintle.Config{
		Providers: []pintle.Provider{passwords, idp.OIDC("local")},
		Store:     store,
		Secrets:   []string{rand.Text() + rand.Text()}, // in production it comes from AUTH_SECRET
		Session: pintle.SessionConfig{
			// Short tokens, which end at once when a device is lost.
			Strategy:    pintle.StrategyDatabase,
			AllowBearer: true,

			RecordAuthentication: true,
		},
		Native: applications,
		Getenv: func(string) string { return "" }, // a variable of another project must not confuse this one
	}
}

// applications are those that may act as a user who agrees. A code goes to an address of
// this machine at which the user's application listens while it waits, or to a page of
// a site that the operating system has verified to belong to the application.
var applications = []native.Application{
	{ID: "desktop", Name: "The example for desktops", RedirectURLs: []string{"http://127.0.0.1/signed-in"}},
	{ID: "phone", Name: "The example for phones", RedirectURLs: []string{"https://app.example.com/signed-in"}},
}

// kim is the only user with a password.
var kim = pintle.User{ID: "1", Name: "Kim", Email: "kim@example.com"}

// newPasswords returns the provider of passwords.
func newPasswords(store pintle.Store, guard *throttle.Guard) *pintle.Credentials {
	return guard.Credentials(&pintle.Credentials{Name: "a password", Authorize: checkPassword(store)}, "username")
}

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
