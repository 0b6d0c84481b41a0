package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// LINE signs users in with their LINE account.
//
// Register the callback URL /auth/callback/line. Variables: AUTH_LINE_ID and
// AUTH_LINE_SECRET. ClientID and ClientSecret are those of the channel, which
// needs an additional permission for addresses.
//
// https://developers.line.biz/en/docs/line-login/integrate-line-login/
func LINE(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "line", Name: "LINE", Protocol: oauth.OIDC,
		Issuer: "https://access.line.me",
		Checks: []oauth.Check{oauth.CheckState},
		// ID tokens are signed with the secret of the channel.
		SigningAlg: "HS256",
	})
}
