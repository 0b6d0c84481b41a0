package authtest

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// assertionType announces a JWT as client authentication.
//
// https://www.rfc-editor.org/rfc/rfc7523#section-2.2
const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

// maxAssertionLife is the most a client assertion may be valid for.
const maxAssertionLife = 10 * time.Minute

// authenticate returns the client that sent the token request x, and the method by
// which it authenticated.
//
// https://www.rfc-editor.org/rfc/rfc6749#section-2.3
func (p *IdentityProvider) authenticate(x *exchange) (c Client, method string, err error) {
	f := x.r.PostForm
	var tried []string
	if x.r.Header.Get("Authorization") != "" {
		tried = append(tried, ClientSecretBasic)
	}
	if f.Has("client_secret") {
		tried = append(tried, ClientSecretPost)
	}
	if f.Has("client_assertion") {
		tried = append(tried, PrivateKeyJWT)
	}
	if len(tried) > 1 {
		return c, "", fmt.Errorf("the client authenticates in more than one way: %s", strings.Join(tried, ", "))
	}
	id := f.Get("client_id")
	var proof func(Client, bool) (string, error)
	switch {
	case len(tried) == 0:
		proof = func(c Client, open bool) (string, error) {
			if !open && (c.Secret != "" || c.Key != nil) {
				return "", errors.New("the client must authenticate")
			}
			return ClientAuthNone, nil
		}
	case tried[0] == ClientSecretBasic:
		user, secret, err := basicCredentials(x.r.Header.Get("Authorization"))
		if err != nil {
			return c, "", err
		}
		if f.Has("client_id") && id != user {
			return c, "", errors.New("client_id differs from the one in the Authorization header")
		}
		id, proof = user, bySecret(ClientSecretBasic, secret)
	case tried[0] == ClientSecretPost:
		proof = bySecret(ClientSecretPost, f.Get("client_secret"))
	default:
		assertion, err := readAssertion(x, p.opts.FAPI2)
		if err != nil {
			return c, "", err
		}
		if f.Has("client_id") && id != assertion.claims.Subject {
			return c, "", errors.New("client_id differs from the subject of the assertion")
		}
		id = assertion.claims.Subject
		proof = func(c Client, _ bool) (string, error) { return p.byAssertion(c, assertion) }
	}

	c, open, ok := p.lookUp(id)
	if !ok {
		return c, "", fmt.Errorf("no client has the id %q", id)
	}
	if method, err = proof(c, open); err != nil {
		return c, "", err
	}
	if c.AuthMethod != "" && c.AuthMethod != method {
		return c, "", fmt.Errorf("the client must authenticate with %s", c.AuthMethod)
	}
	p.recordClient(x, c.ID, method)
	return c, method, nil
}

// basicCredentials decodes an Authorization header. Id and secret are form-encoded
// inside it, which many clients omit.
//
// https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1
func basicCredentials(header string) (id, secret string, err error) {
	scheme, encoded, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Basic") {
		return "", "", errors.New("the Authorization header is not of the Basic scheme")
	}
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", "", errors.New("the Authorization header is not base64")
	}
	id, secret, ok := strings.Cut(string(decoded), ":")
	if !ok {
		return "", "", errors.New("the Authorization header has no colon inside")
	}
	if id, err = url.QueryUnescape(id); err == nil {
		secret, err = url.QueryUnescape(secret)
	}
	if err != nil {
		return "", "", errors.New("client id and secret are not form-encoded in the Authorization header")
	}
	return id, secret, nil
}

func bySecret(method, secret string) func(Client, bool) (string, error) {
	return func(c Client, open bool) (string, error) {
		if open {
			return method, nil
		}
		if c.Secret == "" || subtle.ConstantTimeCompare([]byte(c.Secret), []byte(secret)) != 1 {
			return "", errors.New("the client secret is wrong")
		}
		return method, nil
	}
}

// An assertion is a JWT with which a client authenticates.
type assertion struct {
	jws    *jose.JSONWebSignature
	alg    jose.SignatureAlgorithm
	claims struct {
		Issuer   string       `json:"iss"`
		Subject  string       `json:"sub"`
		Audience audience     `json:"aud"`
		Expires  *json.Number `json:"exp"`
		ID       string       `json:"jti"`
	}
	expires time.Time
}

// An audience is a string or a list of them, RFC 7519 section 4.1.3.
type audience []string

func (a *audience) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(a))
}

// readAssertion checks the client assertion in x, except its signature and whether
// it was used before: only its content shows which client's key to use. strict is as
// [Options].FAPI2 has it.
//
// https://www.rfc-editor.org/rfc/rfc7523#section-3
func readAssertion(x *exchange, strict bool) (*assertion, error) {
	f := x.r.PostForm
	if f.Get("client_assertion_type") != assertionType {
		return nil, errors.New("the client_assertion_type must be " + assertionType)
	}
	jws, err := jose.ParseSignedCompact(f.Get("client_assertion"), []jose.SignatureAlgorithm{
		jose.HS256, jose.HS384, jose.HS512, jose.RS256, jose.PS256, jose.ES256, jose.EdDSA,
	})
	if err != nil {
		return nil, fmt.Errorf("the client assertion is not a JWT of a supported algorithm: %w", err)
	}
	a := &assertion{jws: jws, alg: jose.SignatureAlgorithm(jws.Signatures[0].Header.Algorithm)}
	if err := json.Unmarshal(jws.UnsafePayloadWithoutVerification(), &a.claims); err != nil {
		return nil, fmt.Errorf("the claims of the client assertion are malformed: %w", err)
	}
	c := a.claims
	if c.Subject == "" || c.Issuer != c.Subject {
		return nil, errors.New("iss and sub of the client assertion must be the client id")
	}
	// An assertion for several audiences can be used by one of them at the others.
	if len(c.Audience) > 1 {
		return nil, errors.New("aud of the client assertion must be one value")
	}
	if !slices.Contains(c.Audience, x.issuer) && !slices.Contains(c.Audience, x.url(TokenEndpoint)) {
		return nil, errors.New("aud of the client assertion must be the issuer or the token endpoint")
	}
	if typ := jws.Signatures[0].Header.ExtraHeaders[jose.HeaderType]; strict && typ != "client-authentication+jwt" {
		return nil, fmt.Errorf("the typ of the client assertion is %v, not client-authentication+jwt", typ)
	}
	if strict && (c.Audience[0] != x.issuer || !bytes.Contains(jws.UnsafePayloadWithoutVerification(), []byte(`"aud":"`))) {
		return nil, errors.New("aud of the client assertion must be the issuer, as a string")
	}
	if c.ID == "" || c.Expires == nil {
		return nil, errors.New("the client assertion needs jti and exp")
	}
	seconds, err := c.Expires.Float64() // a NumericDate may have a fraction
	if err != nil {
		return nil, errors.New("exp of the client assertion is not a number")
	}
	a.expires = time.UnixMilli(int64(seconds * 1000))
	if life := time.Until(a.expires); life <= 0 || life > maxAssertionLife {
		return nil, fmt.Errorf("the client assertion must expire within %v from now", maxAssertionLife)
	}
	return a, nil
}

// byAssertion verifies a with the key or the secret of c.
func (p *IdentityProvider) byAssertion(c Client, a *assertion) (method string, err error) {
	var key any = c.Key
	method = PrivateKeyJWT
	if strings.HasPrefix(string(a.alg), "HS") {
		key, method = []byte(c.Secret), ClientSecretJWT
		if c.Secret == "" {
			return "", errors.New("the client has no secret to verify its assertion with")
		}
	} else if !suits(c.Key, a.alg) {
		return "", fmt.Errorf("the client has no key for %s assertions", a.alg)
	}
	if _, err := a.jws.Verify(key); err != nil {
		return "", errors.New("the signature of the client assertion is wrong")
	}
	if !p.first("assertion "+c.ID+" "+a.claims.ID, a.expires) {
		return "", errors.New("the client assertion has been used before")
	}
	return method, nil
}

// suits keeps an algorithm from meeting a key of another kind.
func suits(key crypto.PublicKey, alg jose.SignatureAlgorithm) bool {
	switch key.(type) {
	case *rsa.PublicKey:
		return alg == jose.RS256 || alg == jose.PS256
	case *ecdsa.PublicKey:
		return alg == jose.ES256
	case ed25519.PublicKey:
		return alg == jose.EdDSA
	}
	return false
}
