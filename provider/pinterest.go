package provider

import "github.com/pintleauth/pintle"

// PinterestOptions are the options of [Pinterest].
type PinterestOptions struct {
	Options

	// LegacyAccountID makes the user name the id of the account, as Auth.js
	// does. Set it only for a database shared with Auth.js or moved from it: a
	// user name can be given up, and its next owner then signs in as the user
	// who had it before.
	LegacyAccountID bool
}

// Pinterest signs users in with their Pinterest account.
//
// Register the callback URL /auth/callback/pinterest. Variables:
// AUTH_PINTEREST_ID and AUTH_PINTEREST_SECRET. The service returns no address.
//
// https://developers.pinterest.com/docs/getting-started/set-up-authentication-and-authorization/
func Pinterest(o PinterestOptions) *pintle.OAuth {
	id := "id"
	if o.LegacyAccountID {
		id = "username"
	}
	return o.applySeparated(&pintle.OAuth{
		ID: "pinterest", Name: "Pinterest",
		Authorization: endpoint("https://www.pinterest.com/oauth", "scope", "user_accounts:read"),
		Token:         endpoint("https://api.pinterest.com/v5/oauth/token"),
		UserInfo:      endpoint("https://api.pinterest.com/v5/user_account"),
		Profile:       claims{id: id, name: "username", email: "null", image: "profile_image"}.user,
	}, ",")
}
