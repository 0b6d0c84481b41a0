package handshake

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/pintleauth/pintle/internal/endpoint"
)

var asymmetricAlgs = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

func isAsymmetric(alg string) bool {
	return slices.Contains(asymmetricAlgs, jose.SignatureAlgorithm(alg))
}

func isSymmetric(alg string) bool {
	return alg == "HS256" || alg == "HS384" || alg == "HS512"
}

// allowedAlgs returns the algorithms an ID token may be signed with. A document
// may list "none" or HS256: an attacker who can change it could then make tokens,
// so neither is taken from it (SH-28, RP-7).
func (p *Provider) allowedAlgs(m *metadata) ([]jose.SignatureAlgorithm, error) {
	if p.SigningAlg != "" {
		if !isAsymmetric(p.SigningAlg) && !isSymmetric(p.SigningAlg) {
			return nil, fmt.Errorf("SigningAlg %q is not supported", p.SigningAlg)
		}
		return []jose.SignatureAlgorithm{jose.SignatureAlgorithm(p.SigningAlg)}, nil
	}
	if len(m.algs) == 0 && !p.FAPI {
		return []jose.SignatureAlgorithm{jose.RS256}, nil
	}
	var algs []jose.SignatureAlgorithm
	for _, alg := range m.algs {
		if isAsymmetric(alg) && (!p.FAPI || slices.Contains(fapiAlgs, jose.SignatureAlgorithm(alg))) {
			algs = append(algs, jose.SignatureAlgorithm(alg))
		}
	}
	switch {
	case len(algs) == 0 && p.FAPI:
		return nil, errors.New("the provider lists none of the algorithms of FAPI 2.0, which are PS256, ES256 and EdDSA")
	case len(algs) == 0:
		return nil, errors.New("the provider lists no algorithm with public keys: if it signs with the client secret, set SigningAlg")
	}
	return algs, nil
}

// isCompact reports whether raw can be a JWS in compact form, the only form of a
// token. It runs before anything is allocated for it (SH-49, SH-50, SH-54).
func isCompact(raw string) bool {
	return len(raw) <= maxIDToken && strings.Count(raw, ".") == 2 &&
		strings.Trim(raw, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}

// isEncrypted reports whether raw has the five parts of a JWE in compact form.
//
// https://www.rfc-editor.org/rfc/rfc7516#section-3.1
func isEncrypted(raw string) bool { return strings.Count(raw, ".") == 4 }

// notCompact is the error for a token that is not a JWS in compact form. setting
// is the client metadata that makes the provider encrypt it.
func notCompact(raw, setting string) error {
	if isEncrypted(raw) {
		return fmt.Errorf("the token is encrypted, which is not supported: have the provider send it signed only, by removing %s from the registration of the client", setting)
	}
	return errors.New("not a signed token in compact form")
}

// checkAlg returns an error for a token that is signed with the client secret
// although the host application has not configured that: a document cannot allow
// it (SH-28, RP-7).
func checkAlg(raw string, allowed []jose.SignatureAlgorithm) error {
	alg := algOf(raw)
	if isSymmetric(alg) && !slices.Contains(allowed, jose.SignatureAlgorithm(alg)) {
		return fmt.Errorf("signed with %s, whose key is the client secret: if the provider is meant to do that, set SigningAlg to %q", alg, alg)
	}
	return nil
}

// verified is the payload of a token with a valid signature, the algorithm of the
// signature, the typ of its header or nil, and the issuer for which the key may
// sign: the issuer member of the key, an addition of Microsoft's, mostly empty.
type verified struct {
	payload        []byte
	alg, keyIssuer string
	typ            any
}

// newVerified returns the result of a verification with a key.
func newVerified(jws *jose.JSONWebSignature, payload []byte, keyIssuer string) *verified {
	header := jws.Signatures[0].Protected
	return &verified{payload, header.Algorithm, keyIssuer, header.ExtraHeaders[jose.HeaderType]}
}

// verifySignature verifies that the provider signed raw with one of algs.
func (p *Provider) verifySignature(ctx context.Context, m *metadata, raw string, algs []jose.SignatureAlgorithm) (*verified, error) {
	jws, err := parseToken(raw, algs)
	if err != nil {
		return nil, err
	}
	if isSymmetric(jws.Signatures[0].Header.Algorithm) {
		return p.verifyWithSecret(jws)
	}

	from := p.keySource(m)
	known, err := p.keys.get(ctx, from)
	if err != nil {
		return nil, err
	}
	if v, ok := known.verify(jws, maxTries); ok {
		return v, nil
	}
	// The key may be newer than our copy of the set.
	// https://openid.net/specs/openid-connect-core-1_0.html#RotateSigKeys
	known, err = p.keys.renew(ctx, &p.renewal, limit{pause: keysPause}, from)
	if err != nil && !errors.Is(err, errTooSoon) {
		return nil, err
	}
	if v, ok := known.verify(jws, maxTries); ok {
		return v, nil
	}
	return nil, errNoKey
}

var errNoKey = errors.New("no key of the provider fits the signature")

// parseToken parses a JWT whose signature is not verified yet. go-jose rejects
// header members that occur twice, and algorithms other than algs.
func parseToken(raw string, algs []jose.SignatureAlgorithm) (*jose.JSONWebSignature, error) {
	if !isCompact(raw) {
		return nil, errors.New("not a signed token in compact form")
	}
	jws, err := jose.ParseSignedCompact(raw, algs)
	if err != nil {
		return nil, fmt.Errorf("not a token we accept: %s", clip(err.Error())) // it repeats the header
	}
	// No extension of the header is supported here. go-jose supports b64, with
	// which the signature covers other bytes than those of the token, and which
	// RFC 7797 section 7 forbids in a JWT.
	// https://www.rfc-editor.org/rfc/rfc7515#section-4.1.11
	for _, name := range []jose.HeaderKey{"crit", "b64"} {
		if _, ok := jws.Signatures[0].Header.ExtraHeaders[name]; ok {
			return nil, fmt.Errorf("the header has %s, which is not supported", name)
		}
	}
	return jws, nil
}

// keySet has the keys of a JWKS that may verify a signature.
type keySet []publicKey

type publicKey struct {
	public          any
	id, alg, issuer string
}

// verify returns the payload of jws if one of the keys made its signature. It tries
// at most so many keys: a verification is work, and a token without a key id fits
// all of them. A nil set has no keys.
func (s *keySet) verify(jws *jose.JSONWebSignature, tries int) (*verified, bool) {
	if s == nil {
		return nil, false
	}
	header := jws.Signatures[0].Header
	for _, named := range []bool{true, false} {
		for _, key := range *s {
			// A key with an id is skipped for tokens that name another key. A key
			// without an id is tried for every token, after the named ones.
			if byName := header.KeyID != "" && key.id == header.KeyID; byName != named ||
				!byName && header.KeyID != "" && key.id != "" || !key.signs(header.Algorithm) {
				continue
			}
			if tries--; tries < 0 {
				return nil, false
			}
			if payload, err := jws.Verify(key.public); err == nil {
				return newVerified(jws, payload, key.issuer), true
			}
		}
	}
	return nil, false
}

// has reports whether the set has a key with this id.
func (s *keySet) has(id string) bool {
	return s != nil && slices.ContainsFunc(*s, func(k publicKey) bool { return k.id == id })
}

// signs reports whether the key is for an algorithm.
func (k publicKey) signs(alg string) bool {
	if k.alg != "" && k.alg != alg {
		return false
	}
	switch k.public.(type) {
	case *rsa.PublicKey:
		return strings.HasPrefix(alg, "RS") || strings.HasPrefix(alg, "PS")
	case *ecdsa.PublicKey:
		return strings.HasPrefix(alg, "ES")
	default:
		return alg == string(jose.EdDSA)
	}
}

func (p *Provider) keySource(m *metadata) source[*keySet] {
	return source[*keySet]{
		fetch: func(ctx context.Context) (fetched[*keySet], error) { return p.fetchKeys(ctx, m) },
		stale: cmp.Or(p.KeysMaxAge, keysStale),
		warn:  p.warn("keys"),
	}
}

func (p *Provider) fetchKeys(ctx context.Context, m *metadata) (fetched[*keySet], error) {
	var none fetched[*keySet]
	u, err := p.endpoint(m, Endpoint{URL: p.JWKS}, m.jwks, "JWKS", "jwks_uri")
	if err != nil {
		return none, err
	}
	req, err := http.NewRequestWithContext(endpoint.With(ctx, endpoint.Keys), http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return none, err
	}
	req.Header.Set("Accept", "application/json")
	r, err := do(p.client(), req)
	if err != nil {
		return none, fmt.Errorf("keys: %w", err)
	}
	if r.status != http.StatusOK {
		return none, fmt.Errorf("keys: %w", withoutQuery(req, fmt.Errorf("status %d", r.status)))
	}
	known, err := readKeys(r.body)
	if err != nil {
		return none, fmt.Errorf("keys: %w", withoutQuery(req, err))
	}
	return fetched[*keySet]{&known, freshness(r.header)}, nil
}

// freshness returns how long keys need not be fetched again: what the provider
// says, within bounds that protect it from many requests, and us from a key that
// it has withdrawn. Lifetimes that cannot be read count as over, as RFC 9111
// section 4.2.1 encourages.
func freshness(h http.Header) time.Duration {
	age := keysAge
	for _, line := range h.Values("Cache-Control") {
		for directive := range strings.SplitSeq(line, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
			switch strings.ToLower(name) {
			case "no-cache", "no-store":
				age = 0
			case "max-age":
				seconds, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31)
				if err != nil && !errors.Is(err, strconv.ErrRange) {
					seconds = 0
				}
				age = min(age, time.Duration(min(seconds, uint64(keysAge/time.Second)))*time.Second)
			}
		}
	}
	return max(age, minKeysAge)
}

// readKeys ignores unknown keys, as RFC 7517 section 5 recommends, and keys that
// must not verify signatures: secrets, private keys, encryption keys and RSA keys
// too short for RFC 7518 section 3.3. go-jose reads no modulus of more than 4096
// bits, whose verification would take long.
func readKeys(body []byte) (keySet, error) {
	var document struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(body, &document); err != nil {
		return nil, fmt.Errorf("body is not a JWKS: %w", err)
	}
	var known keySet
	for _, raw := range document.Keys[:min(len(document.Keys), maxKeys)] {
		var key jose.JSONWebKey
		var extra struct {
			Issuer string `json:"issuer"`
		}
		if json.Unmarshal(raw, &key) != nil || json.Unmarshal(raw, &extra) != nil {
			continue
		}
		if key.Use != "" && key.Use != "sig" || max(len(key.KeyID), len(key.Algorithm), len(extra.Issuer)) > maxMetadataText {
			continue
		}
		switch public := key.Key.(type) {
		case *rsa.PublicKey:
			if public.N.BitLen() < 2048 {
				continue
			}
		case *ecdsa.PublicKey, ed25519.PublicKey:
		default:
			continue
		}
		known = append(known, publicKey{key.Key, key.KeyID, key.Algorithm, extra.Issuer})
	}
	if len(known) == 0 {
		// Such a set would replace a good one: a mistake at the provider, for as
		// long as the copy lasts, and no way of withdrawing keys.
		return nil, errors.New("the set has no key that can verify a signature")
	}
	return known, nil
}

// algOf returns the algorithm that the header of a token names, verified or not,
// or "".
func algOf(raw string) string {
	header, _ := headerOf(raw)
	return text(header, "alg")
}

// headerOf returns the header of a token, verified or not.
func headerOf(raw string) (map[string]any, error) {
	head, _, _ := strings.Cut(raw, ".")
	decoded, err := base64.RawURLEncoding.DecodeString(head)
	if err != nil {
		return nil, errors.New("the header is not base64url")
	}
	return decodeObject(decoded)
}
