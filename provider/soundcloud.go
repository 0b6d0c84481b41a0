package provider

import (
	"context"
	"net/http"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// SoundCloud signs users in with their SoundCloud account.
//
// Register the callback URL /auth/callback/soundcloud. Variables:
// AUTH_SOUNDCLOUD_ID and AUTH_SOUNDCLOUD_SECRET. The service returns no address.
//
// https://developers.soundcloud.com/docs/api/guide#authentication
func SoundCloud(o Options) *pintle.OAuth {
	return oauthScheme(o.apply(&pintle.OAuth{
		ID: "soundcloud", Name: "SoundCloud",
		Authorization: endpoint("https://secure.soundcloud.com/authorize", "scope", ""),
		Token:         endpoint("https://secure.soundcloud.com/oauth/token"),
		UserInfo:      endpoint("https://api.soundcloud.com/me"),
		Checks:        []oauth.Check{oauth.CheckPKCE, oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "id", name: "full_name|username", image: "avatar_url"}.user,
		Quirks:        oauth.Quirks{AmendProfile: soundCloudID},
	}))
}

// soundCloudID returns both kinds of id that accounts have had in one form: the
// number, which is the last part of soundcloud:users:583231.
func soundCloudID(_ context.Context, _ *http.Client, a *oauth.Answer) error {
	if urn := pintle.Profile(a.Profile).Text("urn"); urn != "" {
		a.Profile["id"] = urn[strings.LastIndex(urn, ":")+1:]
	}
	return nil
}
