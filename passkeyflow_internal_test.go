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
		who   requester
		want  ceremony // empty for a refusal
	}{
		{"authenticate", requesterUnnamed, "authenticate"},
		{"authenticate", requesterNew, "authenticate"},
		{"authenticate", requesterKnown, "authenticate"},
		{"authenticate", requesterSignedIn, "authenticate"},
		{"register", requesterUnnamed, ""},
		{"register", requesterNew, "register"},
		{"register", requesterKnown, ""},
		{"register", requesterSignedIn, "register"},
		{"", requesterUnnamed, "authenticate"},
		{"", requesterNew, "register"},
		{"", requesterKnown, "authenticate"},
		{"", requesterSignedIn, ""},
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

// W-37: a tenant that is forgotten and made again remembers what was used.
func TestTenantsShareWhatWasUsed(t *testing.T) {
	tenants := NewFunc(nil, func(context.Context, string) (Config, error) { return Config{}, nil }).chosen
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
	if first.spent != again.spent || first.spent == resolve(Config{}, nil).spent {
		t.Error("W-37 SA-L6: what was used is forgotten with a tenant, or shared with another service")
	}
}
