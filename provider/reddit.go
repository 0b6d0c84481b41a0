package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Reddit signs users in with their Reddit account.
//
// Register the callback URL /auth/callback/reddit. Variables: AUTH_REDDIT_ID
// and AUTH_REDDIT_SECRET. New applications need the approval of Reddit. A
// refresh token needs duration "permanent" in Authorization.Params.
//
// https://github.com/reddit-archive/reddit/wiki/OAuth2
func Reddit(o Options) *pintle.OAuth {
	return withHeaders(o.applySeparated(&pintle.OAuth{
		ID: "reddit", Name: "Reddit",
		Authorization: endpoint("https://www.reddit.com/api/v1/authorize", "scope", "identity"),
		Token:         endpoint("https://www.reddit.com/api/v1/access_token"),
		UserInfo:      endpoint("https://oauth.reddit.com/api/v1/me"),
		Checks:        []oauth.Check{oauth.CheckState},
		Profile:       claims{id: "sub|id", name: "name|nickname|preferred_username", email: "email", image: "picture"}.user,
	}, ","), map[string]string{"User-Agent": userAgent})
}
