package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// OneDrive signs users in with their Microsoft account.
//
// Register the callback URL /auth/callback/onedrive. Variables:
// AUTH_ONEDRIVE_ID and AUTH_ONEDRIVE_SECRET.
//
// https://learn.microsoft.com/onedrive/developer/rest-api/getting-started/msa-oauth
//
// Deprecated: the Live Connect API was shut down; use [MicrosoftEntraID].
func OneDrive(o Options) *pintle.OAuth {
	return tokenInQuery(o.apply(&pintle.OAuth{
		ID: "onedrive", Name: "OneDrive (Live Connect)",
		Authorization: endpoint("https://login.live.com/oauth20_authorize.srf", "scope", "wl.signin wl.emails wl.offline_access"),
		Token:         endpoint("https://login.live.com/oauth20_token.srf"),
		UserInfo:      endpoint("https://apis.live.net/v5.0/me"),
		Checks:        []oauth.Check{oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "id", name: "name", email: "emails.account"}.user,
	}), "access_token")
}
