package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Uber signs users in with their Uber account.
//
// Register the callback URL /auth/callback/uber. Variables: AUTH_UBER_ID and
// AUTH_UBER_SECRET. Uber grants access to few applications.
//
// https://developer.uber.com/docs/riders/guides/authentication/introduction
func Uber(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "uber", Name: "Uber",
		Authorization: endpoint("https://login.uber.com/oauth/v2/authorize", "scope", "profile"),
		Token:         endpoint("https://login.uber.com/oauth/v2/token"),
		UserInfo:      endpoint("https://api.uber.com/v1.2/me"),
		Checks:        []oauth.Check{oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "uuid", name: "first_name+last_name", email: "email", image: "picture"}.user,
	})
}
