package provider

import "github.com/pintleauth/pintle"

// Faceit signs users in with their FACEIT account.
//
// Register the callback URL /auth/callback/faceit. Variables: AUTH_FACEIT_ID
// and AUTH_FACEIT_SECRET.
//
// https://docs.faceit.com/docs/authentication
func Faceit(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "faceit", Name: "FACEIT",
		Authorization: endpoint("https://accounts.faceit.com/accounts", "redirect_popup", "true", "scope", ""),
		Token:         endpoint("https://api.faceit.com/auth/v1/oauth/token"),
		UserInfo:      endpoint("https://api.faceit.com/auth/v1/resources/userinfo"),
		Profile:       claims{id: "guid", name: "name", email: "email", image: "picture"}.user,
	})
}
