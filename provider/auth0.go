package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Auth0 signs users in with their Auth0 account.
//
// Register the callback URL /auth/callback/auth0. Variables: AUTH_AUTH0_ID,
// AUTH_AUTH0_SECRET and AUTH_AUTH0_ISSUER. Set Issuer to
// https://TENANT.auth0.com.
//
// https://auth0.com/docs/get-started/authentication-and-authorization-flow/authorization-code-flow
func Auth0(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "auth0", Name: "Auth0", Protocol: oauth.OIDC,
		// https://auth0.com/docs/manage-users/user-accounts/user-profiles/verified-email-usage
		EmailVerified: o.trusted(saysVerified("email_verified")),
	})
}
