package uuid_test

import (
	"encoding/hex"
	"regexp"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/internal/uuid"
)

// https://www.rfc-editor.org/rfc/rfc9562#section-5.4
var version4 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func TestEveryUUIDIsRandomAndOfVersion4(t *testing.T) {
	seen := map[string]bool{}
	// In a thousand, each of the 122 random bits is missing with a probability of
	// 2^-1000.
	var ones, zeros [16]byte
	for range 1000 {
		id := uuid.New()
		if !version4.MatchString(id) {
			t.Fatalf("%q is no UUID of version 4", id)
		}
		if seen[id] {
			t.Fatalf("%q was made twice", id)
		}
		seen[id] = true
		for i, b := range bytesOf(t, id) {
			ones[i] |= b
			zeros[i] |= ^b
		}
	}
	for i := range ones {
		fixed := ^(ones[i] & zeros[i])
		want := map[int]byte{6: 0xf0, 8: 0xc0}[i]
		if fixed != want {
			t.Errorf("the bits %08b of byte %d are always the same, want %08b", fixed, i, want)
		}
	}
}

func TestAppendKeepsWhatIsThere(t *testing.T) {
	text := string(uuid.Append([]byte(`"jti":`)))
	if len(text) != 6+36 || text[:6] != `"jti":` || !version4.MatchString(text[6:]) {
		t.Errorf("Append returns %s", text)
	}
}

func bytesOf(t *testing.T, id string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	if err != nil || len(raw) != 16 {
		t.Fatalf("%q has not the hexadecimal digits of 16 bytes", id)
	}
	return raw
}
