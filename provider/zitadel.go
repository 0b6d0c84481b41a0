package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// ZITADEL signs users in with their ZITADEL account.
//
// Register the callback URL /auth/callback/zitadel. Variables: AUTH_ZITADEL_ID,
// AUTH_ZITADEL_SECRET and AUTH_ZITADEL_ISSUER. Set Issuer to the address of the
// instance.
//
// https://zitadel.com/docs/guides/integrate/login/oidc
func ZITADEL(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "zitadel", Name: "ZITADEL", Protocol: oauth.OIDC,
		// https://zitadel.com/docs/apis/openidoauth/claims
		EmailVerified: o.trusted(saysVerified("email_verified")),
	})
}
