package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// TwitterOAuth1 signs users in with their X account over OAuth 1.0a, whose
// tokens do not expire. Options.ClientID and ClientSecret are the consumer key
// and secret.
//
// Register the callback URL /auth/callback/twitter-oauth1. Variables:
// AUTH_TWITTER_OAUTH1_ID and AUTH_TWITTER_OAUTH1_SECRET. X returns the address to
// applications with that permission only. X decides which plans of the API include
// verify_credentials; [Twitter] works with every plan.
//
// https://docs.x.com/fundamentals/authentication/oauth-1-0a/obtaining-user-access-tokens
func TwitterOAuth1(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "twitter-oauth1", Name: "X (OAuth 1.0a)", Protocol: oauth.OAuth1,
		RequestToken:  endpoint("https://api.x.com/oauth/request_token"),
		Authorization: endpoint("https://api.x.com/oauth/authenticate"),
		Token:         endpoint("https://api.x.com/oauth/access_token"),
		UserInfo: endpoint("https://api.x.com/1.1/account/verify_credentials.json",
			"include_email", "true", "include_entities", "false", "skip_status", "true"),
		Profile: claims{id: "id_str", name: "name", email: "email|null", image: "profile_image_url_https|profile_image_url"}.user,
		// https://developer.x.com/en/docs/x-api/v1/accounts-and-users/manage-account-settings/api-reference/get-account-verify_credentials
		EmailVerified: onlyVerified("email"),
	})
}
