package handshake

import (
	"context"
	"crypto"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/cryptosigner"
	"github.com/pintleauth/pintle/oauth"
)

const (
	authBasic         = "client_secret_basic"
	authPost          = "client_secret_post"
	authSecretJWT     = "client_secret_jwt"
	authPrivateKeyJWT = "private_key_jwt"
	authNone          = "none"
)

// minHMACKey is the length of a SHA-256.
const minHMACKey = 32

func (p *Provider) authMethod() string {
	switch {
	case p.AuthMethod != "":
		return p.AuthMethod
	case len(p.ClientKeys) > 0, p.hasAssertion(), p.FAPI:
		return authPrivateKeyJWT
	default:
		return authBasic
	}
}

// checkAuthMethod reports why the client cannot authenticate.
func (p *Provider) checkAuthMethod() error {
	switch method := p.authMethod(); method {
	case authPrivateKeyJWT:
		if !p.hasAssertion() && len(p.clientKeys()) == 0 {
			return p.errorf("ClientAuth private_key_jwt needs a PrivateKey, or ClientKeys")
		}
	case authSecretJWT:
		// The key of an HMAC has at least the length of its result: a shorter one can be
		// found by trying, with one assertion.
		// https://www.rfc-editor.org/rfc/rfc7518#section-3.2
		if p.ClientSecretFunc == nil && p.ClientSecret != "" && len(p.ClientSecret) < minHMACKey {
			return p.errorf("ClientAuth client_secret_jwt needs a ClientSecret of at least %d bytes: for a shorter one use client_secret_basic", minHMACKey)
		}
	case authBasic, authPost, authNone:
	default:
		return p.errorf("ClientAuth %q is not supported", method)
	}
	return nil
}

// checkCredentials reports credentials that contradict one another, and keys and files
// that cannot be used.
func (p *Provider) checkCredentials() error {
	var errs []error
	problem := func(format string, args ...any) { errs = append(errs, p.errorf(format, args...)) }
	if p.PrivateKey != nil && len(p.ClientKeys) > 0 {
		problem("PrivateKey and ClientKeys contradict each other: append the key to ClientKeys")
	}
	if _, err := p.PublishedKeys(); err != nil {
		errs = append(errs, err)
	}
	if !p.hasAssertion() {
		return errors.Join(errs...)
	}
	setting := "ClientAssertion"
	if p.AssertionFile != "" {
		setting = "ClientAssertionFile (" + variable(p.ID, p.Env, "ASSERTION_FILE") + ")"
		if _, err := readAssertionFile(p.AssertionFile); err != nil {
			problem("%s: %w", setting, err)
		}
	}
	switch {
	case p.AssertionFile != "" && p.Assertion != nil:
		problem("ClientAssertion and ClientAssertionFile contradict each other: leave one of them out")
	case p.authMethod() != authPrivateKeyJWT:
		problem("%s contradicts ClientAuth %s: leave ClientAuth out", setting, p.authMethod())
	}
	if p.ClientSecret != "" || p.ClientSecretFunc != nil {
		problem("%s takes the place of ClientSecret (%s): leave one of them out", setting, variable(p.ID, p.Env, "SECRET"))
	}
	if len(p.clientKeys()) > 0 {
		problem("%s takes the place of ClientKeys and PrivateKey: leave one of them out", setting)
	}
	return errors.Join(errs...)
}

// CheckClient reports which of the client's credentials are missing that a
// sign-in needs.
func (p *Provider) CheckClient() error {
	method := p.authMethod()
	takesSecret := method != authPrivateKeyJWT && method != authNone && p.ClientSecretFunc == nil || isSymmetric(p.SigningAlg)
	return missingClient(p.ID, p.Env, p.ClientID == "", takesSecret && p.ClientSecret == "")
}

// authenticate adds the client's credentials to a token request. It returns
// the secret it used, which the caller removes from error texts.
//
// https://openid.net/specs/openid-connect-core-1_0.html#ClientAuthentication
func (p *Provider) authenticate(ctx context.Context, m *metadata, r *oauth.TokenRequest) (secret string, err error) {
	if p.ClientID == "" {
		return "", missing(p.ID, p.Env, "ClientID", "ID")
	}
	if err := p.checkAuthMethod(); err != nil {
		return "", err
	}
	method := p.authMethod()
	if method != authPrivateKeyJWT && method != authNone {
		if secret, err = p.secret(ctx); err != nil {
			return "", err
		}
	}
	switch method {
	case authBasic:
		// Encoded before they are joined, or a ":" in the id would move the
		// border: https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1
		credentials := componentEscape(p.ClientID) + ":" + componentEscape(secret)
		r.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(credentials)))
		return secret, nil
	case authPost:
		r.Form.Set("client_id", p.ClientID)
		r.Form.Set("client_secret", secret)
		return secret, nil
	case authNone:
		r.Form.Set("client_id", p.ClientID)
		return "", nil
	}

	audience := p.assertionAudience(m, r.URL)
	var assertion string
	if p.hasAssertion() {
		assertion, err = p.givenAssertion(ctx, audience)
	} else {
		assertion, err = p.signAssertion(method, audience, secret)
	}
	if err != nil {
		return "", p.errorf("client assertion: %w", err)
	}
	r.Form.Set("client_id", p.ClientID)
	r.Form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
	r.Form.Set("client_assertion", assertion)
	return secret, nil
}

func (p *Provider) secret(ctx context.Context) (string, error) {
	secret := p.ClientSecret
	if p.ClientSecretFunc != nil {
		var err error
		if secret, err = p.ClientSecretFunc(ctx); err != nil {
			return "", p.errorf("client secret: %w", err)
		}
	}
	if secret == "" {
		return "", missing(p.ID, p.Env, "ClientSecret", "SECRET")
	}
	return secret, nil
}

// signAssertion makes a JWT that is good for one request: unique, for this
// audience, and for a minute (SH-74).
//
// https://www.rfc-editor.org/rfc/rfc7523#section-3
func (p *Provider) signAssertion(method, audience, secret string) (string, error) {
	now := time.Now()
	claims := map[string]any{
		"jti": rand.Text(),
		"iss": p.ClientID,
		"sub": p.ClientID,
		"iat": now.Unix(),
		"nbf": now.Unix(),
		"exp": now.Add(assertionLife).Unix(),
	}
	claims["aud"] = audience
	if method != authPrivateKeyJWT {
		return serialize(jose.SigningKey{Algorithm: jose.HS256, Key: []byte(secret)}, "", p.assertionType(), claims)
	}
	key := p.clientKeys()[0] // checkAuthMethod has found one
	alg, err := p.algOfKey(key)
	if err != nil {
		return "", err
	}
	id := key.ID
	if id == "" && p.PrivateKey == nil {
		published, err := p.publish(key)
		if err != nil {
			return "", err
		}
		id = published.ID
	}
	return serialize(jose.SigningKey{Algorithm: alg, Key: cryptosigner.Opaque(key.Signer)}, id, p.assertionType(), claims)
}

func (p *Provider) assertionType() string {
	if p.FAPI {
		return fapiAssertionType
	}
	return p.AssertionType
}

// assertionAudience returns the audience of a client assertion: one string, the
// issuer. A provider can name the token endpoint of another one in its metadata,
// so with the endpoint as audience, alone or beside the issuer, it would receive an
// assertion that is good at the other provider (CVE-2025-27370, CVE-2025-27371).
// Metadata of another issuer is rejected.
//
// https://datatracker.ietf.org/doc/html/draft-ietf-oauth-rfc7523bis
func (p *Provider) assertionAudience(m *metadata, requestURL string) string {
	switch {
	case p.AssertionAudience != "":
		return p.AssertionAudience
	case p.Issuer != "" && strings.Contains(m.issuer, tenantPlaceholder):
		return p.Issuer
	case m.issuer != "":
		return m.issuer
	}
	// It is configured, since there is no metadata without an issuer. Other endpoints
	// have the same audience.
	if u, err := p.endpoint(m, p.Token, m.token, "Token.URL", "token endpoint"); err == nil {
		return u.String()
	}
	return requestURL
}

// SignJWT returns claims as a JWT signed by key, an RSA, ECDSA (P-256, P-384,
// P-521) or Ed25519 key. Apple's client secret is such a JWT.
func SignJWT(key crypto.Signer, keyID string, claims map[string]any) (string, error) {
	if key == nil {
		return "", errors.New("sign JWT: no key")
	}
	algorithm, err := signingAlg(key)
	if err != nil {
		return "", err
	}
	return serialize(jose.SigningKey{Algorithm: algorithm, Key: cryptosigner.Opaque(key)}, keyID, "", claims)
}

// signingAlg returns the usual algorithm of a key.
func signingAlg(key crypto.Signer) (jose.SignatureAlgorithm, error) {
	algs := cryptosigner.Opaque(key).Algs()
	if len(algs) == 0 {
		return "", fmt.Errorf("no signature algorithm for a key of type %T", key.Public())
	}
	return algs[0], nil
}

func serialize(key jose.SigningKey, keyID, typ string, claims map[string]any) (string, error) {
	options := new(jose.SignerOptions)
	if keyID != "" {
		options.WithHeader("kid", keyID)
	}
	if typ != "" {
		options.WithType(jose.ContentType(typ))
	}
	signer, err := jose.NewSigner(key, options)
	if err != nil {
		return "", err
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}
