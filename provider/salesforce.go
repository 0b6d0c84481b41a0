package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Salesforce signs users in with their Salesforce account.
//
// Register the callback URL /auth/callback/salesforce. Variables:
// AUTH_SALESFORCE_ID, AUTH_SALESFORCE_SECRET and AUTH_SALESFORCE_ISSUER. Issuer
// is https://login.salesforce.com if empty; a sandbox has
// https://test.salesforce.com, and an organisation may have another domain.
//
// https://help.salesforce.com/s/articleView?id=sf.remoteaccess_using_openid.htm
func Salesforce(o Options) *pintle.OAuth {
	return defaultIssuer(o.apply(&pintle.OAuth{
		ID: "salesforce", Name: "Salesforce", Protocol: oauth.OIDC,
		Checks:              []oauth.Check{oauth.CheckPKCE, oauth.CheckState, oauth.CheckNonce},
		ProfileFromUserInfo: true,
	}), "https://login.salesforce.com")
}
