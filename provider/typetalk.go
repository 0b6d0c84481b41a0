package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Typetalk signs users in with their Typetalk account.
//
// Register the callback URL /auth/callback/typetalk. Variables:
// AUTH_TYPETALK_ID and AUTH_TYPETALK_SECRET.
//
// https://developer.nulab.com/docs/typetalk/
//
// Deprecated: the service ended in December 2025.
func Typetalk(o Options) *pintle.OAuth {
	return tokenInQuery(o.apply(&pintle.OAuth{
		ID: "typetalk", Name: "Typetalk",
		Authorization: endpoint("https://typetalk.com/oauth2/authorize", "scope", "my"),
		Token:         endpoint("https://typetalk.com/oauth2/access_token"),
		UserInfo:      endpoint("https://typetalk.com/api/v1/profile"),
		Checks:        []oauth.Check{oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "account!.id", name: "account.fullName", email: "account.mailAddress", image: "account.imageUrl"}.user,
	}), "access_token")
}
