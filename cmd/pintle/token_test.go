package main

import (
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/token"
)

func TestTokenPrintsTheClaims(t *testing.T) {
	const secret = "a-secret-of-at-least-32-characters"
	t.Setenv("AUTH_SECRET_1", secret)
	t.Setenv("AUTH_SECRET", strings.Repeat("another", 5))
	for _, name := range []string{"authjs.session-token", "__Secure-authjs.session-token", "session", "session of red.example"} {
		name, tenant, _ := strings.Cut(name, " of ")
		codec, err := token.NewTenant(tenant, name, secret)
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := codec.Encode(token.Claims{"sub": "1", "name": "Ada Lovelace"}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		half := len(sealed) / 2
		for _, typed := range []string{
			sealed + "\n",
			"Cookie: theme=dark; " + name + "=" + sealed,
			name + ".0=" + sealed[:half] + "; " + name + ".1=" + sealed[half:],
		} {
			var args []string
			if name == "session" {
				args = []string{"-cookie", name, "-tenant", tenant}
			}
			var out strings.Builder
			if err := openToken(strings.NewReader(typed), &out, args); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if !strings.Contains(out.String(), `"name": "Ada Lovelace"`) || !strings.Contains(out.String(), "of "+name+", until 2") {
				t.Errorf("the output is %s", out.String())
			}
		}
	}
}
