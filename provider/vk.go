package provider

import (
	"cmp"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// VKOptions are the options of [VK].
type VKOptions struct {
	Options

	// Version is the version of the API, "5.126" if empty.
	Version string

	// AuthorizationURL, AccessTokenURL and ProfileURL replace the endpoints.
	// Parameters in a URL, such as v for the version of the API, replace those
	// of the endpoint; the others, such as the scope, stay. Empty means the
	// endpoints of the service.
	AuthorizationURL, AccessTokenURL, ProfileURL string

	// RequestTokenURL is another name for AccessTokenURL, which takes
	// precedence: VK uses OAuth 2, which has no request tokens.
	RequestTokenURL string
}

// VK signs users in with their VK account, over the endpoints that preceded
// VK ID; new applications use [VKID].
//
// Register the callback URL /auth/callback/vk. Variables: AUTH_VK_ID and
// AUTH_VK_SECRET. The service rejects a code challenge, so the state alone
// protects the flow.
//
// https://dev.vk.com/en/api/access-token/authcode-flow-user
func VK(o VKOptions) *pintle.OAuth {
	version := cmp.Or(o.Version, "5.126")
	p := o.apply(&pintle.OAuth{
		ID: "vk", Name: "VK",
		Authorization: endpoint("https://oauth.vk.com/authorize", "scope", "email", "v", version),
		Token:         endpoint("https://oauth.vk.com/access_token", "v", version),
		UserInfo:      endpoint("https://api.vk.com/method/users.get", "fields", "photo_100", "v", version),
		Checks:        []oauth.Check{oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "id", name: "first_name+last_name", email: "email|null", image: "photo_100"}.user,
		Quirks:        oauth.Quirks{TokenTypeOptional: true, AmendProfile: vkProfile},
	})
	p.Authorization = at(p.Authorization, o.AuthorizationURL)
	p.Token = at(p.Token, cmp.Or(o.AccessTokenURL, o.RequestTokenURL))
	p.UserInfo = at(p.UserInfo, o.ProfileURL)
	return p
}
