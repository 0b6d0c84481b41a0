package provider

import "github.com/pintleauth/pintle"

// Trakt signs people in with their Trakt account.
//
// Register the callback URL /auth/callback/trakt. Variables: AUTH_TRAKT_ID and
// AUTH_TRAKT_SECRET. The service tells no address. The name in the address of the
// profile is the id, as in Auth.js: who changes it becomes somebody else.
//
// https://trakt.docs.apiary.io/#reference/authentication-oauth
func Trakt(o Options) *pintle.OAuth {
	return asking(o.apply(&pintle.OAuth{
		ID: "trakt", Name: "Trakt",
		Authorization: endpoint("https://trakt.tv/oauth/authorize", "scope", ""),
		Token:         endpoint("https://api.trakt.tv/oauth/token"),
		UserInfo:      endpoint("https://api.trakt.tv/users/me", "extended", "full"),
		Profile:       claims{id: "ids!.slug", name: "name", email: "null", image: "images!.avatar!.full"}.user,
	}), func(own *pintle.OAuth, tokens pintle.Profile) (question, error) {
		return question{endpoint: own.UserInfo, header: map[string]string{
			"trakt-api-version": "2", "trakt-api-key": own.ClientID, "User-Agent": userAgent,
		}}.bearer(tokens), nil
	})
}
