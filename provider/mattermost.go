package provider

import "github.com/pintleauth/pintle"

// Mattermost signs users in with their Mattermost account.
//
// Register the callback URL /auth/callback/mattermost. Variables:
// AUTH_MATTERMOST_ID, AUTH_MATTERMOST_SECRET and AUTH_MATTERMOST_ISSUER. Set
// Issuer to the address of the server.
//
// https://developers.mattermost.com/integrate/apps/authentication/oauth2/
func Mattermost(o Options) *pintle.OAuth {
	return onServer(o.apply(&pintle.OAuth{
		ID: "mattermost", Name: "Mattermost",
		Authorization: endpoint("/oauth/authorize", "scope", ""),
		Token:         endpoint("/oauth/access_token"),
		UserInfo:      endpoint("/api/v4/users/me"),
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "id", name: "username|first_name+last_name", email: "email", image: "null"}.user,
	}), "")
}
