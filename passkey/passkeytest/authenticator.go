// Package passkeytest has a software authenticator, for tests of applications
// that sign users in with passkeys. It does what a browser and a security key do
// together, and has a field for each way in which they can misbehave.
//
//	key := passkeytest.New()
//	resp, err := key.SignIn(ctx, client, "http://localhost:3000/auth/callback/passkey", url.Values{"email": {"ada@example.com"}})
//
// It does not protect its keys: they are in memory.
package passkeytest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
)

// The flags of authenticator data.
//
// https://www.w3.org/TR/webauthn-3/#authdata-flags
const (
	UserPresent    = 1 << 0
	UserVerified   = 1 << 2
	BackupEligible = 1 << 3
	BackupState    = 1 << 4

	attested = 1 << 6
)

// The algorithms of [Authenticator.Algorithm].
//
// https://www.iana.org/assignments/cose/cose.xhtml#algorithms
const (
	ES256 = -7
	EdDSA = -8
	RS256 = -257
)

// idLength is the bytes of the ids of new credentials.
const idLength = 32

// An Authenticator holds passkeys and signs with them. Its fields may be changed
// between two ceremonies. It must not be used concurrently.
type Authenticator struct {
	// Credentials are the passkeys it holds, the newest first.
	Credentials []*Credential

	// Algorithm is that of new credentials. Zero means ES256.
	Algorithm int

	// Flags are its flags about the user and its credentials.
	Flags byte

	// Step is how much the signature counter grows with each use. Zero means no
	// counter, as with passkeys that are synchronised.
	Step uint32

	// ClientData may change the client data before it is signed.
	ClientData func(map[string]any)

	// AuthenticatorData may change the authenticator data before it is signed.
	AuthenticatorData func([]byte) []byte

	// Attestation may change the attestation object of a new credential.
	Attestation func(map[string]any)

	// Answer may change the response before it is sent to the site.
	Answer func(map[string]any)
}

// A Credential is a passkey.
type Credential struct {
	ID         []byte
	RPID       string
	UserHandle string
	Counter    uint32
	Key        crypto.Signer
}

// New returns an authenticator without credentials that verifies its user and
// has a signature counter, as a security key does.
func New() *Authenticator {
	return &Authenticator{Flags: UserPresent | UserVerified, Step: 1}
}

type options struct {
	Challenge string `json:"challenge"`
	RPID      string `json:"rpId"`
	RP        struct {
		ID string `json:"id"`
	} `json:"rp"`
	User struct {
		ID string `json:"id"`
	} `json:"user"`
	Allow   []descriptor `json:"allowCredentials"`
	Exclude []descriptor `json:"excludeCredentials"`
}

type descriptor struct {
	ID string `json:"id"`
}

// Create makes a credential as navigator.credentials.create does on a page of
// origin. It takes the JSON of the site and returns that of the browser.
func (a *Authenticator) Create(origin string, optionsJSON []byte) (answer []byte, err error) {
	var o options
	if err := json.Unmarshal(optionsJSON, &o); err != nil {
		return nil, fmt.Errorf("passkeytest: read options: %w", err)
	}
	if a.find(o.RP.ID, o.Exclude) != nil {
		return nil, errors.New("passkeytest: the authenticator holds one of the excluded credentials")
	}
	c := &Credential{ID: make([]byte, idLength), RPID: o.RP.ID, UserHandle: o.User.ID}
	_, _ = rand.Read(c.ID) // never fails
	if c.Key, err = newKey(a.Algorithm); err != nil {
		return nil, err
	}
	clientData, err := a.clientData("webauthn.create", origin, o.Challenge)
	if err != nil {
		return nil, err
	}
	public, err := COSEKey(c.Key.Public())
	if err != nil {
		return nil, err
	}
	data := a.authenticatorData(c, a.Flags|attested)
	data = append(data, make([]byte, 16)...) // no model
	data = binary.BigEndian.AppendUint16(data, idLength)
	data = append(append(data, c.ID...), public...)
	if a.AuthenticatorData != nil {
		data = a.AuthenticatorData(data)
	}
	object := map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": data}
	if a.Attestation != nil {
		a.Attestation(object)
	}
	attestation, err := webauthncbor.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("passkeytest: encode attestation: %w", err)
	}
	a.Credentials = slices.Insert(a.Credentials, 0, c)
	return a.answer(c, map[string]any{
		"clientDataJSON": b64(clientData), "attestationObject": b64(attestation), "transports": []string{"usb"},
	})
}

// Get uses a credential as navigator.credentials.get does on a page of origin:
// the newest for the site, or the newest of the allowed ones.
func (a *Authenticator) Get(origin string, optionsJSON []byte) (answer []byte, err error) {
	var o options
	if err := json.Unmarshal(optionsJSON, &o); err != nil {
		return nil, fmt.Errorf("passkeytest: read options: %w", err)
	}
	allowed := o.Allow
	if len(allowed) == 0 {
		for _, c := range a.Credentials {
			allowed = append(allowed, descriptor{b64(c.ID)})
		}
	}
	c := a.find(o.RPID, allowed)
	if c == nil {
		return nil, fmt.Errorf("passkeytest: the authenticator holds no credential for %q that is allowed", o.RPID)
	}
	clientData, err := a.clientData("webauthn.get", origin, o.Challenge)
	if err != nil {
		return nil, err
	}
	c.Counter += a.Step
	data := a.authenticatorData(c, a.Flags)
	if a.AuthenticatorData != nil {
		data = a.AuthenticatorData(data)
	}
	hash := sha256.Sum256(clientData)
	signature, err := sign(c.Key, append(slices.Clone(data), hash[:]...))
	if err != nil {
		return nil, err
	}
	return a.answer(c, map[string]any{
		"clientDataJSON": b64(clientData), "authenticatorData": b64(data), "signature": b64(signature), "userHandle": c.UserHandle,
	})
}

func (a *Authenticator) find(rpID string, among []descriptor) *Credential {
	for _, c := range a.Credentials {
		if c.RPID == rpID && slices.Contains(among, descriptor{b64(c.ID)}) {
			return c
		}
	}
	return nil
}

func (a *Authenticator) clientData(kind, origin, challenge string) ([]byte, error) {
	data := map[string]any{"type": kind, "challenge": challenge, "origin": origin, "crossOrigin": false}
	if a.ClientData != nil {
		a.ClientData(data)
	}
	return json.Marshal(data)
}

// authenticatorData is the part that all ceremonies have.
//
// https://www.w3.org/TR/webauthn-3/#sctn-authenticator-data
func (a *Authenticator) authenticatorData(c *Credential, flags byte) []byte {
	hash := sha256.Sum256([]byte(c.RPID))
	return binary.BigEndian.AppendUint32(append(hash[:], flags), c.Counter)
}

func (a *Authenticator) answer(c *Credential, response map[string]any) ([]byte, error) {
	answer := map[string]any{
		"id": b64(c.ID), "rawId": b64(c.ID), "type": "public-key", "response": response,
		"clientExtensionResults": map[string]any{}, "authenticatorAttachment": "cross-platform",
	}
	if a.Answer != nil {
		a.Answer(answer)
	}
	return json.Marshal(answer)
}

func newKey(algorithm int) (crypto.Signer, error) {
	switch algorithm {
	case 0, ES256:
		return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case EdDSA:
		_, key, err := ed25519.GenerateKey(rand.Reader)
		return key, err
	case RS256:
		return rsa.GenerateKey(rand.Reader, 2048)
	}
	return nil, fmt.Errorf("passkeytest: unknown algorithm %d", algorithm)
}

// COSEKey encodes a public key as authenticators do.
//
// https://www.rfc-editor.org/rfc/rfc9053#section-7
func COSEKey(public crypto.PublicKey) ([]byte, error) {
	switch key := public.(type) {
	case *ecdsa.PublicKey:
		point, err := key.Bytes()
		if err != nil {
			return nil, fmt.Errorf("passkeytest: encode key: %w", err)
		}
		half := (len(point) - 1) / 2
		return webauthncbor.Marshal(map[int]any{1: 2, 3: ES256, -1: 1, -2: point[1 : 1+half], -3: point[1+half:]})
	case ed25519.PublicKey:
		return webauthncbor.Marshal(map[int]any{1: 1, 3: EdDSA, -1: 6, -2: []byte(key)})
	case *rsa.PublicKey:
		return webauthncbor.Marshal(map[int]any{1: 3, 3: RS256, -1: key.N.Bytes(), -2: big.NewInt(int64(key.E)).Bytes()})
	}
	return nil, fmt.Errorf("passkeytest: no COSE form of %T", public)
}

func sign(key crypto.Signer, message []byte) ([]byte, error) {
	if _, whole := key.(ed25519.PrivateKey); whole {
		return key.Sign(rand.Reader, message, crypto.Hash(0))
	}
	digest := sha256.Sum256(message)
	return key.Sign(rand.Reader, digest[:], crypto.SHA256)
}

func b64(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }
