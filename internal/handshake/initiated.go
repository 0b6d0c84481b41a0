package handshake

import (
	"context"
	"strings"
)

// IsIssuer reports whether an issuer, which a request names, is that of p: the one
// that is configured, character by character, or one of a tenant of it. It is for a
// login that the provider initiates.
//
// https://openid.net/specs/openid-connect-core-1_0.html#ThirdPartyInitiatedLogin
func (p *Provider) IsIssuer(ctx context.Context, issuer string) (bool, error) {
	if !p.TenantIssuer {
		return issuer != "" && issuer == p.Issuer, nil
	}
	m, err := p.resolve(ctx)
	if err != nil {
		return false, err
	}
	before, after, found := strings.Cut(m.issuer, tenantPlaceholder)
	if !found {
		return issuer != "" && issuer == m.issuer, nil
	}
	tenant, below := strings.CutPrefix(issuer, before)
	tenant, whole := strings.CutSuffix(tenant, after)
	return below && whole && isTenantID(tenant), nil
}

// isTenantID reports whether a text has the form of a tenant's id: a UUID in lower case.
func isTenantID(text string) bool {
	return len(text) == 36 && strings.Trim(text, "0123456789abcdef-") == ""
}
