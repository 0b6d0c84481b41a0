package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Notion signs users in with their Notion account.
//
// Register the callback URL /auth/callback/notion for a public integration that
// may read user information with addresses. Variables: AUTH_NOTION_ID and
// AUTH_NOTION_SECRET. Redirect URI and client id need not be repeated, as they
// are in Auth.js.
//
// https://developers.notion.com/docs/authorization
func Notion(o Options) *pintle.OAuth {
	return withHeaders(o.apply(&pintle.OAuth{
		ID: "notion", Name: "Notion",
		Authorization: endpoint("https://api.notion.com/v1/oauth/authorize", "owner", "user", "scope", ""),
		Token:         endpoint("https://api.notion.com/v1/oauth/token"),
		UserInfo:      endpoint("https://api.notion.com/v1/users/me"),
		Profile:       claims{id: "id", name: "name", email: "person!.email", image: "avatar_url"}.user,
		// The token of a workspace has no person in this member.
		Quirks: oauth.Quirks{AmendProfile: unwrap("bot.owner.user")},
	}), map[string]string{"Notion-Version": "2022-06-28"})
}
