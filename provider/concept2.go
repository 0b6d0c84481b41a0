package provider

import "github.com/pintleauth/pintle"

// Concept2 signs users in with their Concept2 account.
//
// Register the callback URL /auth/callback/concept2. Variables:
// AUTH_CONCEPT2_ID and AUTH_CONCEPT2_SECRET.
//
// https://log.concept2.com/developers/documentation/
func Concept2(o Options) *pintle.OAuth {
	return o.applySeparated(&pintle.OAuth{
		ID: "concept2", Name: "Concept2",
		Authorization: endpoint("https://log.concept2.com/oauth/authorize", "scope", "user:read,results:write"),
		Token:         endpoint("https://log.concept2.com/oauth/access_token"),
		UserInfo:      endpoint("https://log.concept2.com/api/users/me"),
		Profile:       claims{id: "data!.id", name: "data.username", email: "data.email", image: "data.profile_image"}.user,
	}, ",")
}
