package provider

import "github.com/pintleauth/pintle"

// Box signs users in with their Box account.
//
// Register the callback URL /auth/callback/box. Variables: AUTH_BOX_ID and
// AUTH_BOX_SECRET.
//
// https://developer.box.com/guides/authentication/oauth2/
func Box(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "box", Name: "Box",
		Authorization: endpoint("https://account.box.com/api/oauth2/authorize", "scope", ""),
		Token:         endpoint("https://api.box.com/oauth2/token"),
		UserInfo:      endpoint("https://api.box.com/2.0/users/me"),
		Profile:       claims{id: "id", name: "name", email: "login", image: "avatar_url"}.user,
	})
}
