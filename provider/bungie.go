package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// BungieOptions are the options of [Bungie].
type BungieOptions struct {
	Options

	// APIKey is the key of the application. Bungie requires it in requests for
	// profiles.
	APIKey string
}

// Bungie signs users in with their Bungie account.
//
// Register the callback URL /auth/callback/bungie. Variables: AUTH_BUNGIE_ID and
// AUTH_BUNGIE_SECRET. The service returns no address.
//
// https://github.com/Bungie-net/api/wiki/OAuth-Documentation
func Bungie(o BungieOptions) *pintle.OAuth {
	return withProfileRequest(o.apply(&pintle.OAuth{
		ID: "bungie", Name: "Bungie",
		Authorization: endpoint("https://www.bungie.net/en/OAuth/Authorize", "reauth", "true", "scope", ""),
		Token:         endpoint("https://www.bungie.net/platform/app/oauth/token/"),
		UserInfo:      endpoint("https://www.bungie.net/platform/User/GetBungieAccount"),
		Checks:        []oauth.Check{oauth.CheckPKCE, oauth.CheckState},
		Profile: claims{
			id: "Response.bungieNetUser.membershipId", name: "Response.bungieNetUser.displayName", email: "null",
			picture: bungiePicture,
		}.user,
	}), func(own *pintle.OAuth, tokens pintle.Profile) (apiRequest, error) {
		e, err := inPath(own.UserInfo, tokens, "membership_id")
		e.URL += "/254/" // the membership type of Bungie itself
		return apiRequest{endpoint: e, header: map[string]string{"X-API-Key": o.APIKey}}.bearer(tokens), err
	})
}

func bungiePicture(p pintle.Profile) (any, error) {
	path, err := find(p, "Response.bungieNetUser.profilePicturePath!")
	if text, _ := path.value.(string); err == nil && text != "" && text[0] != '/' {
		return "https://www.bungie.net/" + text, nil
	}
	if err != nil {
		return nil, err
	}
	return template("https://www.bungie.net{Response.bungieNetUser.profilePicturePath}")(p)
}
