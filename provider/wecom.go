package provider

import (
	"context"
	"net/http"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// WeComOptions are the options of [WeCom].
type WeComOptions struct {
	Options

	// AgentID is the id of the application inside the company.
	AgentID string
}

// WeCom signs users in as members of a company with WeCom (WeChat Work).
//
// Register the domain of the callback URL /auth/callback/wecom. Variables:
// AUTH_WECOM_ID and AUTH_WECOM_SECRET, the id of the company and the secret of
// the application. Set AgentID. No tokens are stored: the only one there is
// belongs to the application and reads every member.
//
// https://developer.work.weixin.qq.com/document/path/91019
func WeCom(o WeComOptions) *pintle.OAuth {
	p := o.apply(&pintle.OAuth{
		ID: "wecom", Name: "WeCom",
		Authorization: endpoint("https://open.work.weixin.qq.com/wwopen/sso/qrConnect", "agentid", o.AgentID, "scope", ""),
		Token:         endpoint("https://qyapi.weixin.qq.com/cgi-bin/gettoken"),
		UserInfo:      endpoint("https://qyapi.weixin.qq.com/cgi-bin/user/get"),
		Checks:        []oauth.Check{oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "userid", name: "name", email: "email", image: "avatar"}.user,
		StoreAccount:  func(*pintle.Account) *pintle.Account { return nil },
		Quirks: oauth.Quirks{
			TokenTypeOptional: true, Exchange: wecomMember,
			AmendProfile: func(_ context.Context, _ *http.Client, a *oauth.Answer) error { return errcode(a.Profile) },
		},
	})
	return withProfileRequest(completing(p, func(own *pintle.OAuth) error {
		own.Authorization.Params["appid"] = own.ClientID
		return nil
	}), func(own *pintle.OAuth, tokens pintle.Profile) (apiRequest, error) {
		return apiRequest{endpoint: own.UserInfo, query: map[string]string{
			"access_token": tokens.Text("access_token"), "userid": tokens.ID("userid"),
		}}, nil
	})
}
