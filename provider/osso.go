package provider

import "github.com/pintleauth/pintle"

// Osso signs users in with SAML through an Osso server.
//
// Register the callback URL /auth/callback/osso. Variables: AUTH_OSSO_ID,
// AUTH_OSSO_SECRET and AUTH_OSSO_ISSUER. Set Issuer to the address of the
// server.
//
// https://github.com/enterprise-oss/osso
func Osso(o Options) *pintle.OAuth {
	return onServer(o.apply(&pintle.OAuth{
		ID: "osso", Name: "Osso",
		Authorization: endpoint("/oauth/authorize", "scope", ""),
		Token:         endpoint("/oauth/token"),
		UserInfo:      endpoint("/oauth/me"),
		Profile:       claims{id: "sub|id", name: "name|nickname|preferred_username", email: "email", image: "picture"}.user,
	}), "")
}
