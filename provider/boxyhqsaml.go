package provider

import "github.com/pintleauth/pintle"

// BoxyHQSAML signs users in with SAML through SAML Jackson, which is now
// called Ory Polis.
//
// Register the callback URL /auth/callback/boxyhq-saml. Variables:
// AUTH_BOXYHQ_SAML_ID, AUTH_BOXYHQ_SAML_SECRET and AUTH_BOXYHQ_SAML_ISSUER. Set
// Issuer to the address of the instance. Select tenant and product by these
// parameters in Authorization.Params, or by client id and secret of a connection.
//
// https://www.ory.sh/docs/polis
func BoxyHQSAML(o Options) *pintle.OAuth {
	return onServer(o.apply(&pintle.OAuth{
		ID: "boxyhq-saml", Name: "BoxyHQ SAML",
		Authorization: endpoint("/api/oauth/authorize", "provider", "saml", "scope", ""),
		Token:         endpoint("/api/oauth/token"),
		UserInfo:      endpoint("/api/oauth/userinfo"),
		Profile:       claims{id: "id", name: "firstName+lastName", email: "email", image: "null"}.user,
	}), "")
}
