package password_test

import (
	"context"
	"crypto"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/password"
)

// The first four digests are from the tests of Django, the others from Python's
// hashlib.
func TestDigestsAreWrapped(t *testing.T) {
	h := cheap()
	for _, tt := range []struct {
		name      string
		hash      crypto.Hash
		sum, salt string
		last      bool
	}{
		{"MD5", crypto.MD5, "88a434c88cca4e900f7874cd98123f43", "", false},
		{"SHA-1", crypto.SHA1, "6d138ca3ae545631b3abd71a4f076ce759c5700b", "", false},
		{"MD5 with a salt", crypto.MD5, "3f86d0d3d465b7b458c231bf3555c0e3", "seasalt", false},
		{"SHA-1 with a salt", crypto.SHA1, "cff36ea83f5706ce9aa7454e63e431fc726b2dc8", "seasalt", false},
		{"SHA-256 with a salt behind", crypto.SHA256, "31bef6c2888780a6503672c21e2e0fece6ac2fab6187edb255fad15e48f78859", "seasalt", true},
		{"SHA-512", crypto.SHA512, "37a83b35977fa07c67d4acc9047a4d224adb8b0838b2635cb75e8c9c8999a61c4d15e5045e5416a6f7b3dd004fa737be38c32f1c684dfd7a48591556291a00d8", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sum, err := hex.DecodeString(tt.sum)
			if err != nil {
				t.Fatal(err)
			}
			stored, err := h.Wrap(t.Context(), password.Digest{Hash: tt.hash, Sum: sum, Salt: []byte(tt.salt), SaltLast: tt.last})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(stored, tt.sum) {
				t.Errorf("the digest is in %s", stored)
			}
			for entered, want := range map[string]bool{
				"lètmein": true, "lètmeinz": false, "lètmein\x00": false, "": false,
				tt.sum: false, string(sum): false, "seasaltlètmein": false, "lètmeinseasalt": false,
			} {
				if ok, err := h.Verify(t.Context(), stored, entered); ok != want || err != nil {
					t.Errorf("password %q: Verify = %t, %v, want %t", entered, ok, err, want)
				}
			}
			if !h.Outdated(stored) {
				t.Error("the hash is not replaced")
			}
			if again, err := password.Import(stored); again != stored || err != nil {
				t.Errorf("Import = %q, %v, want the text itself", again, err)
			}
		})
	}
}

func TestWrapRejects(t *testing.T) {
	sum := make([]byte, 16)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name   string
		ctx    context.Context
		digest password.Digest
		want   error
	}{
		{"no digest", t.Context(), password.Digest{}, password.ErrHash},
		{"unknown digest", t.Context(), password.Digest{Hash: crypto.MD4, Sum: sum}, password.ErrHash},
		{"a digest of another length", t.Context(), password.Digest{Hash: crypto.SHA1, Sum: sum}, password.ErrHash},
		{"hexadecimal", t.Context(), password.Digest{Hash: crypto.MD5, Sum: []byte("88a434c88cca4e900f7874cd98123f43")}, password.ErrHash},
		{"a long salt", t.Context(), password.Digest{Hash: crypto.MD5, Sum: sum, Salt: make([]byte, 65)}, password.ErrHash},
		{"a request that ended", ended, password.Digest{Hash: crypto.MD5, Sum: sum}, context.Canceled},
	} {
		if stored, err := cheap().Wrap(tt.ctx, tt.digest); stored != "" || !errors.Is(err, tt.want) {
			t.Errorf("%s: Wrap = %q, %v, want %v", tt.name, stored, err, tt.want)
		}
	}
}
