package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// IdentityServer4 signs users in with an account of an IdentityServer4.
//
// Register the callback URL /auth/callback/identity-server4. Variables:
// AUTH_IDENTITY_SERVER4_ID, AUTH_IDENTITY_SERVER4_SECRET and
// AUTH_IDENTITY_SERVER4_ISSUER. Set Issuer to the address of the server.
//
// https://identityserver4.readthedocs.io/
//
// Deprecated: IdentityServer4 has been without support since the end of 2022;
// its successor is [DuendeIdentityServer6].
func IdentityServer4(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "identity-server4", Name: "IdentityServer4", Protocol: oauth.OIDC,
	})
}
