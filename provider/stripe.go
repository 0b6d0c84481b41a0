package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Stripe signs in a business with its Stripe account, over Stripe Connect.
//
// Register the callback URL /auth/callback/stripe. Variables: AUTH_STRIPE_ID and
// AUTH_STRIPE_SECRET, the client id of the platform and its secret key. The
// requested scope is read_only.
//
// https://docs.stripe.com/connect/oauth-reference
func Stripe(o Options) *pintle.OAuth {
	return withProfileRequest(o.apply(&pintle.OAuth{
		ID: "stripe", Name: "Stripe Connect",
		Authorization: endpoint("https://connect.stripe.com/oauth/authorize", "scope", "read_only"),
		Token:         endpoint("https://connect.stripe.com/oauth/token"),
		UserInfo:      endpoint("https://api.stripe.com/v1/accounts"),
		Checks:        []oauth.Check{oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile: claims{
			id: "id", name: "display_name|settings.dashboard.display_name|business_profile.name",
			email: "email", image: "business_logo",
		}.user,
	}), func(own *pintle.OAuth, tokens pintle.Profile) (apiRequest, error) {
		e, err := inPath(own.UserInfo, tokens, "stripe_user_id")
		return apiRequest{endpoint: e}.bearer(tokens), err
	})
}
