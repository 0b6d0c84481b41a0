package provider

import "github.com/pintleauth/pintle"

// Deezer signs people in with their Deezer account.
//
// Register the callback URL /auth/callback/deezer. Variables: AUTH_DEEZER_ID and
// AUTH_DEEZER_SECRET. New applications are reported to be no longer accepted.
//
// https://developers.deezer.com/api/oauth
func Deezer(o Options) *pintle.OAuth {
	return tokenInQuery(o.applySeparated(&pintle.OAuth{
		ID: "deezer", Name: "Deezer",
		Authorization: endpoint("https://connect.deezer.com/oauth/auth.php", "scope", "email"),
		Token:         endpoint("https://connect.deezer.com/oauth/access_token.php", "output", "json"),
		UserInfo:      endpoint("https://api.deezer.com/user/me"),
		Checks:        []pintle.Check{pintle.State},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "id", name: "name", email: "email", image: "picture"}.user,
		Quirks:        pintle.Quirks{TokenTypeOptional: true, TokenResponse: deezerExpiry},
	}, ","), "access_token")
}

// deezerExpiry gives the lifetime of a token its usual name.
func deezerExpiry(r *pintle.TokenResponse) error {
	rename(r, map[string]string{"expires": "expires_in"})
	return nil
}
