package provider

import "github.com/pintleauth/pintle"

// GitLab signs people in with their GitLab account.
//
// Register the callback URL /auth/callback/gitlab. Variables: AUTH_GITLAB_ID,
// AUTH_GITLAB_SECRET and AUTH_GITLAB_ISSUER. Issuer is the address of the
// server, https://gitlab.com if empty.
//
// https://docs.gitlab.com/api/oauth2/
func GitLab(o Options) *pintle.OAuth {
	return onServer(o.apply(&pintle.OAuth{
		ID: "gitlab", Name: "GitLab",
		Authorization: endpoint("/oauth/authorize", "scope", "read_user"),
		Token:         endpoint("/oauth/token"),
		UserInfo:      endpoint("/api/v4/user"),
		Profile:       claims{id: "sub|id", name: "name|username", email: "email", image: "avatar_url"}.user,
	}), "https://gitlab.com")
}
