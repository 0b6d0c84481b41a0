package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Vipps signs users in with their Vipps account.
//
// Register the callback URL /auth/callback/vipps. Variables: AUTH_VIPPS_ID and
// AUTH_VIPPS_SECRET. For tests set Issuer to
// https://apitest.vipps.no/access-management-1.0/access/.
//
// https://developer.vippsmobilepay.com/docs/APIs/login-api/
func Vipps(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "vipps", Name: "Vipps", Protocol: oauth.OIDC,
		Issuer:              "https://api.vipps.no/access-management-1.0/access/",
		Authorization:       endpoint("", "scope", "openid name email"),
		Checks:              []oauth.Check{oauth.CheckPKCE, oauth.CheckState, oauth.CheckNonce},
		ProfileFromUserInfo: true,
	})
}
