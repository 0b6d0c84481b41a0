package provider

import "github.com/pintleauth/pintle"

// OneLogin signs people in with their OneLogin account.
//
// Register the callback URL /auth/callback/onelogin. Variables:
// AUTH_ONELOGIN_ID, AUTH_ONELOGIN_SECRET and AUTH_ONELOGIN_ISSUER. Set Issuer
// to https://SUBDOMAIN.onelogin.com, with or without the /oidc/2 that it really
// ends with.
//
// https://developers.onelogin.com/openid-connect
func OneLogin(o Options) *pintle.OAuth {
	return issuerPath(o.apply(&pintle.OAuth{
		ID: "onelogin", Name: "OneLogin", Protocol: pintle.OIDC,
	}), "/oidc/2")
}
