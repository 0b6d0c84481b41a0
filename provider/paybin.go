package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Paybin signs users in with their Paybin account.
//
// Register the callback URL /auth/callback/paybin. Variables: AUTH_PAYBIN_ID,
// AUTH_PAYBIN_SECRET and AUTH_PAYBIN_ISSUER. Issuer is https://idp.paybin.io if
// empty.
//
// https://idp.paybin.io/.well-known/openid-configuration
func Paybin(o Options) *pintle.OAuth {
	return onServer(o.apply(&pintle.OAuth{
		ID: "paybin", Name: "Paybin", Protocol: oauth.OIDC,
		Authorization: endpoint("/oauth2/authorize", "scope", "openid email profile"),
		Token:         endpoint("/oauth2/token"),
		Checks:        []oauth.Check{oauth.CheckPKCE, oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "sub", name: "name|preferred_username", email: "email", image: "picture"}.user,
	}), "https://idp.paybin.io")
}
