package handshake

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle/oauth"
)

// SDKToken has what the ID token of an SDK must match. The code flow knows one client
// id; these lists are for tokens that an application received from the provider, and
// sends here.
type SDKToken struct {
	// Audiences are the clients of which one must be the only audience.
	Audiences []string

	// Parties are the clients of which one must be the azp. Empty accepts a token
	// without azp, and one whose azp is its audience.
	Parties []string

	// Nonce is the value that was given to the application. Empty accepts a token
	// without a nonce that is at most five minutes old.
	Nonce string

	// NonceHash is what the claim may have in the place of Nonce.
	NonceHash oauth.NonceHash
}

const (
	maxSDKAge     = time.Hour       // of an ID token with a nonce
	maxNoNonceAge = 5 * time.Minute // of one without
	maxSubject    = 255             // bytes: OpenID Connect Core, section 2

	// MaxNoNonceUse is how long a token without a nonce can be accepted after its first
	// use: it may be issued in the future then, by [Provider.ClockSkew] at most.
	MaxNoNonceUse = maxNoNonceAge + 2*maxClockSkew
)

// VerifySDKToken verifies the ID token of an SDK and returns its claims, numbers as
// [json.Number]. A token that is not good is an [*UnsolicitedTokenError].
//
// An SDK sends neither an access token nor a code with the token, so at_hash and c_hash
// say nothing. The caller accepts a nonce, or a token without one, once.
func (p *Provider) VerifySDKToken(ctx context.Context, raw string, want SDKToken) (map[string]any, error) {
	token, err := p.VerifyUnsolicited(ctx, raw)
	if err != nil {
		return nil, err
	}
	if err := p.checkSDKToken(token, want, time.Now()); err != nil {
		return nil, p.refuseUnsolicited(err)
	}
	return token.Claims, nil
}

func (p *Provider) checkSDKToken(token *SignedToken, want SDKToken, now time.Time) error {
	claims := token.Claims
	if err := checkType(token.typ); err != nil {
		return err
	}
	// A logout token without typ has the same issuer, audience and keys.
	if _, has := claims["events"]; has {
		return errors.New("it has events: not an ID token")
	}
	if sub := text(claims, "sub"); sub == "" || len(sub) > maxSubject {
		return errors.New("sub is missing or too long")
	}
	if err := want.checkParties(claims); err != nil {
		return err
	}
	if err := p.checkTimes(claims, now, expected{}); err != nil {
		return err
	}
	if err := want.checkNonce(claims, now, p.Skew()); err != nil {
		return err
	}
	if p.CheckClaims != nil {
		return p.CheckClaims(claims)
	}
	return nil
}

// checkParties refuses several audiences: each of them has the token, and could sign in
// here with it.
func (want SDKToken) checkParties(claims map[string]any) error {
	aud, _ := claims["aud"].(string)
	if list, _ := claims["aud"].([]any); len(list) == 1 {
		aud, _ = list[0].(string)
	}
	if aud == "" || !slices.Contains(want.Audiences, aud) {
		return errors.New("aud is not exactly one of the accepted Audiences")
	}
	azp, present := claims["azp"]
	party, _ := azp.(string)
	switch {
	case len(want.Parties) > 0 && (party == "" || !slices.Contains(want.Parties, party)):
		return errors.New("azp is missing, or not one of the accepted AuthorizedParties")
	case len(want.Parties) == 0 && present && party != aud:
		return errors.New("azp is another client than aud: name it in AuthorizedParties")
	}
	return nil
}

func (want SDKToken) checkNonce(claims map[string]any, now time.Time, skew time.Duration) error {
	iat, err := checkIssued(claims, now, skew)
	if err != nil {
		return err
	}
	nonce, present := claims["nonce"]
	maxAge := maxSDKAge
	if want.Nonce == "" {
		if present {
			// The token was issued for a request with a nonce, which was not ours.
			return errors.New("it has a nonce, which was not sent along")
		}
		maxAge = maxNoNonceAge
	} else if value, _ := nonce.(string); !want.accepts(value) {
		return errors.New("nonce is missing, or not the one that was given to this client")
	}
	if iat.Add(maxAge + skew).Before(now) {
		return fmt.Errorf("issued more than %s ago", maxAge)
	}
	return nil
}

// accepts reports whether the claim is the nonce, or a hash of it where the SDK may
// hash it.
func (want SDKToken) accepts(claim string) bool {
	sum := sha256.Sum256([]byte(want.Nonce))
	switch want.NonceHash {
	case oauth.NonceSHA256Hex:
		return equalSecrets(claim, want.Nonce) || equalSecrets(claim, hex.EncodeToString(sum[:]))
	case oauth.NonceSHA256Base64:
		return equalSecrets(claim, want.Nonce) || equalSecrets(claim, base64.RawURLEncoding.EncodeToString(sum[:]))
	}
	return equalSecrets(claim, want.Nonce)
}

// SDKProfile returns the profile in the claims of a verified token. said are unsigned
// texts that came beside it, under the names of a callback: Apple sends the user's name so.
func (p *Provider) SDKProfile(ctx context.Context, claims map[string]any, said map[string]string) (map[string]any, error) {
	a := &oauth.Answer{Callback: said, Claims: claims, Profile: maps.Clone(claims)}
	if p.AmendProfile != nil {
		if err := p.AmendProfile(ctx, p.client(), a); err != nil {
			return nil, p.errorf("profile: %w", err)
		}
	}
	return a.Profile, nil
}

// ClaimedNonce returns the nonce in a token that is not verified, or "". It tells which
// nonce to look for, and proves nothing.
func ClaimedNonce(raw string) string {
	if len(raw) > maxUnsolicited || !isCompact(raw) {
		return ""
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(raw, ".")[1])
	if err != nil {
		return ""
	}
	claims, err := decodeObject(payload)
	if err != nil {
		return ""
	}
	return text(claims, "nonce")
}

// RedeemSDKCode exchanges the code that an SDK has returned beside an ID token, and
// returns the tokens. The client of p is the application. There was no redirect, so that
// the request has no redirect_uri. The ID token of the response must be one of the same
// user.
//
// https://developer.apple.com/documentation/signinwithapplerestapi/generate-and-validate-tokens
func (p *Provider) RedeemSDKCode(ctx context.Context, code, subject string) (map[string]any, error) {
	m, err := p.resolve(ctx)
	if err != nil {
		return nil, err
	}
	tokens, err := p.exchange(ctx, m, url.Values{"grant_type": {"authorization_code"}, "code": {code}}, nil)
	if err != nil {
		return nil, err
	}
	accessToken, _ := tokens["access_token"].(string)
	claims, err := p.readIDToken(ctx, m, tokens, expected{accessToken: accessToken, subject: subject, refreshed: true})
	if err == nil && claims == nil {
		err = p.errorf("id token is missing from the token response")
	}
	if err != nil {
		return nil, conceal(err, secretsOf(tokens)...)
	}
	return tokens, nil
}
