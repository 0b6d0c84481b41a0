package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Oura signs users in with their Oura account.
//
// Register the callback URL /auth/callback/oura. Variables: AUTH_OURA_ID and
// AUTH_OURA_SECRET.
//
// https://cloud.ouraring.com/docs/authentication
func Oura(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "oura", Name: "Oura",
		Authorization: endpoint("https://cloud.ouraring.com/oauth/authorize", "scope", "email personal"),
		Token:         endpoint("https://api.ouraring.com/oauth/token"),
		UserInfo:      endpoint("https://api.ouraring.com/v2/usercollection/personal_info"),
		Checks:        []oauth.Check{oauth.CheckState},
		Profile:       claims{id: "id", name: "null", email: "email"}.user,
	})
}
