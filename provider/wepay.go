package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// WePay signs users in with their WePay account.
//
// Register the callback URL /auth/callback/wepay. Variables: AUTH_WEPAY_ID and
// AUTH_WEPAY_SECRET. It is not known whether version 2 of the API still works.
//
// https://dev.wepay.com/
func WePay(o Options) *pintle.OAuth {
	return o.applySeparated(&pintle.OAuth{
		ID: "wepay", Name: "WePay",
		Authorization: endpoint("https://www.wepay.com/v2/oauth2/authorize", "scope", "view_user"),
		Token:         endpoint("https://wepayapi.com/v2/oauth2/token"),
		UserInfo:      endpoint("https://wepayapi.com/v2/user"),
		Checks:        []oauth.Check{oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "user_id", name: "user_name", email: "email"}.user,
	}, ",")
}
