package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Deezer signs users in with their Deezer account.
//
// Register the callback URL /auth/callback/deezer. Variables: AUTH_DEEZER_ID and
// AUTH_DEEZER_SECRET. Deezer is reported to accept no new applications.
//
// https://developers.deezer.com/api/oauth
func Deezer(o Options) *pintle.OAuth {
	return tokenInQuery(o.applySeparated(&pintle.OAuth{
		ID: "deezer", Name: "Deezer",
		Authorization: endpoint("https://connect.deezer.com/oauth/auth.php", "scope", "email"),
		Token:         endpoint("https://connect.deezer.com/oauth/access_token.php", "output", "json"),
		UserInfo:      endpoint("https://api.deezer.com/user/me"),
		Checks:        []oauth.Check{oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "id", name: "name", email: "email", image: "picture"}.user,
		Quirks:        oauth.Quirks{TokenTypeOptional: true, TokenResponse: deezerExpiry},
	}, ","), "access_token")
}

// deezerExpiry renames the lifetime of a token to expires_in.
func deezerExpiry(r *oauth.TokenResponse) error {
	rename(r, map[string]string{"expires": "expires_in"})
	return nil
}
