package handshake

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/cryptosigner"

	"github.com/pintleauth/pintle/oauth"
)

// A PublishedKey is the public half of a key of the client.
type PublishedKey struct {
	ID string

	// Thumbprint is that of RFC 7638, which differs between keys.
	Thumbprint string

	// JWK is the key as a JSON object.
	JWK json.RawMessage
}

// PublishedKeys returns the public halves of the client's keys, in their order. Only
// Public is called of their signers.
//
// https://www.rfc-editor.org/rfc/rfc7517#section-4
func (p *Provider) PublishedKeys() ([]PublishedKey, error) {
	var published []PublishedKey
	for i, key := range p.clientKeys() {
		k, err := p.publish(key)
		if err != nil {
			return nil, p.errorf("%s: %w", p.clientKeyName(i), err)
		}
		if slices.ContainsFunc(published, func(other PublishedKey) bool { return other.ID == k.ID }) {
			return nil, p.errorf("%s: another key has the ID %q, too", p.clientKeyName(i), k.ID)
		}
		published = append(published, k)
	}
	return published, nil
}

// clientKeys are the keys of the client. The first signs.
func (p *Provider) clientKeys() []oauth.ClientKey {
	if p.PrivateKey != nil {
		return []oauth.ClientKey{{Signer: p.PrivateKey, ID: p.PrivateKeyID}}
	}
	return p.ClientKeys
}

// clientKeyName is the setting of a key, for errors.
func (p *Provider) clientKeyName(i int) string {
	if p.PrivateKey != nil {
		return "PrivateKey"
	}
	return fmt.Sprintf("ClientKeys[%d]", i)
}

func (p *Provider) publish(key oauth.ClientKey) (PublishedKey, error) {
	if key.Signer == nil {
		return PublishedKey{}, errors.New("there is no Signer")
	}
	public := key.Signer.Public()
	if err := checkStrength(public); err != nil {
		return PublishedKey{}, err
	}
	alg, err := p.algOfKey(key)
	if err != nil {
		return PublishedKey{}, err
	}
	jwk := jose.JSONWebKey{Key: public, KeyID: key.ID, Algorithm: string(alg), Use: "sig"}
	sum, err := jwk.Thumbprint(crypto.SHA256)
	if err != nil {
		return PublishedKey{}, err
	}
	thumbprint := base64.RawURLEncoding.EncodeToString(sum)
	if jwk.KeyID == "" {
		jwk.KeyID = thumbprint
	}
	encoded, err := jwk.MarshalJSON()
	if err != nil {
		return PublishedKey{}, err
	}
	return PublishedKey{jwk.KeyID, thumbprint, encoded}, nil
}

// checkStrength rejects keys that are too short for RFC 7518 section 3, and those of
// other kinds.
func checkStrength(public crypto.PublicKey) error {
	switch key := public.(type) {
	case *rsa.PublicKey:
		if bits := key.N.BitLen(); bits < 2048 {
			return fmt.Errorf("an RSA key of %d bits is too short: 2048 are needed", bits)
		}
	case *ecdsa.PublicKey:
		if !slices.Contains([]elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()}, key.Curve) {
			return errors.New("the curve is none of P-256, P-384 and P-521")
		}
	case ed25519.PublicKey:
	default:
		return fmt.Errorf("no signature algorithm for a key of type %T", public)
	}
	return nil
}

// algOfKey returns the algorithm that a key signs with.
func (p *Provider) algOfKey(key oauth.ClientKey) (jose.SignatureAlgorithm, error) {
	alg := jose.SignatureAlgorithm(key.Algorithm)
	if alg == "" {
		usual, err := signingAlg(key.Signer)
		if p.FAPI && usual == jose.RS256 {
			usual = jose.PS256
		}
		return usual, err
	}
	if !slices.Contains(cryptosigner.Opaque(key.Signer).Algs(), alg) {
		return "", fmt.Errorf("a key of type %T cannot sign with %s", key.Signer.Public(), alg)
	}
	return alg, nil
}
