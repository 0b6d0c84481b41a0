package accountsite

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
)

// A search that misses a form would find no secret in any database.
func TestFindFindsASecretInEveryForm(t *testing.T) {
	for _, secret := range []string{"1234 5678", "a password ÿÿÿ>>>???", "\xfb\xff\xbf\x00\x01"} {
		s := Secret{Values: []string{"another", secret}, Guessable: true}
		sum := sha256.Sum256([]byte(secret))
		for _, plain := range []string{secret, string(sum[:])} {
			for before := range 4 {
				within := strings.Repeat("ÿ", before)[:before] + plain + "after"
				for name, text := range map[string]string{
					"as it is":        within,
					"in base64":       base64.StdEncoding.EncodeToString([]byte(within)),
					"in base64url":    `{"a":"` + base64.RawURLEncoding.EncodeToString([]byte(within)) + `"}`,
					"at the end":      base64.RawURLEncoding.EncodeToString([]byte(within[:before+len(plain)])),
					"in hexadecimal":  hex.EncodeToString([]byte(within)),
					"in capital hexa": strings.ToUpper(hex.EncodeToString([]byte(within))),
				} {
					dump := []Cell{{"users.name", []byte("something")}, {"users.extra", []byte("<" + text + ">")}}
					if found := s.Find(dump); len(found) != 1 || found[0] != "users.extra" {
						t.Errorf("%q %s after %d bytes: found in %q", plain, name, before, found)
					}
				}
			}
		}
		encoded := Secret{Values: []string{base64.RawURLEncoding.EncodeToString(sum[:])}}
		if found := encoded.Find([]Cell{{"flows.id", sum[:]}}); len(found) != 1 {
			t.Errorf("the bytes of a token are found in %q", found)
		}
		s.Guessable = false
		if found := s.Find([]Cell{{"flows.id", sum[:]}, {"users.name", []byte("an other")}}); found != nil {
			t.Errorf("%q is found in %q, where it is not", secret, found)
		}
	}
}
