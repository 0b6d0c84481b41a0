package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// OneLogin signs users in with their OneLogin account.
//
// Register the callback URL /auth/callback/onelogin. Variables:
// AUTH_ONELOGIN_ID, AUTH_ONELOGIN_SECRET and AUTH_ONELOGIN_ISSUER. Set Issuer
// to https://SUBDOMAIN.onelogin.com, with or without the ending /oidc/2 of the
// issuer in the metadata.
//
// https://developers.onelogin.com/openid-connect
func OneLogin(o Options) *pintle.OAuth {
	return issuerPath(o.apply(&pintle.OAuth{
		ID: "onelogin", Name: "OneLogin", Protocol: oauth.OIDC,
	}), "/oidc/2")
}
