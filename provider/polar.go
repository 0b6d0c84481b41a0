package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Polar signs users in with their Polar account.
//
// Register the callback URL /auth/callback/polar. Variables: AUTH_POLAR_ID and
// AUTH_POLAR_SECRET.
//
// https://docs.polar.sh/integrate/oauth2/introduction
func Polar(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "polar", Name: "Polar",
		Authorization: endpoint("https://polar.sh/oauth2/authorize", "scope", "openid profile email"),
		Token:         endpoint("https://api.polar.sh/v1/oauth2/token"),
		UserInfo:      endpoint("https://api.polar.sh/v1/oauth2/userinfo"),
		Checks:        []oauth.Check{oauth.CheckPKCE, oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "id|sub", name: "public_name|username|name", email: "email", image: "avatar_url|picture"}.user,
	})
}
