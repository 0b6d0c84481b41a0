package pintle

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"
)

// The table of the contract: what is done for whom.
func TestChooseCeremony(t *testing.T) {
	tests := []struct {
		asked ceremony
		who   visitor
		want  ceremony // empty for a refusal
	}{
		{"authenticate", visitorUnnamed, "authenticate"},
		{"authenticate", visitorNew, "authenticate"},
		{"authenticate", visitorKnown, "authenticate"},
		{"authenticate", visitorSignedIn, "authenticate"},
		{"register", visitorUnnamed, ""},
		{"register", visitorNew, "register"},
		{"register", visitorKnown, ""},
		{"register", visitorSignedIn, "register"},
		{"", visitorUnnamed, "authenticate"},
		{"", visitorNew, "register"},
		{"", visitorKnown, "authenticate"},
		{"", visitorSignedIn, ""},
	}
	for _, tt := range tests {
		got, ok := chooseCeremony(tt.asked, tt.who)
		if ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("chooseCeremony(%q, %d) = %q, %t, want %q", tt.asked, tt.who, got, ok, tt.want)
		}
	}
}

func TestCredentialIDs(t *testing.T) {
	tests := []struct {
		name, sent, want string
	}{
		{"base64url", "-_-_AQ", "+/+/AQ=="},
		{"base64url with padding", "-_-_AQ==", "+/+/AQ=="},
		{"base64", "+/+/AQ==", "+/+/AQ=="},
		{"nothing", "", ""},
		{"padding alone", "==", ""},
		{"no base64", "not one!", ""},
		{"WA-10 as long as they may be", strings.Repeat("A", 1364), base64.StdEncoding.EncodeToString(make([]byte, 1023))},
		{"WA-10 too long", strings.Repeat("A", 1366), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := credentialID(tt.sent)
			if got != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("credentialID(%.20q) = %.20q, %v, want %.20q", tt.sent, got, err, tt.want)
			}
		})
	}
}

// WA-11, WA-16: what user handles tell, and whom they contradict.
func TestUserHandles(t *testing.T) {
	s := &settings{jwtSecrets: []string{"new", "old"}}
	old := &settings{jwtSecrets: []string{"old"}}
	foreign := &settings{jwtSecrets: []string{"foreign"}}
	ada, bob := &User{ID: "ada", Email: "ada@example.com"}, &User{ID: "bob"}

	tests := []struct {
		name   string
		handle string
		want   bool
	}{
		{"WA-11 of the user", s.userHandle(ada), false},
		{"WA-11 of somebody else", s.userHandle(bob), true},
		{"WA-11 of the user, with an earlier secret", old.userHandle(ada), false},
		{"WA-11 of somebody else, with an earlier secret", old.userHandle(bob), true},
		{"WA-11 of somebody else, as newer libraries send it", base64.RawURLEncoding.EncodeToString([]byte(s.userHandle(bob))), true},
		{"of the user, as newer libraries send it", base64.RawURLEncoding.EncodeToString([]byte(s.userHandle(ada))), false},
		{"of another server", foreign.userHandle(bob), false},
		{"random", s.userHandle(&User{Email: "eve@example.com"}), false},
		{"none", "", false},
		{"no handle at all", "me", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := s.handleContradicts(tt.handle, ada); got != tt.want {
				t.Errorf("handleContradicts(%q, Ada) = %t, want %t", tt.handle, got, tt.want)
			}
		})
	}
	if first, second := s.userHandle(&User{}), s.userHandle(&User{}); len(first) != 64 || first == second {
		t.Errorf("WA-16: handles of new users are %q and %q", first, second)
	}
}

// W-37: a tenant that is forgotten and made again remembers what was used.
func TestTenantsShareWhatWasUsed(t *testing.T) {
	tenants := newTenants(nil, func(context.Context, string) (Config, error) { return Config{}, nil })
	tenants.byKey.Max = 1
	made := map[string]*settings{}
	for _, key := range []string{"a", "b"} { // which takes the place of the first
		var err error
		if made[key], err = tenants.make(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	first := made["a"]
	again, err := tenants.make(t.Context(), "a")
	if err != nil || again == first {
		t.Fatalf("the tenant was not made again: %v", err)
	}
	if first.spent != again.spent || first.spent == resolve(Config{}).spent {
		t.Error("W-37 SA-L6: what was used is forgotten with a tenant, or shared with another service")
	}
}
