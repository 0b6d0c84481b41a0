package provider

import "github.com/pintleauth/pintle"

// TraktOptions are the options of [Trakt].
type TraktOptions struct {
	Options

	// LegacyAccountID makes the name in the address of the profile the id of the
	// account, as Auth.js does. Set it only for a database shared with Auth.js or
	// moved from it: the name follows the user name, which can be given up, and
	// its next owner then signs in as the user who had it before.
	LegacyAccountID bool
}

// Trakt signs users in with their Trakt account.
//
// Register the callback URL /auth/callback/trakt. Variables: AUTH_TRAKT_ID and
// AUTH_TRAKT_SECRET. The service returns no address.
//
// https://trakt.docs.apiary.io/#reference/authentication-oauth
func Trakt(o TraktOptions) *pintle.OAuth {
	id := "ids!.uuid"
	if o.LegacyAccountID {
		id = "ids!.slug"
	}
	return withProfileRequest(o.apply(&pintle.OAuth{
		ID: "trakt", Name: "Trakt",
		Authorization: endpoint("https://trakt.tv/oauth/authorize", "scope", ""),
		Token:         endpoint("https://api.trakt.tv/oauth/token"),
		UserInfo:      endpoint("https://api.trakt.tv/users/me", "extended", "full"),
		Profile:       claims{id: id, name: "name", email: "null", image: "images!.avatar!.full"}.user,
	}), func(own *pintle.OAuth, tokens pintle.Profile) (apiRequest, error) {
		return apiRequest{endpoint: own.UserInfo, header: map[string]string{
			"trakt-api-version": "2", "trakt-api-key": own.ClientID, "User-Agent": userAgent,
		}}.bearer(tokens), nil
	})
}
