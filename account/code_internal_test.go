package account

import (
	"strings"
	"testing"

	"github.com/pintleauth/pintle/accountstore"
)

// AC-22, AC-203: the hash of a code is one of its flow, its secret and its tenant, so that a copy
// of the rows does not show which flows have one code, and no table of hashes finds it.
func TestTheHashOfACodeIsOfOneFlow(t *testing.T) {
	const code = "12345678"
	one, other := hashOf("one"), hashOf("other")
	secret := strings.Repeat("secret ", 6)
	b := &boxes{}
	want := b.codeHash(secret, one, code)
	if b.codeHash(secret, one, code) != want || want == (accountstore.Hash{}) {
		t.Fatal("the hash is not that of the code")
	}
	for name, got := range map[string]accountstore.Hash{
		"another flow":   b.codeHash(secret, other, code),
		"another code":   b.codeHash(secret, one, "12345679"),
		"another secret": b.codeHash(secret+"x", one, code),
		"another tenant": (&boxes{tenant: "blue"}).codeHash(secret, one, code),
		"no secret":      b.codeHash("", one, code),
		"no flow":        b.codeHash(secret, accountstore.Hash{}, code),
		"SHA-256 alone":  hashOf(code),
	} {
		if got == want {
			t.Errorf("%s has the same hash", name)
		}
	}
}
