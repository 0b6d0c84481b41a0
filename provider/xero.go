package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Xero signs in an organisation with its Xero account, over OAuth 1.0a.
//
// The callback URL is /auth/callback/xero. Variables: AUTH_XERO_ID and
// AUTH_XERO_SECRET.
//
// https://developer.xero.com/documentation/guides/oauth2/auth-flow
//
// Deprecated: Xero ended OAuth 1.0a in 2021; use [OpenIDConnect], whose issuer is
// https://identity.xero.com there.
func Xero(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "xero", Name: "Xero", Protocol: oauth.OAuth1,
		RequestToken:  endpoint("https://api.xero.com/oauth/RequestToken"),
		Authorization: endpoint("https://api.xero.com/oauth/Authorize"),
		Token:         endpoint("https://api.xero.com/oauth/AccessToken"),
		UserInfo:      endpoint("https://api.xero.com/api.xro/2.0/Organisation"),
		Profile:       claims{id: "Organisations.0.ShortCode", name: "Organisations.0.Name"}.user,
	})
}
