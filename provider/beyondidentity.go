package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// BeyondIdentity signs users in with their Beyond Identity account.
//
// Register the callback URL /auth/callback/beyondidentity. Variables:
// AUTH_BEYONDIDENTITY_ID, AUTH_BEYONDIDENTITY_SECRET and
// AUTH_BEYONDIDENTITY_ISSUER. Set Issuer to that of your application.
//
// https://developer.beyondidentity.com/
func BeyondIdentity(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "beyondidentity", Name: "Beyond Identity", Protocol: oauth.OIDC,
		Profile: claims{
			id: "sub", name: "name", email: "email", image: "null",
			extra: map[string]string{"preferred_username": "preferred_username"},
		}.user,
	})
}
