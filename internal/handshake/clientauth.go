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

func (p *Provider) authMethod() string {
	if p.AuthMethod == "" {
		return authBasic
	}
	return p.AuthMethod
}

func (p *Provider) checkAuthMethod() error {
	switch p.authMethod() {
	case authBasic, authPost, authSecretJWT, authNone:
		return nil
	case authPrivateKeyJWT:
		if p.PrivateKey == nil {
			return p.errorf("ClientAuth private_key_jwt needs a PrivateKey")
		}
		if _, err := signingAlg(p.PrivateKey); err != nil {
			return p.errorf("PrivateKey: %w", err)
		}
		return nil
	default:
		return p.errorf("ClientAuth %q is not supported", p.AuthMethod)
	}
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

	assertion, err := p.assertion(m, method, r.URL, secret)
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

// assertion makes a JWT that is good for one token request: unique, for this
// audience, and for a minute (SH-74).
//
// https://www.rfc-editor.org/rfc/rfc7523#section-3
func (p *Provider) assertion(m *metadata, method, tokenURL, secret string) (string, error) {
	now := time.Now()
	claims := map[string]any{
		"jti": rand.Text(),
		"iss": p.ClientID,
		"sub": p.ClientID,
		"iat": now.Unix(),
		"nbf": now.Unix(),
		"exp": now.Add(assertionLife).Unix(),
	}
	claims["aud"] = p.assertionAudience(m, tokenURL)
	if method == authPrivateKeyJWT {
		return SignJWT(p.PrivateKey, p.PrivateKeyID, claims)
	}
	return serialize(jose.SigningKey{Algorithm: jose.HS256, Key: []byte(secret)}, "", claims)
}

// assertionAudience returns the audience of a client assertion: one string, the
// issuer. A provider can name the token endpoint of another one in its metadata,
// so with the endpoint as audience, alone or beside the issuer, it would receive an
// assertion that is good at the other provider (CVE-2025-27370, CVE-2025-27371).
// Metadata of another issuer is rejected.
//
// https://datatracker.ietf.org/doc/html/draft-ietf-oauth-rfc7523bis
func (p *Provider) assertionAudience(m *metadata, tokenURL string) string {
	switch {
	case p.AssertionAudience != "":
		return p.AssertionAudience
	case p.Issuer != "" && strings.Contains(m.issuer, tenantPlaceholder):
		return p.Issuer
	case m.issuer != "":
		return m.issuer
	default:
		return tokenURL // configured, since there is no metadata without an issuer
	}
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
	return serialize(jose.SigningKey{Algorithm: algorithm, Key: cryptosigner.Opaque(key)}, keyID, claims)
}

// signingAlg returns the usual algorithm of a key.
func signingAlg(key crypto.Signer) (jose.SignatureAlgorithm, error) {
	algs := cryptosigner.Opaque(key).Algs()
	if len(algs) == 0 {
		return "", fmt.Errorf("no signature algorithm for a key of type %T", key.Public())
	}
	return algs[0], nil
}

func serialize(key jose.SigningKey, keyID string, claims map[string]any) (string, error) {
	options := new(jose.SignerOptions)
	if keyID != "" {
		options.WithHeader("kid", keyID)
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
