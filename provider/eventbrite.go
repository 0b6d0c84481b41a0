package provider

import "github.com/pintleauth/pintle"

// Eventbrite signs users in with their Eventbrite account.
//
// Register the callback URL /auth/callback/eventbrite. Variables:
// AUTH_EVENTBRITE_ID and AUTH_EVENTBRITE_SECRET.
//
// https://www.eventbrite.com/platform/api#/introduction/authentication
func Eventbrite(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "eventbrite", Name: "Eventbrite",
		Authorization: endpoint("https://www.eventbrite.com/oauth/authorize", "scope", "user.profile"),
		Token:         endpoint("https://www.eventbrite.com/oauth/token"),
		UserInfo:      endpoint("https://www.eventbriteapi.com/v3/users/me/"),
		ClientAuth:    "client_secret_post",
		Profile: claims{
			id: "id", name: "name", email: "emails!.primary.email",
			picture: template("https://img.evbuc.com/https%3A%2F%2Fcdn.evbuc.com%2Fimages%2F{image_id}%2F1%2Foriginal.jpg"),
		}.user,
		// https://www.eventbrite.com/platform/api#/reference/user
		EmailVerified: saysVerified("emails.primary.verified"),
	})
}
