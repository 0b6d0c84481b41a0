package provider

import (
	"context"
	"net/http"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// GitLab signs users in with their GitLab account.
//
// Register the callback URL /auth/callback/gitlab. Variables: AUTH_GITLAB_ID,
// AUTH_GITLAB_SECRET and AUTH_GITLAB_ISSUER. Issuer is the address of the
// server, https://gitlab.com if empty. Only the addresses at gitlab.com count as
// verified: the administrator of another server may let users sign up without
// confirming theirs.
//
// https://docs.gitlab.com/api/oauth2/
func GitLab(o Options) *pintle.OAuth {
	p := onServer(o.apply(&pintle.OAuth{
		ID: "gitlab", Name: "GitLab",
		Authorization: endpoint("/oauth/authorize", "scope", "read_user"),
		Token:         endpoint("/oauth/token"),
		UserInfo:      endpoint("/api/v4/user"),
		// https://docs.gitlab.com/api/oauth2/#revoke-a-token
		Revocation:    endpoint("/oauth/revoke"),
		Profile:       claims{id: "sub|id", name: "name|username", email: "email", image: "avatar_url"}.user,
		EmailVerified: saysVerified("email_verified"), // which is added below
	}), "https://gitlab.com")
	return completing(p, func(own *pintle.OAuth) error {
		before, confirms := own.Quirks.AmendProfile, own.UserInfo.URL == "https://gitlab.com/api/v4/user"
		own.Quirks.AmendProfile = func(ctx context.Context, c *http.Client, a *oauth.Answer) error {
			// https://docs.gitlab.com/security/user_email_confirmation/
			confirmed, _ := a.Profile["confirmed_at"].(string)
			a.Profile["email_verified"] = confirms && confirmed != ""
			if before != nil {
				return before(ctx, c, a)
			}
			return nil
		}
		return nil
	})
}
