package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Dailymotion signs users in with their Dailymotion account.
//
// Register the callback URL /auth/callback/dailymotion. Variables:
// AUTH_DAILYMOTION_ID and AUTH_DAILYMOTION_SECRET.
//
// https://developers.dailymotion.com/guides/authentication/
func Dailymotion(o Options) *pintle.OAuth {
	return tokenInQuery(o.apply(&pintle.OAuth{
		ID: "dailymotion", Name: "Dailymotion",
		Authorization: endpoint("https://www.dailymotion.com/oauth/authorize", "scope", "email"),
		Token:         endpoint("https://www.dailymotion.com/oauth/token"),
		UserInfo:      endpoint("https://api.dailymotion.com/me", "fields", "id,fullname,email,avatar_720_url"),
		Checks:        []oauth.Check{oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "id", name: "fullname", email: "email", image: "avatar_720_url"}.user,
	}), "access_token")
}
