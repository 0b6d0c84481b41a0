package provider

import (
	"net/url"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Auth0 signs users in with their Auth0 account.
//
// Register the callback URL /auth/callback/auth0. Variables: AUTH_AUTH0_ID,
// AUTH_AUTH0_SECRET and AUTH_AUTH0_ISSUER. Set Issuer to
// https://TENANT.auth0.com.
//
// With EndSessionAtProvider the browser goes to ISSUER/v2/logout, which every tenant has:
// register the URL /auth/signout/auth0 among the allowed logout URLs of the application.
// Set EndSession.URL to the tenant's end session endpoint for the parameters of the standard.
//
// https://auth0.com/docs/get-started/authentication-and-authorization-flow/authorization-code-flow
func Auth0(o Options) *pintle.OAuth {
	return leaving(o.apply(&pintle.OAuth{
		ID: "auth0", Name: "Auth0", Protocol: oauth.OIDC,
		// https://auth0.com/docs/manage-users/user-accounts/user-profiles/verified-email-usage
		EmailVerified: o.trusted(saysVerified("email_verified")),
	}), "v2/logout", auth0Logout)
}

// auth0Logout has the state in the query of the URL to return to, which Auth0 does not
// compare with those that are registered.
//
// https://auth0.com/docs/authenticate/login/logout/redirect-users-after-logout
func auth0Logout(q url.Values) error {
	state, back := take(q, "state"), take(q, "post_logout_redirect_uri")
	q.Del("id_token_hint")
	if back == "" {
		return nil
	}
	u, err := url.Parse(back)
	if err != nil {
		return err
	}
	params := u.Query()
	params.Set("state", state)
	u.RawQuery = params.Encode()
	q.Set("returnTo", u.String())
	return nil
}
