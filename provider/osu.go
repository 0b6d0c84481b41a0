package provider

import "github.com/pintleauth/pintle"

// Osu signs users in with their osu! account.
//
// Register the callback URL /auth/callback/osu. Variables: AUTH_OSU_ID and
// AUTH_OSU_SECRET. The service returns no address.
//
// https://osu.ppy.sh/docs/#authentication
func Osu(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "osu", Name: "osu!",
		Authorization: endpoint("https://osu.ppy.sh/oauth/authorize", "scope", "identify"),
		Token:         endpoint("https://osu.ppy.sh/oauth/token"),
		UserInfo:      endpoint("https://osu.ppy.sh/api/v2/me"),
		Profile:       claims{id: "id", name: "username", email: "null", image: "avatar_url"}.user,
	})
}
