package provider

import "github.com/pintleauth/pintle"

// Medium signs users in with their Medium account.
//
// Register the callback URL /auth/callback/medium. Variables: AUTH_MEDIUM_ID
// and AUTH_MEDIUM_SECRET. The service returns no address.
//
// https://github.com/Medium/medium-api-docs
//
// Deprecated: the API has been without support since March 2023 and accepts no
// new applications.
func Medium(o Options) *pintle.OAuth {
	return o.applySeparated(&pintle.OAuth{
		ID: "medium", Name: "Medium",
		Authorization: endpoint("https://medium.com/m/oauth/authorize", "scope", "basicProfile"),
		Token:         endpoint("https://api.medium.com/v1/tokens"),
		UserInfo:      endpoint("https://api.medium.com/v1/me"),
		Profile:       claims{id: "data!.id", name: "data.name", email: "null", image: "data.imageUrl"}.user,
	}, ",")
}
