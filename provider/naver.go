package provider

import "github.com/pintleauth/pintle"

// Naver signs users in with their Naver account.
//
// Register the callback URL /auth/callback/naver. Variables: AUTH_NAVER_ID and
// AUTH_NAVER_SECRET.
//
// https://developers.naver.com/docs/login/api/api.md
func Naver(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "naver", Name: "Naver",
		Authorization: endpoint("https://nid.naver.com/oauth2.0/authorize", "scope", ""),
		Token:         endpoint("https://nid.naver.com/oauth2.0/token"),
		UserInfo:      endpoint("https://openapi.naver.com/v1/nid/me"),
		Profile:       claims{id: "response!.id", name: "response.nickname", email: "response.email", image: "response.profile_image"}.user,
	})
}
