package provider

import "github.com/pintleauth/pintle"

// WordPress signs users in with their WordPress.com account.
//
// Register the callback URL /auth/callback/wordpress. Variables:
// AUTH_WORDPRESS_ID and AUTH_WORDPRESS_SECRET.
//
// https://developer.wordpress.com/docs/oauth2/
func WordPress(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "wordpress", Name: "WordPress.com",
		Authorization: endpoint("https://public-api.wordpress.com/oauth2/authorize", "scope", "auth"),
		Token:         endpoint("https://public-api.wordpress.com/oauth2/token"),
		UserInfo:      endpoint("https://public-api.wordpress.com/rest/v1/me"),
		Profile:       claims{id: "ID", name: "display_name", email: "email", image: "avatar_URL"}.user,
	})
}
