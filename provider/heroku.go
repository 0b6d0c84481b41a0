package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Heroku signs users in with their Heroku account.
//
// Register the callback URL /auth/callback/heroku. Variables: AUTH_HEROKU_ID
// and AUTH_HEROKU_SECRET.
//
// https://devcenter.heroku.com/articles/oauth
func Heroku(o Options) *pintle.OAuth {
	return withHeaders(o.apply(&pintle.OAuth{
		ID: "heroku", Name: "Heroku",
		Authorization: endpoint("https://id.heroku.com/oauth/authorize", "scope", "identity"),
		Token:         endpoint("https://id.heroku.com/oauth/token"),
		UserInfo:      endpoint("https://api.heroku.com/account"),
		Checks:        []oauth.Check{oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "id", name: "name", email: "email"}.user,
	}), map[string]string{"Accept": "application/vnd.heroku+json; version=3"})
}
