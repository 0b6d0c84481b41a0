package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Yahoo signs users in with their Yahoo account.
//
// Register the callback URL /auth/callback/yahoo. Variables: AUTH_YAHOO_ID and
// AUTH_YAHOO_SECRET.
//
// https://developer.yahoo.com/sign-in-with-yahoo/
func Yahoo(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "yahoo", Name: "Yahoo",
		Authorization: endpoint("https://api.login.yahoo.com/oauth2/request_auth", "scope", "openid profile email"),
		Token:         endpoint("https://api.login.yahoo.com/oauth2/get_token"),
		UserInfo:      endpoint("https://api.login.yahoo.com/openid/v1/userinfo"),
		Checks:        []oauth.Check{oauth.CheckState},
		Profile:       claims{id: "sub", name: "name", email: "email", image: "picture"}.user,
	})
}
