package handshake

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
)

// newVerifier returns 256 random bits as 43 characters that need no escapes in a
// URL: a code verifier, or a nonce.
//
// https://www.rfc-editor.org/rfc/rfc7636#section-4.1
func newVerifier() string {
	octets := make([]byte, 32)
	_, _ = rand.Read(octets) // never fails
	return base64.RawURLEncoding.EncodeToString(octets)
}

// challengeS256 returns the code challenge of a verifier by the method S256.
//
// https://www.rfc-editor.org/rfc/rfc7636#section-4.2
func challengeS256(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
