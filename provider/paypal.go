package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// PayPalOptions are the options of [PayPal].
type PayPalOptions struct {
	Options

	// Sandbox signs in with the accounts of PayPal's test environment.
	Sandbox bool
}

// PayPal signs users in with their PayPal account.
//
// Register the callback URL /auth/callback/paypal as the return URL. Variables:
// AUTH_PAYPAL_ID and AUTH_PAYPAL_SECRET. The consent of users is configured in the
// dashboard.
//
// https://developer.paypal.com/docs/log-in-with-paypal/integrate/
func PayPal(o PayPalOptions) *pintle.OAuth {
	environment := ""
	if o.Sandbox {
		environment = "sandbox."
	}
	return o.apply(&pintle.OAuth{
		ID: "paypal", Name: "PayPal",
		Authorization: endpoint("https://www."+environment+"paypal.com/signin/authorize", "scope", ""),
		Token:         endpoint("https://api-m." + environment + "paypal.com/v1/oauth2/token"),
		UserInfo:      endpoint("https://api-m."+environment+"paypal.com/v1/identity/oauth2/userinfo", "schema", "paypalv1.1"),
		Checks:        []oauth.Check{oauth.CheckState},
		Profile:       claims{id: "user_id", name: "name", email: "email|emails.primary.value", image: "picture"}.user,
	})
}
