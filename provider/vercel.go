package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Vercel signs users in with their Vercel account.
//
// Register the callback URL /auth/callback/vercel. Variables: AUTH_VERCEL_ID
// and AUTH_VERCEL_SECRET. The requested permissions are configured in the console;
// Scopes narrows them.
//
// https://vercel.com/docs/sign-in-with-vercel
func Vercel(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "vercel", Name: "Vercel",
		Authorization: endpoint("https://vercel.com/oauth/authorize", "scope", ""),
		Token:         endpoint("https://api.vercel.com/login/oauth/token"),
		UserInfo:      endpoint("https://api.vercel.com/login/oauth/userinfo"),
		Checks:        []oauth.Check{oauth.CheckPKCE, oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "sub", name: "name|preferred_username", email: "email", image: "picture"}.user,
	})
}
