package provider

import (
	"context"
	"net/http"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// GitHub signs users in with their GitHub account.
//
// Register the callback URL /auth/callback/github. Variables: AUTH_GITHUB_ID
// and AUTH_GITHUB_SECRET. For GitHub Enterprise Server set Issuer to
// https://HOST/login/oauth. The list of the user's addresses shows whether the
// public one is verified, and has a verified one for users without a public one.
// A GitHub App, unlike an OAuth App, needs the permission to read e-mail addresses
// for that.
//
// https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
func GitHub(o Options) *pintle.OAuth {
	base, api := "https://github.com", "https://api.github.com"
	verified := saysVerified("email_verified") // which githubAddress adds
	if server, ok := strings.CutSuffix(o.Issuer, "/login/oauth"); ok && server != base {
		base, api = server, server+"/api/v3"
		verified = o.trusted(verified)
	}
	p := &pintle.OAuth{
		ID: "github", Name: "GitHub",
		// GitHub has no metadata, but sends iss with the callback.
		Issuer:        base + "/login/oauth",
		Authorization: oauth.Endpoint{URL: base + "/login/oauth/authorize", Params: map[string]string{"scope": "read:user user:email"}},
		Token:         oauth.Endpoint{URL: base + "/login/oauth/access_token"},
		UserInfo:      oauth.Endpoint{URL: api + "/user"},
		Profile:       claims{id: "id", name: "name|login", email: "email", image: "avatar_url"}.user,
		EmailVerified: verified,
	}
	p.Quirks.AmendProfile = func(ctx context.Context, c *http.Client, a *oauth.Answer) error {
		githubAddress(ctx, c, a, endpoint(p.UserInfo.URL+"/emails"))
		return nil
	}
	return o.apply(p)
}
