package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// DigitalOcean signs users in with their DigitalOcean account.
//
// Register the callback URL /auth/callback/digitalocean. Variables:
// AUTH_DIGITALOCEAN_ID and AUTH_DIGITALOCEAN_SECRET.
//
// https://docs.digitalocean.com/reference/api/oauth/
func DigitalOcean(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "digitalocean", Name: "DigitalOcean",
		Authorization: endpoint("https://cloud.digitalocean.com/v1/oauth/authorize", "scope", ""),
		Token:         endpoint("https://cloud.digitalocean.com/v1/oauth/token"),
		UserInfo:      endpoint("https://api.digitalocean.com/v2/account"),
		Checks:        []oauth.Check{oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "account!.uuid", name: "account.name", email: "account.email"}.user,
		// https://docs.digitalocean.com/reference/api/reference/account/
		EmailVerified: saysVerified("account.email_verified"),
	})
}
