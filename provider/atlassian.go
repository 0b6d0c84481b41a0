package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Atlassian signs users in with their Atlassian account.
//
// Register the callback URL /auth/callback/atlassian. Variables:
// AUTH_ATLASSIAN_ID and AUTH_ATLASSIAN_SECRET.
//
// https://developer.atlassian.com/cloud/jira/platform/oauth-2-3lo-apps/
func Atlassian(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "atlassian", Name: "Atlassian",
		Authorization: endpoint("https://auth.atlassian.com/authorize", "audience", "api.atlassian.com", "scope", "read:me"),
		Token:         endpoint("https://auth.atlassian.com/oauth/token"),
		UserInfo:      endpoint("https://api.atlassian.com/me"),
		Checks:        []oauth.Check{oauth.CheckState},
		Profile:       claims{id: "account_id", name: "name", email: "email", image: "picture"}.user,
	})
}
