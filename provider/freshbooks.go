package provider

import "github.com/pintleauth/pintle"

// FreshBooks signs users in with their FreshBooks account.
//
// Register the callback URL /auth/callback/freshbooks. Variables:
// AUTH_FRESHBOOKS_ID and AUTH_FRESHBOOKS_SECRET.
//
// https://www.freshbooks.com/api/authentication
func FreshBooks(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "freshbooks", Name: "Freshbooks",
		Authorization: endpoint("https://auth.freshbooks.com/service/auth/oauth/authorize", "scope", ""),
		Token:         endpoint("https://api.freshbooks.com/auth/oauth/token"),
		UserInfo:      endpoint("https://api.freshbooks.com/auth/api/v1/users/me"),
		Profile:       claims{id: "response!.id", name: "response.first_name+response.last_name", email: "response.email", image: "null"}.user,
	})
}
