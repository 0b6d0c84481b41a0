package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Fitbit signs users in with their Fitbit account.
//
// Register the callback URL /auth/callback/fitbit. Variables: AUTH_FITBIT_ID
// and AUTH_FITBIT_SECRET. The service returns no address.
//
// https://dev.fitbit.com/build/reference/web-api/developer-guide/authorization/
//
// Deprecated: the API is being replaced by the Google Health API during 2026;
// use [Google].
func Fitbit(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "fitbit", Name: "Fitbit",
		Authorization: endpoint("https://www.fitbit.com/oauth2/authorize", "scope", "profile"),
		Token:         endpoint("https://api.fitbit.com/oauth2/token"),
		UserInfo:      endpoint("https://api.fitbit.com/1/user/-/profile.json"),
		Checks:        []oauth.Check{oauth.CheckState},
		Profile:       claims{id: "user.encodedId", name: "user.fullName", email: "null", image: "user.avatar"}.user,
	})
}
