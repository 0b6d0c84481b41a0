package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// OpenIDConnect signs users in with any OpenID Connect provider.
//
// Register the callback URL /auth/callback/openid-connect, or with the ID that
// Options has. Variables: AUTH_OPENID_CONNECT_ID, AUTH_OPENID_CONNECT_SECRET and
// AUTH_OPENID_CONNECT_ISSUER. Set Issuer to that of the provider. The profile has
// the claims of its userinfo endpoint and those that only the ID token has.
//
// https://openid.net/specs/openid-connect-core-1_0.html
func OpenIDConnect(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "openid-connect", Name: "OpenID Connect", Protocol: oauth.OIDC,
		Authorization:       endpoint("", "scope", "openid profile email"),
		Checks:              []oauth.Check{oauth.CheckPKCE, oauth.CheckState, oauth.CheckNonce},
		ProfileFromUserInfo: true,
		Profile:             claims{id: "sub", name: "name||preferred_username", email: "email", image: "picture"}.user,
		EmailVerified:       o.trusted(saysVerified("email_verified")),
		Quirks:              oauth.Quirks{AmendProfile: mergeClaims},
	})
}
