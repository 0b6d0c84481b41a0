package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// BankIDNorge signs users in with their BankID account.
//
// Register the callback URL /auth/callback/bankid-no. Variables:
// AUTH_BANKID_NO_ID and AUTH_BANKID_NO_SECRET. For tests set Issuer to the
// realm of the test environment.
//
// https://developer.bankid.no/bankid-with-biometrics/
func BankIDNorge(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "bankid-no", Name: "BankID Norge", Protocol: oauth.OIDC,
		Issuer:        "https://auth.bankid.no/auth/realms/prod",
		Authorization: endpoint("", "ui_locales", "no", "login_hint", "BIS"),
		Checks:        []oauth.Check{oauth.CheckPKCE, oauth.CheckState, oauth.CheckNonce},
		ClientAuth:    "client_secret_post",
		// The profile is a signed answer of the userinfo endpoint.
		ProfileFromUserInfo: true,
		Quirks:              oauth.Quirks{UserInfoSigningAlg: "RS256"},
		Profile:             claims{id: "sub", name: "name", email: "email|null", image: "null"}.user,
	})
}
