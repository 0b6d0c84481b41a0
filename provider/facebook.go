package provider

import (
	"cmp"

	"github.com/pintleauth/pintle"
)

// FacebookOptions are the options of [Facebook].
type FacebookOptions struct {
	Options

	// Version is the version of the Graph API, "v24.0" if empty. Versions live
	// for two years.
	Version string
}

// Facebook signs users in with their Facebook account.
//
// Register the callback URL /auth/callback/facebook as a valid OAuth redirect
// URI. Variables: AUTH_FACEBOOK_ID and AUTH_FACEBOOK_SECRET. Users who signed up
// with a telephone number have no address.
//
// https://developers.facebook.com/docs/facebook-login/guides/advanced/manual-flow
func Facebook(o FacebookOptions) *pintle.OAuth {
	return o.applySeparated(&pintle.OAuth{
		ID: "facebook", Name: "Facebook",
		Authorization: endpoint("https://www.facebook.com/"+cmp.Or(o.Version, "v24.0")+"/dialog/oauth", "scope", "email"),
		Token:         endpoint("https://graph.facebook.com/oauth/access_token"),
		UserInfo:      endpoint("https://graph.facebook.com/me", "fields", "id,name,email,picture"),
		Profile:       claims{id: "id", name: "name", email: "email", image: "picture!.data!.url"}.user,
	}, ",")
}
