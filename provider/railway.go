package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Railway signs users in with their Railway account.
//
// Register the callback URL /auth/callback/railway. Variables: AUTH_RAILWAY_ID
// and AUTH_RAILWAY_SECRET.
//
// https://docs.railway.com/integrations/oauth
func Railway(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "railway", Name: "Railway",
		Authorization: endpoint("https://backboard.railway.com/oauth/auth", "scope", "openid email profile"),
		Token:         endpoint("https://backboard.railway.com/oauth/token"),
		UserInfo:      endpoint("https://backboard.railway.com/oauth/me"),
		Checks:        []oauth.Check{oauth.CheckPKCE, oauth.CheckState},
		Profile:       claims{id: "sub", name: "name", email: "email", image: "picture"}.user,
	})
}
