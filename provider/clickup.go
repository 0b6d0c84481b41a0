package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// ClickUp signs users in with their ClickUp account.
//
// Register the callback URL /auth/callback/click-up. Variables:
// AUTH_CLICK_UP_ID and AUTH_CLICK_UP_SECRET. Address and picture are left out, as
// in Auth.js.
//
// https://developer.clickup.com/docs/authentication
func ClickUp(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "click-up", Name: "ClickUp",
		Authorization: endpoint("https://app.clickup.com/api", "scope", ""),
		Token:         endpoint("https://api.clickup.com/api/v2/oauth/token"),
		UserInfo:      endpoint("https://api.clickup.com/api/v2/user"),
		Checks:        []oauth.Check{oauth.CheckState},
		Profile:       claims{id: "user!.id", name: "user.username", extra: map[string]string{"profilePicture": "user.profilePicture", "color": "user.color"}}.user,
	})
}
