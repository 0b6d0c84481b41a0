package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Linear signs users in with their Linear account.
//
// Register the callback URL /auth/callback/linear. Variables: AUTH_LINEAR_ID and
// AUTH_LINEAR_SECRET.
//
// https://linear.app/developers/oauth-2-0-authentication
func Linear(o Options) *pintle.OAuth {
	return withProfileRequest(o.applySeparated(&pintle.OAuth{
		ID: "linear", Name: "Linear",
		Authorization: endpoint("https://linear.app/oauth/authorize", "scope", "read"),
		Token:         endpoint("https://api.linear.app/oauth/token"),
		UserInfo:      endpoint("https://api.linear.app/graphql"),
		Checks:        []oauth.Check{oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "data!.viewer!.id", name: "data.viewer.name", email: "data.viewer.email", image: "data.viewer.avatarUrl"}.user,
	}, ","), func(own *pintle.OAuth, tokens pintle.Profile) (apiRequest, error) {
		query := map[string]string{"query": "query { viewer { id name email avatarUrl } }"}
		return apiRequest{endpoint: own.UserInfo, body: query}.bearer(tokens), nil
	})
}
