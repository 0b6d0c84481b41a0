package main

import (
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/password"
	"github.com/pintleauth/pintle/userimport"
)

func TestProgressIsPrintedFromTimeToTime(t *testing.T) {
	var out strings.Builder
	seldom, often := printProgress(&out, time.Hour), printProgress(&out, 0)
	seldom(userimport.Result{Read: 100, Stored: 100})
	if out.Len() != 0 {
		t.Errorf("printed at once: %q", out.String())
	}
	often(userimport.Result{Read: 200, Stored: 150, Partial: 20, Existing: 25, Refused: 5})
	if want := "so far: read 200, stored 170, exist already 25, refused 5\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}

// The text is that of the console, whose documentation is at
// https://firebase.google.com/docs/cli/auth#password_hash_parameters
func TestTheHashConfigOfFirebaseIsRead(t *testing.T) {
	const shown = "hash_config {\n  algorithm: SCRYPT,\n  base64_signer_key: jxspr8Ki0RYycVU8==,\n  base64_salt_separator: Bw==,\n  rounds: 8,\n  mem_cost: 14,\n}\n"
	want := password.Firebase{SignerKey: "jxspr8Ki0RYycVU8==", SaltSeparator: "Bw==", Rounds: 8, MemoryCost: 14}
	for name, text := range map[string]string{
		"the text of the console":   shown,
		"with line ends of Windows": strings.ReplaceAll(shown, "\n", "\r\n"),
		"JSON": `{
 "algorithm": "SCRYPT",
 "base64_signer_key": "jxspr8Ki0RYycVU8==",
 "base64_salt_separator": "Bw==",
 "rounds": 8,
 "mem_cost": 14
}`,
	} {
		if got, err := readHashConfig(text); got != want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for name, text := range map[string]string{
		"empty": "", "another algorithm": strings.Replace(shown, "SCRYPT", "BCRYPT", 1), "no rounds": strings.Replace(shown, "rounds", "turns", 1),
		"no key": strings.Replace(shown, "base64_signer_key", "key", 1),
	} {
		if _, err := readHashConfig(text); err == nil || strings.Contains(err.Error(), "jxspr8Ki0") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnImportedUserWasCreatedInTheOtherSystem(t *testing.T) {
	before, imported := time.Date(2019, 5, 1, 10, 0, 0, 0, time.UTC), time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, tt := range []struct {
		name             string
		row, state, want time.Time
	}{
		{"an imported user", imported, before, before},
		{"an imported user in tables of Auth.js", time.Time{}, before, before},
		{"a user whose state came later", before, imported, before},
		{"a user without a state", imported, time.Time{}, imported},
		{"a user of Auth.js", time.Time{}, time.Time{}, time.Time{}},
	} {
		u := &accountstore.User{Created: tt.row, State: accountstore.State{Created: tt.state}}
		if got := createdAt(u); !got.Equal(tt.want) {
			t.Errorf("%s was created at %v, want %v", tt.name, got, tt.want)
		}
	}
}
