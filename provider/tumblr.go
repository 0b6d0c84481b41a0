package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Tumblr signs users in with their Tumblr account, over OAuth 1.0a.
//
// Register the callback URL /auth/callback/tumblr. Variables: AUTH_TUMBLR_ID and
// AUTH_TUMBLR_SECRET, the consumer key and its secret. The service returns no
// address. The account id is that of the primary blog, which stays when the blog
// is renamed: a name that was given up can be registered by another user.
//
// https://www.tumblr.com/docs/en/api/v2#auth
func Tumblr(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "tumblr", Name: "Tumblr", Protocol: oauth.OAuth1,
		RequestToken:  endpoint("https://www.tumblr.com/oauth/request_token"),
		Authorization: endpoint("https://www.tumblr.com/oauth/authorize"),
		Token:         endpoint("https://www.tumblr.com/oauth/access_token"),
		UserInfo:      endpoint("https://api.tumblr.com/v2/user/info"),
		Profile:       claims{id: "response!.user!.blogs!.primary!.uuid", name: "response.user.name"}.user,
	})
}
