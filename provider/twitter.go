package provider

import (
	"fmt"
	"slices"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// TwitterOptions are the options of [Twitter].
type TwitterOptions struct {
	Options

	// Version is the version of OAuth: "2.0", or "1.0a" with the consumer key
	// and secret as ClientID and ClientSecret. Empty means "2.0".
	Version string
}

// Twitter signs users in with their X account.
//
// Register the callback URL /auth/callback/twitter. Variables: AUTH_TWITTER_ID
// and AUTH_TWITTER_SECRET. X returns an address only to an application with that
// permission; for OAuth 2.0 set Scopes to users.read, tweet.read and users.email
// as well.
//
// https://docs.x.com/fundamentals/authentication/oauth-2-0/authorization-code
func Twitter(o TwitterOptions) *pintle.OAuth {
	p := &pintle.OAuth{
		ID: "twitter", Name: "Twitter",
		Authorization: endpoint("https://x.com/i/oauth2/authorize", "scope", "users.read tweet.read offline.access"),
		Token:         endpoint("https://api.x.com/2/oauth2/token"),
		UserInfo:      endpoint("https://api.x.com/2/users/me", "user.fields", "profile_image_url"),
		Checks:        []oauth.Check{oauth.CheckPKCE, oauth.CheckState},
		Profile:       claims{id: "data!.id", name: "data.name", email: "data.confirmed_email|data.email|null", image: "data.profile_image_url"}.user,
		// https://docs.x.com/x-api/users/get-my-user
		EmailVerified: onlyVerified("data.confirmed_email"),
	}
	if slices.Contains(o.Scopes, "users.email") {
		p.UserInfo.Params["user.fields"] += ",confirmed_email"
	}
	switch o.Version {
	case "", "2.0":
	case "1.0a":
		p = TwitterOAuth1(Options{ID: "twitter"})
		p.Name = "Twitter"
	default:
		p.Complete = func(*pintle.OAuth) error {
			return fmt.Errorf(`TwitterOptions.Version is %q: use "2.0" or "1.0a"`, o.Version)
		}
	}
	return o.apply(p)
}
