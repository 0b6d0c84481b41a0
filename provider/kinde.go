package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Kinde signs users in with their Kinde account.
//
// Register the callback URL /auth/callback/kinde. Variables: AUTH_KINDE_ID,
// AUTH_KINDE_SECRET and AUTH_KINDE_ISSUER. Set Issuer to
// https://SUBDOMAIN.kinde.com.
//
// https://docs.kinde.com/developer-tools/about/using-kinde-without-an-sdk/
func Kinde(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "kinde", Name: "Kinde", Protocol: oauth.OIDC,
		Checks: []oauth.Check{oauth.CheckPKCE, oauth.CheckState},
	})
}
