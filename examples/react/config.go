package main

import (
	"context"
	"crypto/rand"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/throttle"
)

// config is the whole configuration of Pintle.
func config(idp *authtest.IdentityProvider) pintle.Config {
	guard := &throttle.Guard{} // limits guesses
	return pintle.Config{
		BasePath: "/api/auth", // where next-auth/react looks for it
		Providers: []pintle.Provider{
			guard.Credentials(&pintle.Credentials{Authorize: checkPassword}, "username"),
			idp.OIDC("local"),
		},
		Secrets:   []string{rand.Text() + rand.Text()}, // sessions end with the program
		Callbacks: pintle.Callbacks{JWT: rename},
		Getenv:    func(string) string { return "" }, // a variable of another project must not confuse this one
	}
}

// checkPassword stands for a table of users and their hashes; see package
// password.
func checkPassword(_ context.Context, s *pintle.Submission) (*pintle.User, error) {
	if s.Text("username") != "kim" || s.Text("password") != "open sesame" {
		return nil, nil // wrong credentials
	}
	return &pintle.User{ID: "1", Name: "Kim"}, nil
}

// rename is called when a session is made or changed. t.Session has the data that
// the page passes to update of useSession. It is client input: this application
// lets users change their name only.
func rename(_ context.Context, t *pintle.TokenChange) (pintle.Claims, error) {
	if t.Trigger == pintle.TriggerUpdate {
		wish, _ := t.Update.(map[string]any)
		name, _ := wish["name"].(string)
		if name = strings.TrimSpace(name); name != "" && len(name) <= 200 {
			t.Claims["name"] = name
		}
	}
	return t.Claims, nil
}
