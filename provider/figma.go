package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Figma signs users in with their Figma account.
//
// Register the callback URL /auth/callback/figma. Variables: AUTH_FIGMA_ID and
// AUTH_FIGMA_SECRET.
//
// https://www.figma.com/developers/api#oauth2
func Figma(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "figma", Name: "Figma",
		Authorization: endpoint("https://www.figma.com/oauth", "scope", "current_user:read"),
		Token:         endpoint("https://api.figma.com/v1/oauth/token"),
		UserInfo:      endpoint("https://api.figma.com/v1/me"),
		Checks:        []oauth.Check{oauth.CheckState},
		Profile:       claims{id: "id", name: "handle", email: "email", image: "img_url"}.user,
	})
}
