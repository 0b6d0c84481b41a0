package provider

import "github.com/pintleauth/pintle"

// FortyTwoSchool signs users in with their 42 intranet account.
//
// Register the callback URL /auth/callback/42-school. Variables:
// AUTH_42_SCHOOL_ID and AUTH_42_SCHOOL_SECRET.
//
// https://api.intra.42.fr/apidoc/guides/web_application_flow
func FortyTwoSchool(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "42-school", Name: "42 School",
		Authorization: endpoint("https://api.intra.42.fr/oauth/authorize", "scope", "public"),
		Token:         endpoint("https://api.intra.42.fr/oauth/token"),
		UserInfo:      endpoint("https://api.intra.42.fr/v2/me"),
		Profile:       claims{id: "id", name: "usual_full_name", email: "email", image: "image!.link"}.user,
	})
}
