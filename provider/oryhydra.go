package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// OryHydra signs users in with an account of an Ory Hydra server.
//
// Register the callback URL /auth/callback/hydra. Variables: AUTH_HYDRA_ID,
// AUTH_HYDRA_SECRET and AUTH_HYDRA_ISSUER. Set Issuer to the public address of
// the server.
//
// https://www.ory.sh/docs/hydra/
func OryHydra(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "hydra", Name: "Hydra", Protocol: oauth.OIDC,
	})
}
