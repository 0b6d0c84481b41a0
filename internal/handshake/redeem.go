package handshake

import (
	"context"
	"net/url"
	"time"

	"github.com/pintleauth/pintle/internal/query"
	"github.com/pintleauth/pintle/oauth"
)

// RedeemOptions are the values of the callback, and those that were sealed when
// the sign-in began.
type RedeemOptions struct {
	Code        string // from [Provider.Validate]
	RedirectURI string // as given to [Provider.Begin]
	Verifier    string // from [Begun]; required with the PKCE check
	Nonce       string // from [Begun]; required with the Nonce check

	// Proof is what the ID token has to show. If it does not, the error is an
	// [*UnmetError].
	Proof Proof

	// Began is when the sign-in began. If the metadata was replaced since, the code
	// is sent to the token endpoint of that time. Zero means the present one.
	Began time.Time

	// Params are the parameters of the callback, for hooks: Apple sends the
	// user's name there, VK ID the id of a device.
	Params query.Values

	// Exchanged, if it is not nil, is called when the token endpoint has returned
	// tokens, before they are verified and the profile is obtained.
	Exchanged func()
}

// Redeem exchanges the code for tokens, verifies the ID token and fetches the
// profile. A code can be redeemed once, so Redeem must not be repeated.
//
// Errors: [*TokenError] if the token endpoint rejected the request,
// [*ResponseError] if a hook recognised the provider's own error. The result is
// nil beside an error.
func (p *Provider) Redeem(ctx context.Context, o RedeemOptions) (*Result, error) {
	switch {
	case o.Code == "":
		return nil, p.errorf("redeem: code is missing")
	case p.PKCE && o.Verifier == "":
		// Sending a code without its verifier would allow a PKCE downgrade (SH-85,
		// BCP-6).
		return nil, p.errorf("redeem: the code verifier is missing")
	case p.Nonce && o.Nonce == "":
		return nil, p.errorf("redeem: the nonce is missing")
	case o.Proof.required() && !p.OIDC:
		// Its ID token may be missing, or not verified.
		return nil, &UnmetError{"the provider does not speak OpenID Connect"}
	}
	m, err := p.resolve(ctx)
	if err != nil {
		return nil, err
	}
	if before, ok := p.found.at(o.Began); ok {
		// The code is from the server that was known then, which may not be the one
		// whose endpoint is known now.
		began := *m
		began.token = before.token
		m = &began
	}
	request := url.Values{
		"grant_type":   {"authorization_code"},
		"code":         {o.Code},
		"redirect_uri": {o.RedirectURI},
	}
	if p.PKCE {
		request.Set("code_verifier", o.Verifier)
	}
	p.addResources(request)
	tokens, err := p.exchange(ctx, m, request, o.Params.Map())
	if err != nil {
		return nil, err
	}
	if o.Exchanged != nil {
		o.Exchanged()
	}

	r := &Result{Tokens: tokens}
	accessToken, _ := tokens["access_token"].(string)
	if r.IDTokenClaims, err = p.readIDToken(ctx, m, tokens, expected{
		nonce: o.Nonce, noNonce: !p.Nonce, accessToken: accessToken, proof: o.Proof,
	}); err != nil {
		return nil, conceal(err, secretsOf(tokens)...)
	}
	if r.Profile, err = p.profile(ctx, m, r); err != nil {
		return nil, conceal(err, secretsOf(tokens)...)
	}
	if p.AmendProfile != nil {
		a := &oauth.Answer{Callback: o.Params.Map(), Tokens: tokens, Claims: r.IDTokenClaims, Profile: r.Profile}
		if err := p.AmendProfile(ctx, p.client(), a); err != nil {
			return nil, conceal(p.errorf("profile: %w", err), secretsOf(tokens)...)
		}
		r.Profile = a.Profile
	}
	if r.Profile == nil {
		return nil, p.errorf("the provider returned no profile")
	}
	return r, nil
}

// Refresh exchanges a refresh token for new tokens, in the form of
// [Result].Tokens. A response without refresh_token means that the old one stays
// valid. An ID token in it is verified, and its subject must be subject unless
// that is empty: a token of another user would give access to that user's data.
//
// A [*TokenError] with code invalid_grant means the refresh token is spent:
// trying it again may end the whole grant (BCP-14).
//
// https://openid.net/specs/openid-connect-core-1_0.html#RefreshTokenResponse
func (p *Provider) Refresh(ctx context.Context, refreshToken, subject string) (map[string]any, error) {
	if refreshToken == "" {
		return nil, p.errorf("refresh: the refresh token is missing")
	}
	m, err := p.resolve(ctx)
	if err != nil {
		return nil, err
	}
	request := url.Values{
		"grant_type":    {"refresh_token"},
		"refresh_token": {refreshToken},
	}
	p.addResources(request)
	tokens, err := p.exchange(ctx, m, request, nil)
	if err != nil {
		return nil, err
	}
	accessToken, _ := tokens["access_token"].(string)
	if _, err := p.readIDToken(ctx, m, tokens, expected{
		accessToken: accessToken, subject: subject, refreshed: true,
	}); err != nil {
		return nil, conceal(err, secretsOf(tokens)...)
	}
	return tokens, nil
}

// secretsOf returns the credentials of a token response, to be removed from error
// texts.
func secretsOf(tokens map[string]any) []string {
	var secrets []string
	for _, name := range []string{"access_token", "refresh_token", "id_token"} {
		if s, ok := tokens[name].(string); ok {
			secrets = append(secrets, s)
		}
	}
	return secrets
}
