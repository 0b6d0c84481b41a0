package provider

import "github.com/pintleauth/pintle"

// Zoom signs users in with their Zoom account.
//
// Register the callback URL /auth/callback/zoom. Variables: AUTH_ZOOM_ID and
// AUTH_ZOOM_SECRET. The consent of users is configured in the marketplace.
//
// https://developers.zoom.us/docs/integrations/oauth/
func Zoom(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "zoom", Name: "Zoom",
		Authorization: endpoint("https://zoom.us/oauth/authorize", "scope", ""),
		Token:         endpoint("https://zoom.us/oauth/token"),
		UserInfo:      endpoint("https://api.zoom.us/v2/users/me"),
		Profile:       claims{id: "id", name: "first_name+last_name", email: "email", image: "pic_url"}.user,
		// https://developers.zoom.us/docs/api/users/#tag/users/get/users/{userId}
		EmailVerified: saysOne("verified"),
	})
}
