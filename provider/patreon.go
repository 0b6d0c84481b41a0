package provider

import "github.com/pintleauth/pintle"

// Patreon signs users in with their Patreon account.
//
// Register the callback URL /auth/callback/patreon. Variables: AUTH_PATREON_ID
// and AUTH_PATREON_SECRET.
//
// https://docs.patreon.com/#oauth
func Patreon(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "patreon", Name: "Patreon",
		Authorization: endpoint("https://www.patreon.com/oauth2/authorize", "scope", "identity identity[email]"),
		Token:         endpoint("https://www.patreon.com/api/oauth2/token"),
		UserInfo:      endpoint("https://www.patreon.com/api/oauth2/v2/identity", "fields[user]", "created,email,full_name,image_url,is_email_verified,vanity"),
		Profile:       claims{id: "data!.id", name: "data.attributes!.full_name", email: "data.attributes.email", image: "data.attributes.image_url"}.user,
		// https://docs.patreon.com/#user-v2
		EmailVerified: saysVerified("data.attributes.is_email_verified"),
	})
}
