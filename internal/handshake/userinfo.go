package handshake

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/pintleauth/pintle/internal/dpop"
	"github.com/pintleauth/pintle/internal/endpoint"
)

// profile returns the raw profile: the claims of the ID token, or the response of
// the userinfo endpoint or of the provider's own request.
func (p *Provider) profile(ctx context.Context, m *metadata, r *Result) (map[string]any, error) {
	if p.FetchProfile != nil {
		profile, err := p.FetchProfile(endpoint.With(ctx, endpoint.UserInfo), p.client(), r.Tokens)
		if err != nil {
			return nil, p.errorf("profile: %w", err)
		}
		return profile, nil
	}
	if !p.usesUserInfo() {
		return r.IDTokenClaims, nil
	}
	profile, err := p.userinfo(ctx, m, text(r.Tokens, "access_token"), text(r.Tokens, "token_type") == "dpop")
	if err != nil {
		return nil, p.errorf("userinfo: %w", err)
	}
	// Only an equal subject shows that both are about the same user.
	// https://openid.net/specs/openid-connect-core-1_0.html#UserInfoResponse
	sub, present := profile["sub"]
	if r.IDTokenClaims != nil && (p.OIDC || present) && sub != r.IDTokenClaims["sub"] {
		return nil, p.errorf("userinfo: sub is not that of the id token")
	}
	return profile, nil
}

// userinfo fetches the profile. bound reports that the token is bound to the key.
func (p *Provider) userinfo(ctx context.Context, m *metadata, accessToken string, bound bool) (map[string]any, error) {
	u, err := p.endpoint(m, p.UserInfo, m.userinfo, "UserInfo.URL", "userinfo endpoint")
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(endpoint.With(ctx, endpoint.UserInfo), http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if p.UserInfoSigningAlg != "" {
		req.Header.Set("Accept", "application/jwt")
	}
	r, err := p.getWithToken(req, accessToken, bound)
	if err != nil {
		return nil, err
	}
	if r.status < 200 || r.status > 299 {
		return nil, withoutQuery(req, fmt.Errorf("status %d", r.status))
	}
	media, _, _ := mime.ParseMediaType(r.header.Get("Content-Type"))
	switch {
	case media == "application/jwt":
		return p.signedUserinfo(ctx, m, strings.TrimSpace(string(r.body)))
	case p.UserInfoSigningAlg != "":
		// Accepting JSON here would let an attacker strip the signature.
		return nil, errors.New("response is not the signed JWT that UserInfoSigningAlg requires")
	}
	profile, err := decodeObject(r.body)
	if err != nil {
		return nil, withoutQuery(req, err)
	}
	return profile, nil
}

// getWithToken sends a request with an access token, and once more if the server asks for
// another nonce in the proof.
func (p *Provider) getWithToken(req *http.Request, accessToken string, bound bool) (*reply, error) {
	if !bound {
		req.Header.Set("Authorization", "Bearer "+accessToken)
		return do(p.client(), req)
	}
	req.Header.Set("Authorization", "DPoP "+accessToken)
	for again := false; ; again = true {
		proof, err := p.APIProofs.Proof(req.Method, req.URL, accessToken)
		if err != nil {
			return nil, err
		}
		req.Header.Set("DPoP", proof)
		r, err := do(p.client(), req)
		if err != nil {
			return nil, err
		}
		if learned := p.APIProofs.Learn(req.URL, r.header); again || !learned || !dpop.AsksForNonce(r.status, r.header) {
			return r, nil
		}
	}
}

// signedUserinfo verifies a userinfo response that is a JWT. Its iss and aud are
// optional, and must be right if present.
func (p *Provider) signedUserinfo(ctx context.Context, m *metadata, raw string) (map[string]any, error) {
	algs, err := p.allowedAlgs(m)
	if err != nil {
		return nil, err
	}
	if p.UserInfoSigningAlg != "" {
		algs = []jose.SignatureAlgorithm{jose.SignatureAlgorithm(p.UserInfoSigningAlg)}
	}
	if !isCompact(raw) {
		return nil, notCompact(raw, "userinfo_encrypted_response_alg")
	}
	token, err := p.verifySignature(ctx, m, raw, algs)
	if err != nil {
		return nil, err
	}
	claims, err := decodeObject(token.payload)
	if err != nil {
		return nil, err
	}
	if iss, present := claims["iss"]; present && iss != m.issuer {
		return nil, errors.New("iss is another provider")
	}
	if exp, present, err := seconds(claims, "exp"); err != nil || present && !time.Now().Add(-p.Skew()).Before(exp) {
		return nil, errors.New("exp is not a number, or past")
	}
	switch aud := claims["aud"].(type) {
	case nil:
	case string:
		if aud != p.ClientID {
			return nil, errors.New("aud is another client")
		}
	case []any:
		if !slices.Contains(aud, any(p.ClientID)) {
			return nil, errors.New("aud does not contain this client")
		}
	default:
		return nil, errors.New("aud is neither text nor a list")
	}
	return claims, nil
}
