package oauth

import "crypto"

// A ClientKey is a key with which a client authenticates. Its public half is published.
type ClientKey struct {
	// Signer has an RSA key of 2048 bits or more, an ECDSA key on P-256, P-384 or P-521,
	// or an Ed25519 key. It may be one that a key management service keeps.
	Signer crypto.Signer

	// ID is the key id. Empty means the thumbprint of RFC 7638.
	ID string

	// Algorithm is what the key signs with. Empty means the usual one: RS256, or PS256
	// with [FAPI2], ES256, ES384 or ES512 by the curve, and EdDSA for Ed25519.
	Algorithm Algorithm
}
