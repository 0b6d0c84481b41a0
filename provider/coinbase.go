package provider

import "github.com/pintleauth/pintle"

// Coinbase signs users in with their Coinbase account.
//
// Register the callback URL /auth/callback/coinbase. Variables:
// AUTH_COINBASE_ID and AUTH_COINBASE_SECRET.
//
// https://docs.cdp.coinbase.com/coinbase-app/oauth2-integration/overview
func Coinbase(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "coinbase", Name: "Coinbase",
		Authorization: endpoint("https://login.coinbase.com/oauth2/auth", "scope", "wallet:user:email wallet:user:read"),
		Token:         endpoint("https://login.coinbase.com/oauth2/token"),
		UserInfo:      endpoint("https://api.coinbase.com/v2/user"),
		Profile:       claims{id: "data!.id", name: "data.name", email: "data.email", image: "data.avatar_url"}.user,
	})
}
