package provider

import "github.com/pintleauth/pintle"

// Netlify signs users in with their Netlify account.
//
// Register the callback URL /auth/callback/netlify. Variables: AUTH_NETLIFY_ID
// and AUTH_NETLIFY_SECRET.
//
// https://docs.netlify.com/api/get-started/#authentication
func Netlify(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "netlify", Name: "Netlify",
		Authorization: endpoint("https://app.netlify.com/authorize", "scope", ""),
		Token:         endpoint("https://api.netlify.com/oauth/token"),
		UserInfo:      endpoint("https://api.netlify.com/api/v1/user"),
		Profile:       claims{id: "id", name: "full_name", email: "email", image: "avatar_url"}.user,
	})
}
