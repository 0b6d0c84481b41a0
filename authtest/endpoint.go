package authtest

import "strings"

// An Endpoint is a path of the provider, below its issuer. Use
// [IdentityProvider.URL] to get the whole address.
type Endpoint string

// The endpoints of OpenID Connect.
const (
	DiscoveryEndpoint     Endpoint = "/.well-known/openid-configuration"
	JWKSEndpoint          Endpoint = "/jwks"
	AuthorizationEndpoint Endpoint = "/authorize"
	TokenEndpoint         Endpoint = "/token"
	UserInfoEndpoint      Endpoint = "/userinfo"
	EndSessionEndpoint    Endpoint = "/logout"
	RevocationEndpoint    Endpoint = "/revoke"
	PushEndpoint          Endpoint = "/par"

	// ConsentEndpoint is where the consent page posts its answer.
	ConsentEndpoint Endpoint = "/consent"
)

// The profile endpoints of a plain OAuth 2.0 service, in the shape GitHub
// made common: a numeric id, a login, and a list of e-mail addresses.
//
// https://docs.github.com/rest/users/users#get-the-authenticated-user
const (
	UserEndpoint       Endpoint = "/user"
	UserEmailsEndpoint Endpoint = "/user/emails"
)

// The endpoints of OAuth 1.0a. The account has the shape that the
// microblogging services answer account/verify_credentials with.
const (
	OAuth1RequestTokenEndpoint  Endpoint = "/oauth1/request_token"
	OAuth1AuthorizationEndpoint Endpoint = "/oauth1/authorize"
	OAuth1ConsentEndpoint       Endpoint = "/oauth1/consent"
	OAuth1AccessTokenEndpoint   Endpoint = "/oauth1/access_token"
	OAuth1AccountEndpoint       Endpoint = "/oauth1/account"
)

// Endpoints that no client should request. A test checks that
// [IdentityProvider.Requests] has no entry for them.
const (
	// ElsewhereEndpoint is where an endpoint that [Redirects] points to.
	ElsewhereEndpoint Endpoint = "/elsewhere"
	// DistributedClaimsEndpoint is where [UserInfoDistributedClaims] points.
	DistributedClaimsEndpoint Endpoint = "/distributed-claims"
)

// URL returns the absolute address of e. It needs the provider to have an
// issuer: call it after [IdentityProvider.Listen] or after setting Issuer.
func (p *IdentityProvider) URL(e Endpoint) string {
	return strings.TrimSuffix(p.Issuer, "/") + string(e)
}
