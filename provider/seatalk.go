package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// SeaTalk signs users in with their SeaTalk account.
//
// Register the callback URL /auth/callback/seatalk. Variables: AUTH_SEATALK_ID
// and AUTH_SEATALK_SECRET.
//
// https://open.seatalk.io/docs
func SeaTalk(o Options) *pintle.OAuth {
	return tokenInQuery(o.apply(&pintle.OAuth{
		ID: "seatalk", Name: "SeaTalk",
		Authorization: endpoint("https://seatalkweb.com/webapp/oauth2/authorize", "scope", "email"),
		Token:         endpoint("https://seatalkweb.com/webapp/oauth2/token"),
		UserInfo:      endpoint("https://seatalkweb.com/webapp/oauth2/profile"),
		Checks:        []oauth.Check{oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "user_id", name: "name", email: "email"}.user,
	}), "access_token")
}
