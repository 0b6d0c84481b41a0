package provider

import (
	"context"
	"encoding/base64"
	"net/http"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Intercom signs users in with their Intercom account.
//
// Register the callback URL /auth/callback/intercom. Variables: AUTH_INTERCOM_ID
// and AUTH_INTERCOM_SECRET.
//
// https://developers.intercom.com/docs/build-an-integration/learn-more/authentication/setting-up-oauth
func Intercom(o Options) *pintle.OAuth {
	return withProfileRequest(o.apply(&pintle.OAuth{
		ID: "intercom", Name: "Intercom",
		Authorization: endpoint("https://app.intercom.io/oauth", "scope", ""),
		Token:         endpoint("https://api.intercom.io/auth/eagle/token"),
		UserInfo:      endpoint("https://api.intercom.io/me"),
		Checks:        []oauth.Check{oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "id", name: "name", email: "email", image: "avatar.image_url"}.user,
		Quirks:        oauth.Quirks{TokenTypeOptional: true, AmendProfile: intercomAddress},
		// https://developers.intercom.com/docs/references/rest-api/api.intercom.io/admins/admin
		EmailVerified: saysVerified("email_verified"),
	}), func(own *pintle.OAuth, tokens pintle.Profile) (apiRequest, error) {
		user := base64.StdEncoding.EncodeToString([]byte(tokens.Text("access_token") + ":"))
		return apiRequest{endpoint: own.UserInfo}.with("Authorization", "Basic "+user), nil
	})
}

// intercomAddress leaves out an address that Intercom marks as unverified.
func intercomAddress(_ context.Context, _ *http.Client, a *oauth.Answer) error {
	if a.Profile["email_verified"] == false {
		delete(a.Profile, "email")
	}
	return nil
}
