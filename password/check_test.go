package password_test

import (
	_ "embed"
	"errors"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/password"
)

//go:embed common.txt
var common string

func TestCheck(t *testing.T) {
	related := []string{"Margaret Hamilton", "m.hamilton+shop@apollo.example", "Kim", "gemini:3000"}
	for _, tt := range []struct {
		chosen string
		want   error
	}{
		{"", password.ErrTooShort},
		{"a7#kQz!", password.ErrTooShort},           // ASVS-6.2.1
		{"ñandúes", password.ErrTooShort},           // characters, not bytes
		{"zqvkwpxj", nil},                           // ASVS-6.2.5: no classes of characters
		{"correct horse battery staple", nil},       //
		{"🐎🔋📎✔🐎🔋📎✔", nil},                           //
		{"iloveyou", password.ErrGuessable},         // ASVS-6.2.4
		{"ILoveYou", password.ErrGuessable},         //
		{"Password123", password.ErrGuessable},      //
		{"margaret", password.ErrGuessable},         //
		{"Margaret2026!", password.ErrGuessable},    // what an attacker may know about the user
		{"hamiltonhamilton", password.ErrGuessable}, //
		{"apollo-11", password.ErrGuessable},        //
		{"gemini-2", password.ErrGuessable},         // a host with a port
		{"margaret and the 3 bears", nil},           //
		{"kimono-fabric", nil},                      // "Kim" is too short to count
		{strings.Repeat("ab1-", 16), nil},           // ASVS-6.2.9: 64 characters
		{strings.Repeat("x7", password.MaxLength/2), nil},
		{strings.Repeat("x7", password.MaxLength/2) + "!", password.ErrTooLong},
		{"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8", nil}, // bytes that are not UTF-8 are accepted
	} {
		if got := password.Check(tt.chosen, related...); !errors.Is(got, tt.want) {
			t.Errorf("Check(%.30q) = %v, want %v", tt.chosen, got, tt.want)
		}
	}
}

// ASVS-6.2.4: at least the three thousand most common that are long enough.
func TestCommonPasswordsAreRejected(t *testing.T) {
	lines := strings.Fields(common)
	if len(lines) != 10_000 {
		t.Errorf("%d passwords, want 10,000", len(lines))
	}
	for _, p := range lines {
		for _, chosen := range []string{p, strings.ToUpper(p)} {
			if err := password.Check(chosen); !errors.Is(err, password.ErrGuessable) {
				t.Errorf("Check(%q) = %v", chosen, err)
			}
		}
	}
}
