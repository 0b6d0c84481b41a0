package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Amazon signs users in with their Amazon account.
//
// Register the callback URL /auth/callback/amazon. Variables: AUTH_AMAZON_ID
// and AUTH_AMAZON_SECRET.
//
// https://developer.amazon.com/docs/login-with-amazon/authorization-code-grant.html
func Amazon(o Options) *pintle.OAuth {
	return tokenInQuery(o.apply(&pintle.OAuth{
		ID: "amazon", Name: "Amazon",
		Authorization: endpoint("https://www.amazon.com/ap/oa", "scope", "profile"),
		Token:         endpoint("https://api.amazon.com/auth/o2/token"),
		UserInfo:      endpoint("https://api.amazon.com/user/profile"),
		Checks:        []oauth.Check{oauth.CheckState},
		Profile:       claims{id: "user_id", name: "name", email: "email"}.user,
	}), "access_token")
}
