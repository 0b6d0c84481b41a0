package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// LastFM signs users in with their Last.fm account. Last.fm has a proprietary
// protocol, which this provider adapts to OAuth 2.
//
// Register the callback URL /auth/callback/lastfm. Variables: AUTH_LASTFM_ID and
// AUTH_LASTFM_SECRET, the API key and the shared secret. The service returns no
// address. Its session key does not expire. The account id is the one Last.fm
// returns, or else made of the name and the time of the registration: a name that
// was given up can be registered by another user.
//
// https://www.last.fm/api/webauth
func LastFM(o Options) *pintle.OAuth {
	return withProfileRequest(o.apply(&pintle.OAuth{
		ID: "lastfm", Name: "Last.fm",
		Authorization: endpoint("https://www.last.fm/api/auth/", "scope", ""),
		Token:         endpoint("https://ws.audioscrobbler.com/2.0/"),
		UserInfo:      endpoint("https://ws.audioscrobbler.com/2.0/"),
		Checks:        []oauth.Check{oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "user!.id|id", name: "user.realname||user.name", image: "user.image.3.#text"}.user,
		Quirks: oauth.Quirks{
			TokenTypeOptional: true, Leave: lastfmLeave, Return: lastfmReturn, Exchange: lastfmSession,
			AmendProfile: lastfmName,
		},
	}), lastfmRequest)
}
