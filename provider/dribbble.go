package provider

import "github.com/pintleauth/pintle"

// Dribbble signs users in with their Dribbble account.
//
// Register the callback URL /auth/callback/dribbble. Variables:
// AUTH_DRIBBBLE_ID and AUTH_DRIBBBLE_SECRET. The API returns no address.
//
// https://developer.dribbble.com/v2/oauth/
func Dribbble(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "dribbble", Name: "Dribbble",
		Authorization: endpoint("https://dribbble.com/oauth/authorize", "scope", "public"),
		Token:         endpoint("https://dribbble.com/oauth/token"),
		UserInfo:      endpoint("https://api.dribbble.com/v2/user"),
		Profile:       claims{id: "id", name: "name", email: "email", image: "avatar_url"}.user,
	})
}
