package provider

import (
	"context"
	"net/http"
	"strings"

	"github.com/pintleauth/pintle"
)

// GitHub signs people in with their GitHub account.
//
// Register the callback URL /auth/callback/github. Variables: AUTH_GITHUB_ID
// and AUTH_GITHUB_SECRET. For GitHub Enterprise Server set Issuer to
// https://HOST/login/oauth. Who hides their address is asked for the verified
// ones; a GitHub App, as against an OAuth App, needs the permission to read
// e-mail addresses for that.
//
// https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
func GitHub(o Options) *pintle.OAuth {
	base, api := "https://github.com", "https://api.github.com"
	if server, ok := strings.CutSuffix(o.Issuer, "/login/oauth"); ok && server != base {
		base, api = server, server+"/api/v3"
	}
	p := &pintle.OAuth{
		ID: "github", Name: "GitHub",
		// GitHub has no metadata, but says in the callback who it is.
		Issuer:        base + "/login/oauth",
		Authorization: pintle.Endpoint{URL: base + "/login/oauth/authorize", Params: map[string]string{"scope": "read:user user:email"}},
		Token:         pintle.Endpoint{URL: base + "/login/oauth/access_token"},
		UserInfo:      pintle.Endpoint{URL: api + "/user"},
		Profile:       claims{id: "id", name: "name|login", email: "email", image: "avatar_url"}.user,
	}
	p.Quirks.AmendProfile = func(ctx context.Context, c *http.Client, a *pintle.ProviderAnswer) error {
		if address, _ := a.Profile["email"].(string); address != "" {
			return nil
		}
		// Somebody may sign in without an address, so a failing request is
		// none. An address that GitHub has not verified may be anybody's.
		list, _ := question{endpoint: endpoint(p.UserInfo.URL + "/emails")}.bearer(a.Tokens).ask(ctx, c)
		if address := verifiedAddress(list); address != "" {
			a.Profile["email"] = address
		}
		return nil
	}
	return o.apply(p)
}
