package provider

import "github.com/pintleauth/pintle"

// Kakao signs users in with their Kakao account.
//
// Register the callback URL /auth/callback/kakao. Variables: AUTH_KAKAO_ID and
// AUTH_KAKAO_SECRET. The consent of users is configured in the console of the
// application, not by scopes.
//
// https://developers.kakao.com/docs/latest/en/kakaologin/rest-api
func Kakao(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "kakao", Name: "Kakao",
		Authorization: endpoint("https://kauth.kakao.com/oauth/authorize", "scope", ""),
		Token:         endpoint("https://kauth.kakao.com/oauth/token"),
		UserInfo:      endpoint("https://kapi.kakao.com/v2/user/me"),
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "id", name: "kakao_account.profile.nickname", email: "kakao_account.email", image: "kakao_account.profile.profile_image_url"}.user,
		// An address that became another account's is no longer valid.
		// https://developers.kakao.com/docs/latest/en/kakaologin/rest-api#kakaoaccount
		EmailVerified: bothVerified(saysVerified("kakao_account.is_email_valid"), saysVerified("kakao_account.is_email_verified")),
	})
}
