package account

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/accountstore"
)

// The codes of the RFC have 8 digits, of which an app with 6 shows the last.
//
// https://www.rfc-editor.org/rfc/rfc6238#appendix-B
func TestCodesAreThoseOfTheRFC(t *testing.T) {
	for at, want := range map[int64]string{
		59: "94287082", 1111111109: "07081804", 1111111111: "14050471", 1234567890: "89005924", 2000000000: "69279037", 20000000000: "65353130",
	} {
		if got := totpCode([]byte("12345678901234567890"), totpStep(time.Unix(at, 0))); got != want[2:] {
			t.Errorf("the code at %d is %s, want %s", at, got, want[2:])
		}
	}
}

// AC-106
func TestACodeMatchesTheStepOfNowAndThoseBesideIt(t *testing.T) {
	secret, now := newTOTPSecret(), time.Unix(1700000000, 0)
	for off := int64(-3); off <= 3; off++ {
		step, found := matchStep(secret, totpCode(secret, totpStep(now)+off), now)
		if want := off >= -1 && off <= 1; found != want || found && step != totpStep(now)+off {
			t.Errorf("a code %d steps off matches step %d, %v", off, step-totpStep(now), found)
		}
	}
	if len(secret) != 20 || slices.Equal(secret, newTOTPSecret()) {
		t.Error("secrets are not 20 random bytes")
	}
}

// AT-60, AC-107
func TestTheSecretOfARowOpensInThatRowOnly(t *testing.T) {
	box, err := newTOTPBox([]string{strings.Repeat("new ", 10), strings.Repeat("old ", 10)}, "purpose")
	if err != nil {
		t.Fatal(err)
	}
	row := &accountstore.Factor{UserID: "ada", ID: "1"}
	if row.Secret, err = box.seal("ada", "1", []byte("secret")); err != nil {
		t.Fatal(err)
	}
	if secret, old, err := box.open(row); string(secret) != "secret" || old || err != nil {
		t.Fatalf("the secret opens as %q, %v, %v", secret, old, err)
	}
	for _, other := range []accountstore.Factor{{UserID: "bob", ID: "1"}, {UserID: "ada", ID: "2"}} {
		other.Secret = row.Secret
		if _, _, err := box.open(&other); err == nil {
			t.Errorf("it opens in the row %s of %s", other.ID, other.UserID)
		}
	}
	if another, _ := newTOTPBox([]string{strings.Repeat("new ", 10)}, "another purpose"); another != nil {
		if _, _, err := another.open(row); err == nil {
			t.Error("it opens for another purpose")
		}
	}
}

// AC-112
func TestRecoveryCodesAreReadAsPeopleTypeThem(t *testing.T) {
	codes := newRecoveryCodes()
	if len(slices.Compact(slices.Sorted(slices.Values(codes)))) != 10 {
		t.Fatalf("the codes are %q", codes)
	}
	for typed, want := range map[string]string{
		"0123-4567-89ab-cdef":      "0123456789ABCDEF",
		" 0123 4567 89ab cdef ":    "0123456789ABCDEF",
		"OlI3-4567-89AB-CDEF":      "0113456789ABCDEF",
		"0123-4567-89AB-CDE":       "",
		"0123-4567-89AB-CDEF-0":    "",
		"0123-4567-89AB-CDEU":      "", // no letter of Crockford
		"0123-4567-89AB-CDE\u00e9": "",
		"123456":                   "",
	} {
		if got, is := recoveryCode(typed); is != (want != "") || is && got != want {
			t.Errorf("%q is read as %q, %v", typed, got, is)
		}
	}
	for _, code := range codes {
		if plain, is := recoveryCode(code); !is || plain != strings.ReplaceAll(code, "-", "") || len(code) != 19 {
			t.Errorf("the code %q is read as %q, %v", code, plain, is)
		}
	}
}

// AC-113
func TestTheNewestSetOfRecoveryCodesCounts(t *testing.T) {
	at := time.Unix(1700000000, 0)
	rows := []*accountstore.Factor{
		{ID: "a-0", Created: at}, {ID: "c-0", Created: at.Add(1)}, {ID: "b-0", Created: at.Add(1)}, {ID: "c-1", Created: at.Add(1)}, {ID: "a-1", Created: at},
	}
	var ids []string
	for _, row := range newestSet(rows) {
		ids = append(ids, row.ID)
	}
	if !slices.Equal(ids, []string{"c-0", "c-1"}) {
		t.Errorf("the codes that count are %q", ids)
	}
	if newestSet(nil) != nil {
		t.Error("a user without codes has some")
	}
}
