package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Google signs users in with their Google account.
//
// Register the callback URL /auth/callback/google as an authorised redirect URI
// of an OAuth client of type web application. Variables: AUTH_GOOGLE_ID and
// AUTH_GOOGLE_SECRET. Google issues a refresh token only if Authorization.Params
// has access_type "offline" and prompt "consent".
//
// https://developers.google.com/identity/openid-connect/openid-connect
func Google(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "google", Name: "Google", Protocol: oauth.OIDC,
		Issuer: "https://accounts.google.com",
		// https://developers.google.com/identity/gsi/web/guides/verify-google-id-token
		Quirks: oauth.Quirks{OtherIssuer: "accounts.google.com"},
		// Google checks an address at another service when the account is made.
		// https://developers.google.com/identity/openid-connect/openid-connect#an-id-tokens-payload
		EmailVerified: saysVerified("email_verified"),
	})
}
