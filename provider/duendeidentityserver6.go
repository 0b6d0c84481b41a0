package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// DuendeIdentityServer6 signs users in with an account of a Duende
// IdentityServer, version 6 or later.
//
// Register the callback URL /auth/callback/duende-identity-server6. Variables:
// AUTH_DUENDE_IDENTITY_SERVER6_ID, AUTH_DUENDE_IDENTITY_SERVER6_SECRET and
// AUTH_DUENDE_IDENTITY_SERVER6_ISSUER. Set Issuer to the address of the server.
//
// https://docs.duendesoftware.com/identityserver/
func DuendeIdentityServer6(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "duende-identity-server6", Name: "DuendeIdentityServer6", Protocol: oauth.OIDC,
	})
}
