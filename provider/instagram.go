package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Instagram signs users in with their Instagram account.
//
// Register the callback URL /auth/callback/instagram. Variables:
// AUTH_INSTAGRAM_ID and AUTH_INSTAGRAM_SECRET. The service returns no address.
//
// https://developers.facebook.com/docs/instagram-platform/
//
// Deprecated: the Basic Display API ended in December 2024. The Instagram API
// with Instagram Login serves professional accounts only, with the scope
// instagram_business_basic; use [Facebook] for private ones.
func Instagram(o Options) *pintle.OAuth {
	return o.applySeparated(&pintle.OAuth{
		ID: "instagram", Name: "Instagram",
		Authorization: endpoint("https://api.instagram.com/oauth/authorize", "scope", "user_profile"),
		Token:         endpoint("https://api.instagram.com/oauth/access_token"),
		UserInfo:      endpoint("https://graph.instagram.com/me", "fields", "id,username,account_type,name"),
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "id", name: "username", email: "null", image: "null"}.user,
		Quirks:        oauth.Quirks{TokenTypeOptional: true},
	}, ",")
}
