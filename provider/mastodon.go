package provider

import "github.com/pintleauth/pintle"

// Mastodon signs users in with their Mastodon account.
//
// Register the callback URL /auth/callback/mastodon. Variables:
// AUTH_MASTODON_ID, AUTH_MASTODON_SECRET and AUTH_MASTODON_ISSUER. Set Issuer
// to the address of the server, for example https://mastodon.social. The
// service returns no address.
//
// https://docs.joinmastodon.org/spec/oauth/
func Mastodon(o Options) *pintle.OAuth {
	return onServer(o.apply(&pintle.OAuth{
		ID: "mastodon", Name: "Mastodon",
		Authorization: endpoint("/oauth/authorize", "scope", "read"),
		Token:         endpoint("/oauth/token"),
		UserInfo:      endpoint("/api/v1/accounts/verify_credentials"),
		Profile:       claims{id: "id", name: "username", email: "null", image: "avatar_static"}.user,
	}), "")
}
