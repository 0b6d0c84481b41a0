package provider

import (
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Options are the options of most providers. The zero value takes all values from
// the environment and the defaults of the service.
type Options struct {
	// ID replaces the provider's id, with which its URLs, its variables and
	// stored accounts are named. Two applications at one service need two ids.
	ID string

	// ClientID and ClientSecret are the credentials of the application at the
	// service. Empty ones are read from AUTH_{ID}_ID and AUTH_{ID}_SECRET.
	ClientID     string
	ClientSecret string

	// Issuer is the address of the tenant or server, for services that have
	// many. An empty one is read from AUTH_{ID}_ISSUER.
	Issuer string

	// TrustEmailVerified trusts the claim email_verified of a server that its
	// operator or its tenant configures: one of [OpenIDConnect], [Auth0],
	// [Authentik], [Cognito], [Keycloak], [Okta] or [ZITADEL], or GitHub
	// Enterprise Server.
	// An address with email_verified then counts as verified, so an
	// administrator of that server can sign in here as the owner of any address.
	// Set it for your own server that verifies each address, and never if
	// customers choose the issuer. Other providers ignore it.
	//
	// https://openid.net/specs/openid-connect-core-1_0.html#StandardClaims
	TrustEmailVerified bool

	// Scopes replaces the scopes that the application requests. Nil means those
	// for id, name, e-mail address and picture, as far as the service has them.
	Scopes []string
}

// apply puts the options into the facts of a provider.
func (o Options) apply(p *pintle.OAuth) *pintle.OAuth { return o.applySeparated(p, " ") }

// applySeparated is apply for services that do not separate scopes by spaces,
// as RFC 6749 section 3.3 has it.
func (o Options) applySeparated(p *pintle.OAuth, separator string) *pintle.OAuth {
	if o.ID != "" {
		p.ID = o.ID
	}
	if p.Profile == nil {
		p.Profile = standardClaims.user
	}
	p.ClientID, p.ClientSecret = o.ClientID, o.ClientSecret
	if o.Issuer != "" {
		p.Issuer = o.Issuer
	}
	// Applications add parameters to these maps.
	for _, e := range []*oauth.Endpoint{&p.Authorization, &p.Token, &p.UserInfo, &p.RequestToken} {
		if e.Params == nil {
			e.Params = map[string]string{}
		}
	}
	if o.Scopes != nil {
		p.Authorization.Params["scope"] = strings.Join(o.Scopes, separator)
	}
	return p
}
