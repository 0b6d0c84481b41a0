package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// PingIdentity signs users in with their Ping Identity account.
//
// Register the callback URL /auth/callback/ping-id. Variables: AUTH_PING_ID_ID,
// AUTH_PING_ID_SECRET and AUTH_PING_ID_ISSUER. Set Issuer to
// https://auth.pingone.REGION/ENVIRONMENT_ID/as.
//
// https://docs.pingidentity.com/pingone/
func PingIdentity(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "ping-id", Name: "Ping Identity", Protocol: oauth.OIDC,
	})
}
