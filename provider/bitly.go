package provider

import "github.com/pintleauth/pintle"

// Bitly signs people in with their Bitly account.
//
// Register the callback URL /auth/callback/bitly. Variables: AUTH_BITLY_ID and
// AUTH_BITLY_SECRET.
//
// https://dev.bitly.com/docs/getting-started/authentication
func Bitly(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "bitly", Name: "Bitly",
		Authorization: endpoint("https://bitly.com/oauth/authorize", "scope", ""),
		Token:         endpoint("https://api-ssl.bitly.com/oauth/access_token"),
		UserInfo:      endpoint("https://api-ssl.bitly.com/v4/user"),
		Checks:        []pintle.Check{pintle.State},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "login", name: "name", email: "emails.is_primary&is_verified.email"}.user,
	})
}
