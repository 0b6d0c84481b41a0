package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Keycloak signs users in with their Keycloak account.
//
// Register the callback URL /auth/callback/keycloak. Variables:
// AUTH_KEYCLOAK_ID, AUTH_KEYCLOAK_SECRET and AUTH_KEYCLOAK_ISSUER. Set Issuer
// to https://HOST/realms/REALM.
//
// https://www.keycloak.org/securing-apps/oidc-layers
func Keycloak(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "keycloak", Name: "Keycloak", Protocol: oauth.OIDC,
		// The realm decides how addresses are verified.
		// https://www.keycloak.org/docs/latest/server_admin/#_client_scopes_protocol
		EmailVerified: o.trusted(saysVerified("email_verified")),
	})
}
