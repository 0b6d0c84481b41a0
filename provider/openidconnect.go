package provider

import "github.com/pintleauth/pintle"

// OpenIDConnectOptions are the options of [OpenIDConnect].
type OpenIDConnectOptions struct {
	Options

	// TrustEmailVerified takes the claim email_verified of the issuer for the
	// truth: an address with true counts as verified. Whoever can make the
	// issuer say so for an address is then its owner here. Brokers often pass on
	// what another provider or the user said, so the zero value trusts no
	// address; set it for an issuer that checks each address itself.
	//
	// https://openid.net/specs/openid-connect-core-1_0.html#StandardClaims
	TrustEmailVerified bool
}

// OpenIDConnect signs people in with any OpenID Connect provider.
//
// Register the callback URL /auth/callback/openid-connect, or with the ID that
// Options has. Variables: AUTH_OPENID_CONNECT_ID, AUTH_OPENID_CONNECT_SECRET and
// AUTH_OPENID_CONNECT_ISSUER. Set Issuer to that of the provider. The profile has
// the claims of its userinfo endpoint and those that only the ID token has.
//
// https://openid.net/specs/openid-connect-core-1_0.html
func OpenIDConnect(o OpenIDConnectOptions) *pintle.OAuth {
	p := o.apply(&pintle.OAuth{
		ID: "openid-connect", Name: "OpenID Connect", Protocol: pintle.OIDC,
		Authorization:       endpoint("", "scope", "openid profile email"),
		Checks:              []pintle.Check{pintle.PKCE, pintle.State, pintle.Nonce},
		ProfileFromUserInfo: true,
		Profile:             claims{id: "sub", name: "name||preferred_username", email: "email", image: "picture"}.user,
		Quirks:              pintle.Quirks{AmendProfile: mergeClaims},
	})
	if o.TrustEmailVerified {
		p.EmailVerified = saysVerified("email_verified")
	}
	return p
}
