package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Authentik signs users in with their Authentik account.
//
// Register the callback URL /auth/callback/authentik. Variables:
// AUTH_AUTHENTIK_ID, AUTH_AUTHENTIK_SECRET and AUTH_AUTHENTIK_ISSUER. Set
// Issuer to https://HOST/application/o/SLUG/, spelled as in the metadata of the
// provider.
//
// https://docs.goauthentik.io/add-secure-apps/providers/oauth2/
func Authentik(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "authentik", Name: "Authentik", Protocol: oauth.OIDC,
		// The claim is false unless the operator maps it.
		// https://docs.goauthentik.io/add-secure-apps/providers/oauth2/verify-email-address/
		EmailVerified: o.trusted(saysVerified("email_verified")),
	})
}
