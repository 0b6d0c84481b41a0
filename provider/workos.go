package provider

import "github.com/pintleauth/pintle"

// WorkOSOptions are the options of [WorkOS].
type WorkOSOptions struct {
	Options

	// Connection is the connection for sign-in. Without it set one of
	// organization, provider and domain in Authorization.Params, or send it with
	// the request that begins the sign-in.
	Connection string
}

// WorkOS signs users in with the identity provider of their company, through
// WorkOS.
//
// Register the callback URL /auth/callback/workos. Variables: AUTH_WORKOS_ID,
// AUTH_WORKOS_SECRET and AUTH_WORKOS_ISSUER, which is https://api.workos.com if
// empty; the secret is the API key.
//
// https://workos.com/docs/reference/sso
func WorkOS(o WorkOSOptions) *pintle.OAuth {
	return onServer(o.apply(&pintle.OAuth{
		ID: "workos", Name: "WorkOS",
		Authorization: endpoint("/sso/authorize", "connection", o.Connection, "scope", ""),
		Token:         endpoint("/sso/token"),
		UserInfo:      endpoint("/sso/profile"),
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "id", name: "first_name+last_name", email: "email", image: "raw_attributes!.picture|null"}.user,
	}), "https://api.workos.com")
}
