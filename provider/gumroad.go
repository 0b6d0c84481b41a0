package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Gumroad signs users in with their Gumroad account.
//
// Register the callback URL /auth/callback/gumroad. Variables: AUTH_GUMROAD_ID
// and AUTH_GUMROAD_SECRET.
//
// https://gumroad.com/api
func Gumroad(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "gumroad", Name: "Gumroad",
		Authorization: endpoint("https://gumroad.com/oauth/authorize", "scope", "view_profile"),
		Token:         endpoint("https://api.gumroad.com/oauth/token"),
		UserInfo:      endpoint("https://api.gumroad.com/v2/user"),
		Checks:        []oauth.Check{oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "user!.user_id", name: "user.name", email: "user.email", image: "user.profile_url"}.user,
	})
}
