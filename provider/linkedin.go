package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// LinkedIn signs users in with their LinkedIn account.
//
// Register the callback URL /auth/callback/linkedin. Variables:
// AUTH_LINKEDIN_ID and AUTH_LINKEDIN_SECRET. The application needs the product
// "Sign In with LinkedIn using OpenID Connect".
//
// https://learn.microsoft.com/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2
func LinkedIn(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "linkedin", Name: "LinkedIn", Protocol: oauth.OIDC,
		Issuer:     "https://www.linkedin.com/oauth",
		Checks:     []oauth.Check{oauth.CheckState},
		ClientAuth: "client_secret_post",
		// https://learn.microsoft.com/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2#id-token-payload
		EmailVerified: saysVerified("email_verified"),
	})
}
