package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// CloudFoundry signs users in with their Cloud Foundry account.
//
// Register the callback URL /auth/callback/cloudfoundry. Variables:
// AUTH_CLOUDFOUNDRY_ID, AUTH_CLOUDFOUNDRY_SECRET and AUTH_CLOUDFOUNDRY_ISSUER.
// Set Issuer to the address of the UAA.
//
// https://docs.cloudfoundry.org/api/uaa/
func CloudFoundry(o Options) *pintle.OAuth {
	return onServer(o.apply(&pintle.OAuth{
		ID: "cloudfoundry", Name: "Cloud Foundry UAA",
		Authorization: endpoint("/oauth/authorize", "scope", ""),
		Token:         endpoint("/oauth/token"),
		UserInfo:      endpoint("/userinfo"),
		Checks:        []oauth.Check{oauth.CheckState},
		Profile:       claims{id: "user_id", name: "name", email: "email"}.user,
	}), "")
}
