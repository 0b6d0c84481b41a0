package handshake

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"strings"
	"time"
)

// expected has the values that an ID token must match besides the provider's
// configuration.
type expected struct {
	nonce       string
	noNonce     bool   // no nonce was sent, so the token must not have one
	accessToken string // that came with it
	subject     string // of the sign-in being refreshed; empty: any
	refreshed   bool   // the token comes from a refresh, which requires neither a token nor a nonce
	proof       Proof
}

// A Proof is what an ID token has to show of how its user signed in. The zero value
// requires nothing.
type Proof struct {
	// Since is the time since when the user has to have signed in there. The clocks may
	// differ by [Provider.Skew].
	Since time.Time

	// ACR are the classes of which the claim acr has to be one, byte for byte. Empty
	// requires none.
	ACR []string
}

func (f Proof) required() bool { return !f.Since.IsZero() || len(f.ACR) > 0 }

// An UnmetError is an ID token that is good, and does not show what was required of the
// sign-in.
type UnmetError struct{ reason string }

func (e *UnmetError) Error() string { return e.reason }

// check reads auth_time and acr. A provider may send neither, whatever the request asked
// for: the browser may have changed that.
//
// https://openid.net/specs/openid-connect-core-1_0.html#IDToken
func (f Proof) check(claims map[string]any, now time.Time, skew time.Duration) error {
	if !f.Since.IsZero() {
		at, ok, err := seconds(claims, "auth_time")
		switch {
		case err != nil || !ok:
			return &UnmetError{"auth_time is missing or not a number"}
		case at.Before(f.Since.Add(-skew)):
			return &UnmetError{fmt.Sprintf("the user signed in at the provider at %s, before %s",
				at.UTC().Format(time.RFC3339), f.Since.UTC().Format(time.RFC3339))}
		case at.After(now.Add(skew)):
			return &UnmetError{"auth_time is in the future: compare the clocks"}
		}
	}
	if acr, is := claims["acr"].(string); len(f.ACR) > 0 && (!is || acr == "" || !slices.Contains(f.ACR, acr)) {
		return &UnmetError{fmt.Sprintf("acr is %q, which was not asked for", clip(acr))}
	}
	return nil
}

// readIDToken verifies the ID token of a token response and returns its claims.
//
// An ID token of a plain OAuth 2 provider is verified if a discovery document
// names the keys. Otherwise it is ignored: the profile then comes from the
// userinfo endpoint, and the claims are nil because none was verified.
func (p *Provider) readIDToken(ctx context.Context, m *metadata, tokens map[string]any, want expected) (map[string]any, error) {
	raw, _ := tokens["id_token"].(string)
	switch {
	case raw == "" && p.requiresIDToken() && !want.refreshed:
		return nil, p.errorf("id token is missing from the token response")
	case raw == "", !p.requiresIDToken() && (!m.discovered || m.jwks == ""):
		return nil, nil
	}
	claims, err := p.verifyIDToken(ctx, m, raw, want)
	if err != nil {
		return nil, p.errorf("id token: %w", err)
	}
	return claims, nil
}

// verifyIDToken follows
// https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation.
func (p *Provider) verifyIDToken(ctx context.Context, m *metadata, raw string, want expected) (map[string]any, error) {
	if !isCompact(raw) {
		return nil, notCompact(raw, "id_token_encrypted_response_alg")
	}
	algs, err := p.allowedAlgs(m)
	if err != nil {
		return nil, err
	}
	if err := checkAlg(raw, algs); err != nil {
		return nil, err
	}
	token, err := p.verifySignature(ctx, m, raw, algs)
	if err != nil {
		return nil, err
	}
	if err := checkType(token.typ); err != nil {
		return nil, err
	}
	claims, err := decodeObject(token.payload)
	if err != nil {
		return nil, err
	}

	if err := checkIssuer(m, token, claims); err != nil {
		return nil, err
	}
	if text(claims, "sub") == "" {
		return nil, errors.New("sub is missing")
	}
	if want.subject != "" && text(claims, "sub") != want.subject {
		return nil, errors.New("sub is not that of the sign-in being refreshed")
	}
	if err := p.checkParty(claims); err != nil {
		return nil, err
	}
	if err := p.checkTimes(claims, time.Now(), want); err != nil {
		return nil, err
	}
	if err := checkNonce(claims, want); err != nil {
		return nil, err
	}
	if err := checkAccessTokenHash(claims, token.alg, want.accessToken); err != nil {
		return nil, err
	}
	if p.CheckClaims != nil {
		if err := p.CheckClaims(claims); err != nil {
			return nil, err
		}
	}
	if err := want.proof.check(claims, time.Now(), p.Skew()); err != nil {
		return nil, err
	}
	return claims, nil
}

// checkIssuer checks that the provider, or the tenant of it that the token names,
// issued the token, with a key that may sign for it.
func checkIssuer(m *metadata, token *verified, claims map[string]any) error {
	issuer := m.issuerOf(claims["tid"])
	if iss, _ := claims["iss"].(string); issuer == "" || iss != issuer {
		return fmt.Errorf("issued by %q, expected %q", clip(iss), m.issuer)
	}
	// Keys of a multi-tenant provider may be for one tenant only.
	if token.keyIssuer != "" && strings.ReplaceAll(token.keyIssuer, tenantPlaceholder, text(claims, "tid")) != issuer {
		return errors.New("signed by a key of another issuer")
	}
	return nil
}

// checkType refuses a token of another kind: logout tokens, access tokens and
// security events have the same issuer, audience and keys. Type names have no case,
// and "application/" may be left out.
//
// https://www.rfc-editor.org/rfc/rfc8725#section-3.11
// https://www.rfc-editor.org/rfc/rfc7515#section-4.1.9
func checkType(typ any) error {
	if typ == nil {
		return nil
	}
	name, _ := typ.(string)
	if name = strings.ToLower(name); strings.TrimPrefix(name, "application/") != "jwt" {
		return fmt.Errorf("typ is %q: not an ID token", clip(name))
	}
	return nil
}

// checkParty checks that this client is an audience of the token. If the token
// has azp or several audiences, azp must be this client, too.
func (p *Provider) checkParty(claims map[string]any) error {
	if p.ClientID == "" {
		return errors.New("aud cannot be checked without a ClientID")
	}
	several := false
	switch aud := claims["aud"].(type) {
	case string:
		if aud != p.ClientID {
			return errors.New("aud is another client")
		}
	case []any:
		if !slices.Contains(aud, any(p.ClientID)) {
			return errors.New("aud does not contain this client")
		}
		several = len(aud) > 1
	default:
		return errors.New("aud is missing")
	}
	azp, present := claims["azp"]
	if (present || several) && azp != p.ClientID {
		return errors.New("azp is not this client")
	}
	return nil
}

func (p *Provider) checkTimes(claims map[string]any, now time.Time, want expected) error {
	if _, err := checkExpiry(claims, now, p.Skew()); err != nil {
		return err
	}
	if _, err := checkIssued(claims, now, p.Skew()); err != nil {
		return err
	}
	if p.MaxAge > 0 && !want.refreshed {
		at, ok, err := seconds(claims, "auth_time")
		if err != nil || !ok || at.Add(p.MaxAge+p.Skew()).Before(now) {
			return errors.New("auth_time is missing, or longer ago than MaxAge")
		}
	}
	return nil
}

// checkExpiry returns when a token expires, which it must not have done.
func checkExpiry(claims map[string]any, now time.Time, skew time.Duration) (time.Time, error) {
	exp, ok, err := seconds(claims, "exp")
	if err != nil || !ok {
		return exp, errors.New("exp is missing or not a number")
	}
	if !now.Add(-skew).Before(exp) {
		return exp, fmt.Errorf("expired at %s", exp.UTC().Format(time.RFC3339))
	}
	return exp, nil
}

// checkIssued returns when a token was issued. Neither that nor nbf may be in the future.
func checkIssued(claims map[string]any, now time.Time, skew time.Duration) (time.Time, error) {
	iat, ok, err := seconds(claims, "iat")
	if err != nil || !ok {
		return iat, errors.New("iat is missing or not a number")
	}
	if iat.After(now.Add(skew)) {
		return iat, fmt.Errorf("issued in the future, at %s: compare the clocks", iat.UTC().Format(time.RFC3339))
	}
	nbf, ok, err := seconds(claims, "nbf")
	if err != nil || ok && nbf.After(now.Add(skew)) {
		return iat, errors.New("nbf is not a number, or in the future")
	}
	return iat, nil
}

// seconds reads a NumericDate, which may have a fraction.
func seconds(claims map[string]any, name string) (time.Time, bool, error) {
	v, ok := claims[name]
	if !ok {
		return time.Time{}, false, nil
	}
	n, ok := v.(json.Number)
	if !ok {
		return time.Time{}, false, fmt.Errorf("%s is %s", name, kindOf(v))
	}
	f, err := strconv.ParseFloat(n.String(), 64)
	// The year 9999, so that no conversion overflows.
	if err != nil || f < 0 || f > 253402300799 {
		return time.Time{}, false, fmt.Errorf("%s is out of range", name)
	}
	return time.UnixMilli(int64(f * 1000)), true, nil
}

func checkNonce(claims map[string]any, want expected) error {
	nonce, present := claims["nonce"]
	switch {
	case want.refreshed:
		return nil
	case want.noNonce && present:
		// The token belongs to a request that we did not send.
		return errors.New("nonce where none was sent")
	case want.noNonce:
		return nil
	}
	s, _ := nonce.(string)
	if want.nonce == "" || !equalSecrets(s, want.nonce) {
		return errors.New("nonce is missing, or not the one this browser started with")
	}
	return nil
}

// checkAccessTokenHash binds the access token to the ID token if the provider
// sends at_hash.
//
// https://openid.net/specs/openid-connect-core-1_0.html#CodeIDToken
func checkAccessTokenHash(claims map[string]any, alg, accessToken string) error {
	v, present := claims["at_hash"]
	if !present {
		return nil
	}
	var h hash.Hash
	switch {
	case alg == "EdDSA", strings.HasSuffix(alg, "512"):
		h = sha512.New()
	case strings.HasSuffix(alg, "384"):
		h = sha512.New384()
	default:
		h = sha256.New()
	}
	h.Write([]byte(accessToken))
	half := base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:h.Size()/2])
	if s, _ := v.(string); !equalSecrets(s, half) {
		return errors.New("at_hash is not that of the access token")
	}
	return nil
}
