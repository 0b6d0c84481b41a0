package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// SimpleLogin signs users in with their SimpleLogin account.
//
// Register the callback URL /auth/callback/simplelogin. Variables:
// AUTH_SIMPLELOGIN_ID and AUTH_SIMPLELOGIN_SECRET.
//
// https://simplelogin.io/docs/siwsl/intro/
func SimpleLogin(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "simplelogin", Name: "SimpleLogin", Protocol: oauth.OIDC,
		Issuer:  "https://app.simplelogin.io",
		Profile: claims{id: "sub", name: "name", email: "email", image: "avatar_url"}.user,
	})
}
