package authtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"sync"

	"github.com/go-jose/go-jose/v4"
)

// The algorithms a provider can sign ID tokens with.
const (
	RS256 = "RS256" // RSA, 2048 bits; the default, which every client must support
	ES256 = "ES256" // ECDSA on P-256
	EdDSA = "EdDSA" // Ed25519
)

// A signingKey signs ID tokens. The provider writes its JWS by hand, because
// go-jose rightly refuses to produce most of the faults; go-jose still writes the
// keys and verifies the signatures of clients.
type signingKey struct {
	id      string // the RFC 7638 thumbprint
	alg     string
	private crypto.Signer
}

func newSigningKey(alg string) signingKey {
	var private crypto.Signer
	var err error
	switch alg {
	case RS256:
		private, err = rsa.GenerateKey(rand.Reader, 2048)
	case ES256:
		private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case EdDSA:
		_, private, err = ed25519.GenerateKey(rand.Reader)
	default:
		panic(fmt.Sprintf("authtest: cannot sign with %q; use RS256, ES256 or EdDSA", alg))
	}
	if err != nil {
		panic("authtest: generate a signing key: " + err.Error())
	}
	k := signingKey{alg: alg, private: private}
	public := k.public()
	thumbprint, err := public.Thumbprint(crypto.SHA256)
	if err != nil {
		panic("authtest: thumbprint of a new key: " + err.Error()) // unreachable: the kinds above all have one
	}
	k.id = base64.RawURLEncoding.EncodeToString(thumbprint)
	return k
}

// public returns the key as the JWKS shows it.
func (k signingKey) public() jose.JSONWebKey {
	return jose.JSONWebKey{Key: k.private.Public(), KeyID: k.id, Algorithm: k.alg, Use: "sig"}
}

// sign returns the JWS signature of input.
//
// https://www.rfc-editor.org/rfc/rfc7518#section-3
func (k signingKey) sign(input []byte) []byte {
	var signature []byte
	var err error
	digest := sha256.Sum256(input)
	switch private := k.private.(type) {
	case *rsa.PrivateKey:
		signature, err = rsa.SignPKCS1v15(rand.Reader, private, crypto.SHA256, digest[:])
	case *ecdsa.PrivateKey:
		r, s, e := ecdsa.Sign(rand.Reader, private, digest[:])
		if err = e; err == nil {
			signature = append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
		}
	case ed25519.PrivateKey:
		signature = ed25519.Sign(private, input)
	}
	if err != nil {
		panic("authtest: sign an ID token: " + err.Error()) // unreachable: key and digest are ours
	}
	return signature
}

// A keyring holds the provider's keys. Making an RSA key takes longer than
// most tests, so each is made when it is first needed.
type keyring struct {
	alg string

	mu         sync.Mutex
	current    *signingKey
	foreignKey *signingKey
	retired    []signingKey
}

// signing returns the key that signs, and that the JWKS shows.
func (r *keyring) signing() signingKey {
	r.mu.Lock()
	defer r.mu.Unlock()
	return made(&r.current, r.alg)
}

// foreign returns a key of the same kind that the JWKS does not show.
func (r *keyring) foreign() signingKey {
	r.mu.Lock()
	defer r.mu.Unlock()
	return made(&r.foreignKey, r.alg)
}

func made(k **signingKey, alg string) signingKey {
	if *k == nil {
		*k = new(newSigningKey(alg))
	}
	return **k
}

func (r *keyring) rotate() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current != nil {
		r.retired = append(r.retired, *r.current)
	}
	r.current = new(newSigningKey(r.alg))
}

// ever returns every key that has signed, for tokens that come back as hints
// long after.
func (r *keyring) ever() []signingKey {
	current := r.signing()
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]signingKey{current}, r.retired...)
}

// RotateKeys replaces the signing key. The JWKS shows only the new one from
// now on, the hardest case for a client that caches it.
func (p *IdentityProvider) RotateKeys() { p.keys.rotate() }
