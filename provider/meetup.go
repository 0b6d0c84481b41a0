package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Meetup signs users in with their Meetup account.
//
// Register the callback URL /auth/callback/meetup. Variables: AUTH_MEETUP_ID
// and AUTH_MEETUP_SECRET.
//
// https://www.meetup.com/graphql/authentication/
//
// Deprecated: the REST API with the profile was shut down; its successor is
// GraphQL at https://api.meetup.com/gql-ext.
func Meetup(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "meetup", Name: "Meetup",
		Authorization: endpoint("https://secure.meetup.com/oauth2/authorize", "scope", ""),
		Token:         endpoint("https://secure.meetup.com/oauth2/access"),
		UserInfo:      endpoint("https://api.meetup.com/2/member/self"),
		Checks:        []oauth.Check{oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "id", name: "name", email: "email", image: "photo_url"}.user,
	})
}
