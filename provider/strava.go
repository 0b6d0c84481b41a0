package provider

import "github.com/pintleauth/pintle"

// Strava signs users in with their Strava account.
//
// Register the callback URL /auth/callback/strava. Variables: AUTH_STRAVA_ID
// and AUTH_STRAVA_SECRET. The service returns no address.
//
// https://developers.strava.com/docs/authentication/
func Strava(o Options) *pintle.OAuth {
	return o.applySeparated(&pintle.OAuth{
		ID: "strava", Name: "Strava",
		Authorization: endpoint("https://www.strava.com/api/v3/oauth/authorize", "approval_prompt", "auto", "scope", "read"),
		Token:         endpoint("https://www.strava.com/api/v3/oauth/token"),
		UserInfo:      endpoint("https://www.strava.com/api/v3/athlete"),
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "id", name: "firstname+lastname", email: "null", image: "profile"}.user,
	}, ",")
}
