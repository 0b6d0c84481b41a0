package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// DingTalkOptions are the options of [DingTalk].
type DingTalkOptions struct {
	Options

	// CorpID is the company whose members may sign in. Empty means all users of
	// DingTalk. With a company set Scopes to openid and corpid.
	CorpID string
}

// DingTalk signs users in with their DingTalk account.
//
// Register the callback URL /auth/callback/dingtalk. Variables:
// AUTH_DINGTALK_ID and AUTH_DINGTALK_SECRET.
//
// https://open.dingtalk.com/document/orgapp/tutorial-obtaining-user-personal-information
func DingTalk(o DingTalkOptions) *pintle.OAuth {
	return withProfileRequest(o.apply(&pintle.OAuth{
		ID: "dingtalk", Name: "DingTalk",
		Authorization: endpoint("https://login.dingtalk.com/oauth2/auth", "prompt", "consent", "scope", "openid"),
		Token:         endpoint("https://api.dingtalk.com/v1.0/oauth2/userAccessToken"),
		UserInfo:      endpoint("https://api.dingtalk.com/v1.0/contact/users/me"),
		Checks:        []oauth.Check{oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "unionId", name: "nick", email: "email", image: "avatarUrl"}.user,
		Quirks:        oauth.Quirks{TokenTypeOptional: true, Exchange: o.exchange},
	}), func(own *pintle.OAuth, tokens pintle.Profile) (apiRequest, error) {
		return apiRequest{endpoint: own.UserInfo}.with("x-acs-dingtalk-access-token", tokens.Text("access_token")), nil
	})
}
