package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// WeChatOptions are the options of [WeChat].
type WeChatOptions struct {
	Options

	// Website signs in with a code that is scanned from a page, as a website
	// application does, rather than inside WeChat with an official account.
	Website bool
}

// WeChat signs users in with their WeChat account.
//
// Register the domain of the callback URL /auth/callback/wechat. Variables:
// AUTH_WECHAT_ID and AUTH_WECHAT_SECRET, the app id and its secret. The account
// id is the unionid, or the openid for an application that is not bound to an open
// platform account: bind it before the first sign-in. The service returns no
// address.
//
// https://developers.weixin.qq.com/doc/oplatform/Website_App/WeChat_Login/Wechat_Login.html
func WeChat(o WeChatOptions) *pintle.OAuth {
	authorization := endpoint("https://open.weixin.qq.com/connect/oauth2/authorize#wechat_redirect", "scope", "snsapi_userinfo")
	if o.Website {
		authorization = endpoint("https://open.weixin.qq.com/connect/qrconnect#wechat_redirect", "scope", "snsapi_login")
	}
	p := o.applySeparated(&pintle.OAuth{
		ID: "wechat", Name: "WeChat",
		Authorization: authorization,
		Token:         endpoint("https://api.weixin.qq.com/sns/oauth2/access_token"),
		UserInfo:      endpoint("https://api.weixin.qq.com/sns/userinfo"),
		Checks:        []oauth.Check{oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "unionid|id", name: "nickname", email: "null", image: "headimgurl"}.user,
		Quirks:        oauth.Quirks{TokenTypeOptional: true, TokenRequest: wechatSecret, TokenResponse: wechatError, AmendProfile: wechatID},
	}, ",")
	return withProfileRequest(completing(p, func(own *pintle.OAuth) error {
		own.Authorization.Params["appid"] = own.ClientID
		return nil
	}), func(own *pintle.OAuth, tokens pintle.Profile) (apiRequest, error) {
		return apiRequest{endpoint: own.UserInfo, query: map[string]string{
			"access_token": tokens.Text("access_token"), "openid": tokens.Text("openid"), "lang": "zh_CN",
		}}, nil
	})
}
