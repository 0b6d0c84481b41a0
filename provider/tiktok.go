package provider

import (
	"net/http"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// TikTok signs users in with their TikTok account.
//
// Register the callback URL /auth/callback/tiktok, on https. Variables:
// AUTH_TIKTOK_ID and AUTH_TIKTOK_SECRET, the client key and its secret. The
// service returns no address.
//
// https://developers.tiktok.com/doc/login-kit-web
func TikTok(o Options) *pintle.OAuth {
	p := o.applySeparated(&pintle.OAuth{
		ID: "tiktok", Name: "TikTok",
		Authorization: endpoint("https://www.tiktok.com/v2/auth/authorize", "scope", "user.info.basic"),
		Token:         endpoint("https://open.tiktokapis.com/v2/oauth/token/"),
		UserInfo:      endpoint("https://open.tiktokapis.com/v2/user/info/", "fields", "open_id,avatar_url,display_name"),
		Checks:        []oauth.Check{oauth.CheckPKCE, oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "data!.user!.open_id", name: "data.user.display_name", email: "null", image: "data.user.avatar_url"}.user,
		Quirks:        oauth.Quirks{TokenRequest: tiktokKey, TokenResponse: tiktokStatus},
	}, ",")
	return completing(p, func(own *pintle.OAuth) error {
		own.Authorization.Params["client_key"] = own.ClientID
		return nil
	})
}

// tiktokKey adds the client id under the name that TikTok has for it. Its
// endpoint reads a plain form content type only.
func tiktokKey(r *oauth.TokenRequest) error {
	r.Form.Set("client_key", r.Form.Get("client_id"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return nil
}

// tiktokStatus judges answers by whether there are tokens in them.
func tiktokStatus(r *oauth.TokenResponse) error {
	if r.Body["access_token"] != nil && r.Status > http.StatusOK && r.Status < http.StatusMultipleChoices {
		r.Status = http.StatusOK
	}
	return nil
}
