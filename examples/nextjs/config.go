package main

import (
	"context"
	"net/netip"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/throttle"
)

// config is the whole configuration of Pintle. The secret is that of auth.js in
// web, which uses it to read the sessions of Pintle.
func config(idp *authtest.IdentityProvider, site, secret string) pintle.Config {
	guard := &throttle.Guard{} // limits guesses
	return pintle.Config{
		URL:      site, // the address for browsers: Next.js, which forwards the paths below the base path
		BasePath: "/api/auth",
		Providers: []pintle.Provider{
			guard.Credentials(&pintle.Credentials{Name: "a password", Authorize: checkPassword}, "username"),
			idp.OIDC("local"),
		},
		// Every connection is one of Next.js, which names the client.
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Secrets:        []string{secret},
		Callbacks:      pintle.Callbacks{JWT: rename},
		Getenv:         func(string) string { return "" }, // a variable of another project must not confuse this one
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

// rename is called when a session is made or changed. t.Session has the data that a
// page passes to update of useSession. It is client input: this application lets
// users change their name only.
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
