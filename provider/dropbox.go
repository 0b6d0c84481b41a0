package provider

import (
	"net/http"

	"github.com/pintleauth/pintle"
)

// Dropbox signs users in with their Dropbox account.
//
// Register the callback URL /auth/callback/dropbox. Variables: AUTH_DROPBOX_ID
// and AUTH_DROPBOX_SECRET.
//
// https://developers.dropbox.com/oauth-guide
func Dropbox(o Options) *pintle.OAuth {
	return withProfileRequest(o.apply(&pintle.OAuth{
		ID: "dropbox", Name: "Dropbox",
		Authorization: endpoint("https://www.dropbox.com/oauth2/authorize", "token_access_type", "offline", "scope", "account_info.read"),
		Token:         endpoint("https://api.dropboxapi.com/oauth2/token"),
		UserInfo:      endpoint("https://api.dropboxapi.com/2/users/get_current_account"),
		Profile:       claims{id: "account_id", name: "name!.display_name", email: "email", image: "profile_photo_url"}.user,
		// https://www.dropbox.com/developers/documentation/http/documentation#users-get_current_account
		EmailVerified: saysVerified("email_verified"),
	}), func(own *pintle.OAuth, tokens pintle.Profile) (apiRequest, error) {
		return apiRequest{method: http.MethodPost, endpoint: own.UserInfo}.bearer(tokens), nil
	})
}
