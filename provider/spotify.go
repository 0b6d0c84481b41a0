package provider

import "github.com/pintleauth/pintle"

// Spotify signs users in with their Spotify account.
//
// Register the callback URL /auth/callback/spotify. Variables: AUTH_SPOTIFY_ID
// and AUTH_SPOTIFY_SECRET. An application in development mode gets no address.
//
// https://developer.spotify.com/documentation/web-api/tutorials/code-flow
func Spotify(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "spotify", Name: "Spotify",
		Authorization: endpoint("https://accounts.spotify.com/authorize", "scope", "user-read-email"),
		Token:         endpoint("https://accounts.spotify.com/api/token"),
		UserInfo:      endpoint("https://api.spotify.com/v1/me"),
		Profile:       claims{id: "id", name: "display_name", email: "email", image: "images.0.url"}.user,
		// Spotify calls the address unverified, so there is no EmailVerified:
		// https://developer.spotify.com/documentation/web-api/reference/get-current-users-profile
	})
}
