package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Passage signs users in with their Passage account.
//
// Register the callback URL /auth/callback/passage. Variables: AUTH_PASSAGE_ID,
// AUTH_PASSAGE_SECRET and AUTH_PASSAGE_ISSUER. Set Issuer to that of the
// application.
//
// https://passage.1password.com/
//
// Deprecated: Passage by 1Password was shut down in January 2026.
func Passage(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "passage", Name: "Passage", Protocol: oauth.OIDC,
		ClientAuth: "client_secret_basic",
	})
}
