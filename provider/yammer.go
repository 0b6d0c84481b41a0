package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Yammer signs users in with their Yammer account.
//
// Register the callback URL /auth/callback/yammer. Variables: AUTH_YAMMER_ID and
// AUTH_YAMMER_SECRET.
//
// https://learn.microsoft.com/rest/api/yammer/oauth-2
//
// Deprecated: Viva Engage, as Yammer is called now, recommends
// [MicrosoftEntraID] with the scope https://www.yammer.com/.default.
func Yammer(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "yammer", Name: "Yammer",
		Authorization: endpoint("https://www.yammer.com/oauth2/authorize", "scope", ""),
		Token:         endpoint("https://www.yammer.com/oauth2/access_token"),
		UserInfo:      endpoint("https://www.yammer.com/api/v1/users/current.json"),
		Checks:        []oauth.Check{oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "id", name: "full_name", email: "email"}.user,
		Quirks:        oauth.Quirks{TokenTypeOptional: true, TokenResponse: yammerToken},
	})
}

// yammerToken takes the token from the object that wraps it.
func yammerToken(r *oauth.TokenResponse) error {
	if nested := pintle.Profile(r.Body).Object("access_token"); nested != nil {
		r.Body["access_token"] = nested["token"]
	}
	return nil
}
