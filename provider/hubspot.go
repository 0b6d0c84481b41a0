package provider

import (
	"net/url"

	"github.com/pintleauth/pintle"
)

// HubSpot signs users in with their HubSpot account.
//
// Register the callback URL /auth/callback/hubspot. Variables: AUTH_HUBSPOT_ID
// and AUTH_HUBSPOT_SECRET. The endpoints are those of version 1, which stop on
// 16 February 2027.
//
// https://developers.hubspot.com/docs/guides/api/app-management/oauth-tokens
func HubSpot(o Options) *pintle.OAuth {
	return withProfileRequest(o.apply(&pintle.OAuth{
		ID: "hubspot", Name: "HubSpot",
		Authorization: endpoint("https://app.hubspot.com/oauth/authorize", "scope", "oauth"),
		Token:         endpoint("https://api.hubapi.com/oauth/v1/token"),
		UserInfo:      endpoint("https://api.hubapi.com/oauth/v1/access-tokens"),
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "user_id", name: "user", email: "user", image: "null"}.user,
	}), func(own *pintle.OAuth, tokens pintle.Profile) (apiRequest, error) {
		e := own.UserInfo
		e.URL += "/" + url.PathEscape(tokens.Text("access_token"))
		return apiRequest{endpoint: e}, nil
	})
}
