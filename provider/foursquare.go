package provider

import (
	"cmp"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// FoursquareOptions are the options of [Foursquare].
type FoursquareOptions struct {
	Options

	// APIVersion is the date of the API's version, such as 20230131, which is
	// the default.
	APIVersion string
}

// Foursquare signs users in with their Foursquare account.
//
// Register the callback URL /auth/callback/foursquare. Variables:
// AUTH_FOURSQUARE_ID and AUTH_FOURSQUARE_SECRET. It is not known whether version 2
// of the API still works.
//
// https://docs.foursquare.com/developer/reference/authentication
func Foursquare(o FoursquareOptions) *pintle.OAuth {
	return tokenInQuery(o.apply(&pintle.OAuth{
		ID: "foursquare", Name: "Foursquare",
		Authorization: endpoint("https://foursquare.com/oauth2/authenticate", "scope", ""),
		Token:         endpoint("https://foursquare.com/oauth2/access_token"),
		UserInfo:      endpoint("https://api.foursquare.com/v2/users/self", "v", cmp.Or(o.APIVersion, "20230131")),
		Profile: claims{
			id: "response!.user!.id", name: "response.user.firstName+response.user.lastName",
			email:   "response.user.contact!.email",
			picture: template("{response.user.photo.prefix}original{response.user.photo.suffix}"),
		}.user,
		Quirks: oauth.Quirks{TokenTypeOptional: true},
	}), "oauth_token")
}
