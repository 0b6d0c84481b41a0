package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Descope signs users in with their Descope account.
//
// Register the callback URL /auth/callback/descope. Variables: AUTH_DESCOPE_ID,
// AUTH_DESCOPE_SECRET and AUTH_DESCOPE_ISSUER. ClientID is the id of the
// project. Issuer is https://api.descope.com/ and that id if empty.
//
// https://docs.descope.com/auth-methods/oidc
func Descope(o Options) *pintle.OAuth {
	return completing(o.apply(&pintle.OAuth{
		ID: "descope", Name: "Descope", Protocol: oauth.OIDC,
		Checks: []oauth.Check{oauth.CheckPKCE, oauth.CheckState},
	}), func(own *pintle.OAuth) error {
		if own.Issuer == "" && own.ClientID != "" {
			own.Issuer = "https://api.descope.com/" + own.ClientID
		}
		return nil
	})
}
