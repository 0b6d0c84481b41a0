package provider

import "github.com/pintleauth/pintle"

// LastFM signs people in with their Last.fm account. Last.fm has a protocol of
// its own, which is made to look like OAuth 2.
//
// Register the callback URL /auth/callback/lastfm. Variables: AUTH_LASTFM_ID and
// AUTH_LASTFM_SECRET, the API key and the shared secret. The service tells no
// address. Its session key does not expire. The account id is the one Last.fm
// tells, or else made of the name and the time of the registration: a name that
// was given up can be taken by another person.
//
// https://www.last.fm/api/webauth
func LastFM(o Options) *pintle.OAuth {
	return asking(o.apply(&pintle.OAuth{
		ID: "lastfm", Name: "Last.fm",
		Authorization: endpoint("https://www.last.fm/api/auth/", "scope", ""),
		Token:         endpoint("https://ws.audioscrobbler.com/2.0/"),
		UserInfo:      endpoint("https://ws.audioscrobbler.com/2.0/"),
		Checks:        []pintle.Check{pintle.State},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "user!.id|id", name: "user.realname||user.name", image: "user.image.3.#text"}.user,
		Quirks: pintle.Quirks{
			TokenTypeOptional: true, Leave: lastfmLeave, Return: lastfmReturn, Exchange: lastfmSession,
			AmendProfile: lastfmName,
		},
	}), lastfmQuestion)
}
