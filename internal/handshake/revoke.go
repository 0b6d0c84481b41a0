package handshake

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pintleauth/pintle/internal/endpoint"
	"github.com/pintleauth/pintle/oauth"
)

// revokeTimeout bounds one revocation, discovery included. The user has removed the
// account, and waits for the answer.
const revokeTimeout = 5 * time.Second

// ErrNoRevocation is a provider that has no revocation endpoint.
var ErrNoRevocation = errors.New("neither its metadata nor the configuration has a revocation endpoint: set Revocation.URL")

// Revoke asks the provider to end a token. hint is "refresh_token" or "access_token". It
// takes five seconds at most, and may be repeated: a token that the provider does not
// know is revoked.
//
// The error matches [ErrNoRevocation] if the provider has no endpoint for it, and is a
// [*TokenError] if the provider refuses.
//
// https://www.rfc-editor.org/rfc/rfc7009#section-2
func (p *Provider) Revoke(ctx context.Context, token, hint string) error {
	if token == "" {
		return p.errorf("revoke: the token is missing")
	}
	ctx, cancel := context.WithTimeout(ctx, revokeTimeout)
	defer cancel()
	m, err := p.resolve(ctx)
	if err == nil && m.revocation == "" && !m.discovered && (p.Issuer != "" || p.WellKnown != "") {
		if m, err = p.document(ctx); err != nil {
			err = p.errorf("discovery: %w", err)
		}
	}
	if err != nil {
		return err
	}
	if m.revocation == "" {
		return p.errorf("%w", ErrNoRevocation)
	}
	u, err := p.endpoint(m, p.Revocation, m.revocation, "Revocation.URL", "revocation endpoint")
	if err != nil {
		return err
	}
	r := &oauth.TokenRequest{URL: u.String(), Header: make(http.Header), Form: url.Values{"token": {token}, "token_type_hint": {hint}}}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded;charset=UTF-8")
	r.Header.Set("Accept", "application/json")
	secret, err := p.authenticate(ctx, m, r)
	if err != nil {
		return err
	}
	if err := p.sendRevocation(ctx, r, token, secret, p.ClientSecret, r.Form.Get("client_assertion")); err != nil {
		return p.errorf("revocation: %w", err)
	}
	return nil
}

// sendRevocation returns errors without the secrets that were sent.
func (p *Provider) sendRevocation(ctx context.Context, r *oauth.TokenRequest, sent ...string) error {
	req, err := http.NewRequestWithContext(endpoint.With(ctx, endpoint.Revocation), http.MethodPost, r.URL, strings.NewReader(encodeSorted(r.Form)))
	if err != nil {
		return errors.New("the URL of the revocation endpoint cannot be used")
	}
	req.Header = r.Header
	answer, err := do(p.client(), req)
	if err != nil {
		return conceal(err, sent...)
	}
	body, _ := decodeObject(answer.body) // most have none
	refusal := &TokenError{
		Endpoint: "revocation", Status: answer.status, Code: text(body, "error"),
		Description: text(body, "error_description"), URI: text(body, "error_uri"),
	}
	switch {
	case refusal.Code == "unsupported_token_type":
		// The provider cannot revoke such tokens, which repetition does not change.
		// https://www.rfc-editor.org/rfc/rfc7009#section-2.2.1
		return nil
	case answer.status != http.StatusOK, refusal.Code != "":
		return fmt.Errorf("%w%s", conceal(refusal, sent...), p.remedy(refusal))
	}
	return nil
}
