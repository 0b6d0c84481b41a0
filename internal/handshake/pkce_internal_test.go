package handshake

import (
	"encoding/base64"
	"regexp"
	"testing"
)

// https://www.rfc-editor.org/rfc/rfc7636#appendix-B
func TestChallengeOfThePublishedExample(t *testing.T) {
	octets := []byte{
		116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186,
		22, 212, 37, 77, 105, 214, 191, 240, 91, 88, 5, 88, 83, 132, 141, 121,
	}
	verifier := base64.RawURLEncoding.EncodeToString(octets)
	if verifier != "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" {
		t.Fatalf("verifier = %s", verifier)
	}
	if got := challengeS256(verifier); got != "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" {
		t.Errorf("challenge = %s", got)
	}
}

func TestVerifiersAreUnguessableAndUnreserved(t *testing.T) {
	form := regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`) // section 4.1 allows 43 to 128
	seen := make(map[string]bool)
	for range 1000 {
		v := newVerifier()
		if !form.MatchString(v) || seen[v] {
			t.Fatalf("verifier %q, seen before: %t", v, seen[v])
		}
		seen[v] = true
	}
}
