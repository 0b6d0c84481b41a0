package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// ClassLink signs users in with their ClassLink account.
//
// Register the callback URL /auth/callback/classlink. Variables:
// AUTH_CLASSLINK_ID and AUTH_CLASSLINK_SECRET.
//
// https://developer.classlink.com/docs
func ClassLink(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "classlink", Name: "ClassLink",
		Authorization: endpoint("https://launchpad.classlink.com/oauth2/v2/auth", "scope", "profile"),
		Token:         endpoint("https://launchpad.classlink.com/oauth2/v2/token"),
		UserInfo:      endpoint("https://nodeapi.classlink.com/v2/my/info"),
		Checks:        []oauth.Check{oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "UserId", name: "DisplayName", email: "Email"}.user,
	})
}
