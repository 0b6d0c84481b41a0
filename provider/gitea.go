package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Gitea signs users in with their Gitea account.
//
// Register the callback URL /auth/callback/gitea. Variables: AUTH_GITEA_ID,
// AUTH_GITEA_SECRET and AUTH_GITEA_ISSUER. Issuer is the address of the server,
// https://gitea.com if empty. Forgejo is the same.
//
// https://docs.gitea.com/development/oauth2-provider
func Gitea(o Options) *pintle.OAuth {
	return onServer(o.apply(&pintle.OAuth{
		ID: "gitea", Name: "Gitea",
		Authorization: endpoint("/login/oauth/authorize", "scope", ""),
		Token:         endpoint("/login/oauth/access_token"),
		UserInfo:      endpoint("/api/v1/user"),
		Checks:        []oauth.Check{oauth.CheckPKCE, oauth.CheckState},
		Profile:       claims{id: "id", name: "full_name|login", email: "email", image: "avatar_url"}.user,
	}), "https://gitea.com")
}
