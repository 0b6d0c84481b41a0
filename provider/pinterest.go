package provider

import "github.com/pintleauth/pintle"

// Pinterest signs people in with their Pinterest account.
//
// Register the callback URL /auth/callback/pinterest. Variables:
// AUTH_PINTEREST_ID and AUTH_PINTEREST_SECRET. The service tells no address.
// The user name is the id, as in Auth.js: who changes it becomes somebody else.
//
// https://developers.pinterest.com/docs/getting-started/set-up-authentication-and-authorization/
func Pinterest(o Options) *pintle.OAuth {
	return o.applySeparated(&pintle.OAuth{
		ID: "pinterest", Name: "Pinterest",
		Authorization: endpoint("https://www.pinterest.com/oauth", "scope", "user_accounts:read"),
		Token:         endpoint("https://api.pinterest.com/v5/oauth/token"),
		UserInfo:      endpoint("https://api.pinterest.com/v5/user_account"),
		Profile:       claims{id: "username", name: "username", email: "null", image: "profile_image"}.user,
	}, ",")
}
