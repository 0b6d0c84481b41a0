package provider

import "github.com/pintleauth/pintle"

// Wikimedia signs users in with their Wikimedia account.
//
// Register the callback URL /auth/callback/wikimedia. Variables:
// AUTH_WIKIMEDIA_ID and AUTH_WIKIMEDIA_SECRET.
//
// https://www.mediawiki.org/wiki/OAuth/For_Developers
func Wikimedia(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "wikimedia", Name: "Wikimedia",
		Authorization: endpoint("https://meta.wikimedia.org/w/rest.php/oauth2/authorize", "scope", ""),
		Token:         endpoint("https://meta.wikimedia.org/w/rest.php/oauth2/access_token"),
		UserInfo:      endpoint("https://meta.wikimedia.org/w/rest.php/oauth2/resource/profile"),
		Profile:       claims{id: "sub", name: "username", email: "email", image: "null"}.user,
		// https://www.mediawiki.org/wiki/OAuth/For_Developers#Identify_the_user
		EmailVerified: saysVerified("confirmed_email"),
	})
}
