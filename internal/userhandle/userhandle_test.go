package userhandle_test

import (
	"encoding/base64"
	"testing"

	"github.com/pintleauth/pintle/internal/userhandle"
)

// WA-11, WA-16: what user handles tell, and whom they contradict.
func TestUserHandles(t *testing.T) {
	secrets := []string{"new", "old"}
	ada, bob := userhandle.Of("new", "ada"), userhandle.Of("new", "bob")
	tests := []struct {
		name   string
		handle string
		want   bool
	}{
		{"WA-11 of the user", ada, false},
		{"WA-11 of another user", bob, true},
		{"WA-11 of the user, with an earlier secret", userhandle.Of("old", "ada"), false},
		{"WA-11 of another user, with an earlier secret", userhandle.Of("old", "bob"), true},
		{"WA-11 of another user, as newer libraries send it", base64.RawURLEncoding.EncodeToString([]byte(bob)), true},
		{"of the user, as newer libraries send it", base64.RawURLEncoding.EncodeToString([]byte(ada)), false},
		{"of another server", userhandle.Of("foreign", "bob"), false},
		{"the pseudonym of another user with another tag", bob[:32] + ada[32:], false},
		{"random", userhandle.Random(), false},
		{"none", "", false},
		{"no handle at all", "me", false},
		{"a part of one", bob[:62], false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := userhandle.Contradicts(tt.handle, secrets, "ada"); got != tt.want {
				t.Errorf("Contradicts(%q, Ada) = %t, want %t", tt.handle, got, tt.want)
			}
		})
	}
	if first, second := userhandle.Random(), userhandle.Random(); len(first) != 64 || first == second {
		t.Errorf("WA-16: handles of new users are %q and %q", first, second)
	}
	// A passkey that was made has the handle it was given: the next one replaces
	// it on the authenticator only under the same.
	if got, want := userhandle.Of("secret", "user-1"), "bce1d3b5c5d2c1c36935fcbb6a6d956c8f596cd46b23f74aa87fc357d1acff25"; got != want {
		t.Errorf("the handle is %s, and was %s", got, want)
	}
}
