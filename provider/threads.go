package provider

import (
	"context"
	"net/http"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Threads signs users in with their Threads account.
//
// Register the callback URL /auth/callback/threads. Variables: AUTH_THREADS_ID
// and AUTH_THREADS_SECRET, of the Threads application and not of the Meta one.
// The service returns no address.
//
// https://developers.facebook.com/docs/threads/get-started/get-access-tokens-and-permissions
func Threads(o Options) *pintle.OAuth {
	return o.applySeparated(&pintle.OAuth{
		ID: "threads", Name: "Threads",
		Authorization: endpoint("https://threads.net/oauth/authorize", "scope", "threads_basic"),
		Token:         endpoint("https://graph.threads.net/oauth/access_token"),
		UserInfo:      endpoint("https://graph.threads.net/v1.0/me", "fields", "id,username,threads_profile_picture_url"),
		Checks:        []oauth.Check{oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile: claims{
			id: "data!.id", name: "data.username||null", email: "null",
			image: "data.threads_profile_picture_url||null",
		}.user,
		Quirks: oauth.Quirks{TokenTypeOptional: true, AmendProfile: threadsData},
	}, ",")
}

// threadsData wraps a response in the object that Auth.js expects and that the
// documentation of the service does not have.
func threadsData(_ context.Context, _ *http.Client, a *oauth.Answer) error {
	if _, wrapped := a.Profile["data"]; !wrapped {
		a.Profile = map[string]any{"data": a.Profile}
	}
	return nil
}
