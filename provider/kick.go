package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Kick signs users in with their Kick account.
//
// Register the callback URL /auth/callback/kick. Variables: AUTH_KICK_ID and
// AUTH_KICK_SECRET.
//
// https://docs.kick.com/getting-started/generating-tokens-oauth2-flow
func Kick(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "kick", Name: "Kick",
		Authorization: endpoint("https://id.kick.com/oauth/authorize", "scope", "user:read"),
		Token:         endpoint("https://id.kick.com/oauth/token"),
		UserInfo:      endpoint("https://api.kick.com/public/v1/users"),
		Checks:        []oauth.Check{oauth.CheckPKCE, oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "data.0.user_id", name: "data.0.name", email: "data.0.email", image: "data.0.profile_picture"}.user,
	})
}
