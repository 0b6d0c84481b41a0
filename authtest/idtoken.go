package authtest

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"
)

// An idToken is one about to be signed.
type idToken struct {
	header, claims map[string]any
	sign           func(input []byte) []byte

	// The values that the faults use.
	key       signingKey
	foreign   func() signingKey
	client    Client
	refreshed bool
}

// idToken returns a signed ID token.
//
// https://openid.net/specs/openid-connect-core-1_0.html#IDToken
func (p *IdentityProvider) idToken(x *exchange, client Client, i issued, accessToken string) (string, error) {
	if x.faults.has(KeysRotateBeforeSigning) {
		p.keys.rotate()
	}
	key := p.keys.signing()
	now := time.Now()

	claims := x.tell(i.grant.person, i.scopes)
	claims["iss"] = x.issuer
	claims["aud"] = client.ID
	claims["iat"] = now.Unix()
	claims["exp"] = now.Add(p.opts.TokenLifetime).Unix()
	claims["auth_time"] = i.grant.authTime.Unix()
	claims["at_hash"] = accessTokenHash(key.alg, accessToken)
	claims["jti"] = rand.Text()
	if i.grant.nonce != "" && !i.refreshed {
		// A refreshed ID token should not have one:
		// https://openid.net/specs/openid-connect-core-1_0.html#RefreshTokenResponse
		claims["nonce"] = i.grant.nonce
	}
	if i.grant.acr != "" {
		claims["acr"] = i.grant.acr
	}

	t := &idToken{
		header:    map[string]any{"alg": key.alg, "typ": "JWT", "kid": key.id},
		claims:    claims,
		sign:      key.sign,
		key:       key,
		foreign:   p.keys.foreign,
		client:    client,
		refreshed: i.refreshed,
	}
	spoil(x.faults, idTokenChanges, t)
	if x.tamper.IDToken != nil {
		x.tamper.IDToken(t.header, t.claims)
	}
	return t.compact()
}

// compact signs t as a compact JWS.
//
// https://www.rfc-editor.org/rfc/rfc7515#section-7.1
func (t *idToken) compact() (string, error) {
	header, err := json.Marshal(t.header)
	if err != nil {
		return "", fmt.Errorf("authtest: the header of the ID token cannot be encoded: %w", err)
	}
	claims, err := json.Marshal(t.claims)
	if err != nil {
		return "", fmt.Errorf("authtest: the claims of the ID token cannot be encoded: %w", err)
	}
	b64 := base64.RawURLEncoding.EncodeToString
	input := b64(header) + "." + b64(claims)
	return input + "." + b64(t.sign([]byte(input))), nil
}

// accessTokenHash is the left half of the hash that belongs to alg.
//
// https://openid.net/specs/openid-connect-core-1_0.html#CodeIDToken
func accessTokenHash(alg, accessToken string) string {
	if alg == EdDSA { // Ed25519 is defined over SHA-512
		sum := sha512.Sum512([]byte(accessToken))
		return base64.RawURLEncoding.EncodeToString(sum[:32])
	}
	sum := sha256.Sum256([]byte(accessToken))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}
