package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Roblox signs users in with their Roblox account.
//
// Register the callback URL /auth/callback/roblox. Variables: AUTH_ROBLOX_ID
// and AUTH_ROBLOX_SECRET. The service returns no address.
//
// https://create.roblox.com/docs/cloud/auth/oauth2-overview
func Roblox(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "roblox", Name: "Roblox", Protocol: oauth.OIDC,
		Issuer:        "https://apis.roblox.com/oauth/",
		Authorization: endpoint("", "scope", "openid profile"),
		Checks:        []oauth.Check{oauth.CheckPKCE, oauth.CheckState},
	})
}
