package provider

import (
	"cmp"

	"github.com/pintleauth/pintle"
)

// WebexOptions are the options of [Webex].
type WebexOptions struct {
	Options

	// APIBaseURL is the address of the API, "https://webexapis.com/v1" if empty.
	APIBaseURL string
}

// Webex signs users in with their Webex account.
//
// Register the callback URL /auth/callback/webex. Variables: AUTH_WEBEX_ID and
// AUTH_WEBEX_SECRET.
//
// https://developer.webex.com/docs/integrations
func Webex(o WebexOptions) *pintle.OAuth {
	api := cmp.Or(o.APIBaseURL, "https://webexapis.com/v1")
	return o.apply(&pintle.OAuth{
		ID: "webex", Name: "Webex",
		Authorization: endpoint(api+"/authorize", "scope", "spark:kms spark:people_read"),
		Token:         endpoint(api + "/access_token"),
		UserInfo:      endpoint(api + "/people/me"),
		Profile:       claims{id: "id", name: "displayName", email: "emails!.0", image: "avatar"}.user,
	})
}
