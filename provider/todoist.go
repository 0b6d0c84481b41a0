package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Todoist signs users in with their Todoist account.
//
// Register the callback URL /auth/callback/todoist. Variables: AUTH_TODOIST_ID
// and AUTH_TODOIST_SECRET.
//
// https://developer.todoist.com/api/v1/#tag/Authorization
func Todoist(o Options) *pintle.OAuth {
	return withProfileRequest(o.applySeparated(&pintle.OAuth{
		ID: "todoist", Name: "Todoist",
		Authorization: endpoint("https://todoist.com/oauth/authorize", "scope", "data:read"),
		Token:         endpoint("https://todoist.com/oauth/access_token"),
		UserInfo:      endpoint("https://api.todoist.com/api/v1/sync"),
		Checks:        []oauth.Check{oauth.CheckPKCE, oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "id", name: "full_name", email: "email", image: "avatar_big"}.user,
		Quirks:        oauth.Quirks{AmendProfile: unwrap("user")},
	}, ","), func(own *pintle.OAuth, tokens pintle.Profile) (apiRequest, error) {
		body := map[string]string{"sync_token": "*", "resource_types": `["user"]`}
		return apiRequest{endpoint: own.UserInfo, body: body}.bearer(tokens), nil
	})
}
