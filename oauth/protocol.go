package oauth

// A Protocol is the protocol of a provider.
type Protocol int

// The protocols.
const (
	// OAuth2 is the authorization code grant.
	//
	// https://www.rfc-editor.org/rfc/rfc6749#section-4.1
	OAuth2 Protocol = iota

	// OIDC is OAuth 2 with an ID token that is verified.
	//
	// https://openid.net/specs/openid-connect-core-1_0.html#CodeFlowAuth
	OIDC

	// OAuth1 is the protocol of RFC 5849 with HMAC-SHA1 signatures.
	//
	// https://www.rfc-editor.org/rfc/rfc5849
	OAuth1

	// OpenID2 is OpenID Authentication 2.0, checked at the provider.
	//
	// https://openid.net/specs/openid-authentication-2_0.html
	OpenID2
)
