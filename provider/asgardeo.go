package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Asgardeo signs users in with their Asgardeo account.
//
// Register the callback URL /auth/callback/asgardeo. Variables:
// AUTH_ASGARDEO_ID, AUTH_ASGARDEO_SECRET and AUTH_ASGARDEO_ISSUER. Set Issuer
// to https://api.asgardeo.io/t/ORGANIZATION, with or without the ending
// /oauth2/token of the issuer in the metadata.
//
// https://wso2.com/asgardeo/docs/guides/authentication/oidc/
func Asgardeo(o Options) *pintle.OAuth {
	return issuerPath(o.apply(&pintle.OAuth{
		ID: "asgardeo", Name: "Asgardeo", Protocol: oauth.OIDC,
	}), "/oauth2/token")
}
