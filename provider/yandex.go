package provider

import "github.com/pintleauth/pintle"

// Yandex signs users in with their Yandex account.
//
// Register the callback URL /auth/callback/yandex. Variables: AUTH_YANDEX_ID
// and AUTH_YANDEX_SECRET.
//
// https://yandex.com/dev/id/doc/en/
func Yandex(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "yandex", Name: "Yandex",
		Authorization: endpoint("https://oauth.yandex.ru/authorize", "scope", "login:info login:email login:avatar"),
		Token:         endpoint("https://oauth.yandex.ru/token"),
		UserInfo:      endpoint("https://login.yandex.ru/info", "format", "json"),
		Profile: claims{
			id: "id", name: "display_name|real_name|first_name", email: "default_email|emails.0|null",
			picture: func(p pintle.Profile) (any, error) {
				if p.Bool("is_avatar_empty") {
					return nil, nil // null: the user has no picture
				}
				return template("https://avatars.yandex.net/get-yapic/{default_avatar_id}/islands-200")(p)
			},
		}.user,
	})
}
