package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Okta signs users in with their Okta account.
//
// Register the callback URL /auth/callback/okta. Variables: AUTH_OKTA_ID,
// AUTH_OKTA_SECRET and AUTH_OKTA_ISSUER. Set Issuer to https://ORG.okta.com, or
// to https://ORG.okta.com/oauth2/SERVER for a custom authorization server.
//
// https://developer.okta.com/docs/guides/implement-grant-type/authcode/main/
func Okta(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "okta", Name: "Okta", Protocol: oauth.OIDC,
		Checks: []oauth.Check{oauth.CheckPKCE, oauth.CheckState},
		// https://developer.okta.com/docs/api/openapi/okta-oauth/guides/overview/#scope-dependent-claims-not-always-returned
		EmailVerified: o.trusted(saysVerified("email_verified")),
	})
}
