package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// AppleOptions are the options of [Apple].
type AppleOptions struct {
	Options

	// TeamID, KeyID and PrivateKey make the client secret, which at Apple is a
	// statement signed anew for every exchange. PrivateKey is the text of the
	// .p8 file. Without them ClientSecret must be such a statement, which Apple
	// lets live for at most six months.
	TeamID, KeyID, PrivateKey string
}

// Apple signs users in with their Apple account.
//
// Register the callback URL /auth/callback/apple, on https and not on
// localhost. Variables: AUTH_APPLE_ID, which is the Services ID, and
// AUTH_APPLE_SECRET if no key is given. The callback is a form, so redirect
// proxies cannot serve it. The name comes with the first consent only, and
// unsigned: store it then, and do not use it as a proof.
//
// https://developer.apple.com/documentation/signinwithapplerestapi
func Apple(o AppleOptions) *pintle.OAuth {
	p := o.apply(&pintle.OAuth{
		ID: "apple", Name: "Apple", Protocol: oauth.OIDC,
		Issuer:        "https://appleid.apple.com",
		Authorization: endpoint("", "scope", "name email", "response_mode", "form_post"),
		Checks:        []oauth.Check{oauth.CheckNonce, oauth.CheckState},
		ClientAuth:    "client_secret_post",
		// https://developer.apple.com/support/offering-account-deletion-in-your-app/
		RevokeAtUnlink: true,
		Profile:        appleUser,
		Quirks:         oauth.Quirks{AmendProfile: appleName},
		// The claim may be text, and false for accounts of a school or a company.
		// https://developer.apple.com/documentation/signinwithapple/authenticating-users-with-sign-in-with-apple
		EmailVerified: saysVerified("email_verified"),
	})
	return completing(p, o.signSecrets)
}
