package provider

import "github.com/pintleauth/pintle"

// Pipedrive signs users in with their Pipedrive account.
//
// Register the callback URL /auth/callback/pipedrive. Variables:
// AUTH_PIPEDRIVE_ID and AUTH_PIPEDRIVE_SECRET.
//
// https://pipedrive.readme.io/docs/marketplace-oauth-authorization
func Pipedrive(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "pipedrive", Name: "Pipedrive",
		Authorization: endpoint("https://oauth.pipedrive.com/oauth/authorize", "scope", ""),
		Token:         endpoint("https://oauth.pipedrive.com/oauth/token"),
		UserInfo:      endpoint("https://api.pipedrive.com/users/me"),
		Profile:       claims{id: "data!.id", name: "data.name", email: "data.email", image: "data.icon_url"}.user,
	})
}
