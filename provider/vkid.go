package provider

import (
	"net/url"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// VKID signs users in with their VK, Odnoklassniki or Mail.ru account through
// VK ID.
//
// Register the callback URL /auth/callback/vk-id as a trusted redirect URL.
// Variables: AUTH_VK_ID_ID and AUTH_VK_ID_SECRET. Authorization.Params may have
// scheme (light or dark), lang_id and provider (vkid, ok_ru or mail_ru).
//
// https://id.vk.com/about/business/go/docs/en/vkid/latest/vk-id/connection/api-description
func VKID(o Options) *pintle.OAuth {
	return withProfileRequest(o.apply(&pintle.OAuth{
		ID: "vk-id", Name: "VK ID",
		Authorization: endpoint("https://id.vk.com/authorize", "scope", "email phone"),
		Token:         endpoint("https://id.vk.com/oauth2/auth"),
		UserInfo:      endpoint("https://id.vk.com/oauth2/user_info"),
		Checks:        []oauth.Check{oauth.CheckPKCE, oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "user!.user_id", name: "user.first_name+user.last_name", email: "user.email", image: "user.avatar"}.user,
		Quirks:        oauth.Quirks{TokenTypeOptional: true, TokenRequest: vkDevice},
	}), func(own *pintle.OAuth, tokens pintle.Profile) (apiRequest, error) {
		form := url.Values{"client_id": {own.ClientID}, "access_token": {tokens.Text("access_token")}}
		return apiRequest{endpoint: own.UserInfo, body: form}, nil
	})
}

// vkDevice repeats the device of the callback: the code is valid for it alone.
func vkDevice(r *oauth.TokenRequest) error {
	for _, name := range []string{"device_id", "state"} {
		if value := r.Callback[name]; value != "" {
			r.Form.Set(name, value)
		}
	}
	return nil
}
