package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Logto signs users in with their Logto account.
//
// Register the callback URL /auth/callback/logto. Variables: AUTH_LOGTO_ID,
// AUTH_LOGTO_SECRET and AUTH_LOGTO_ISSUER. Set Issuer to
// https://TENANT.logto.app/oidc.
//
// https://docs.logto.io/quick-starts/traditional
func Logto(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "logto", Name: "Logto", Protocol: oauth.OIDC,
		Authorization: endpoint("", "scope", "offline_access openid email profile"),
		Profile:       claims{id: "sub", name: "name|username", email: "email", image: "picture"}.user,
	})
}
