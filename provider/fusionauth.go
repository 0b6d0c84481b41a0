package provider

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// FusionAuthOptions are the options of [FusionAuth].
type FusionAuthOptions struct {
	Options

	// TenantID is the tenant, for a client that serves several.
	TenantID string
}

// FusionAuth signs users in with an account of a FusionAuth server.
//
// Register the callback URL /auth/callback/fusionauth. Variables:
// AUTH_FUSIONAUTH_ID, AUTH_FUSIONAUTH_SECRET and AUTH_FUSIONAUTH_ISSUER. Set
// Issuer to the address of the server, and in its tenant the issuer to the same.
//
// https://fusionauth.io/docs/lifecycle/authenticate-users/oauth/endpoints
func FusionAuth(o FusionAuthOptions) *pintle.OAuth {
	p := o.apply(&pintle.OAuth{
		ID: "fusionauth", Name: "FusionAuth", Protocol: oauth.OIDC,
		Authorization: endpoint("", "scope", "openid offline_access email profile"),
		Token:         endpoint("/oauth2/token"),
		Checks:        []oauth.Check{oauth.CheckPKCE, oauth.CheckState},
		Profile: claims{
			id: "sub", name: "name|preferred_username|given_name+middle_name+family_name",
			email: "email", image: "picture",
		}.user,
		Quirks: oauth.Quirks{TokenResponse: dropChallenge},
	})
	return completing(onServer(p, ""), func(own *pintle.OAuth) error {
		if o.TenantID != "" {
			own.Authorization.Params["tenantId"] = o.TenantID
			own.WellKnown = strings.TrimRight(own.Issuer, "/") + "/.well-known/openid-configuration?tenantId=" + url.QueryEscape(o.TenantID)
		}
		return nil
	})
}

// dropChallenge removes the challenge from a successful response.
func dropChallenge(r *oauth.TokenResponse) error {
	if r.Status != http.StatusUnauthorized {
		r.Header.Del("WWW-Authenticate")
	}
	return nil
}
