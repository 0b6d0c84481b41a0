package provider

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Lark signs users in with their Lark or Feishu account.
//
// Register the callback URL /auth/callback/lark. Variables: AUTH_LARK_ID and
// AUTH_LARK_SECRET, the App ID and App Secret. For Lark outside China replace
// open.feishu.cn by open.larksuite.com in the endpoints. The account id is the
// open_id: the user_id needs another permission, and an administrator can assign
// it to another user.
//
// https://open.feishu.cn/document/sso/web-application-sso/login-overview
func Lark(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "lark", Name: "Lark / Feishu",
		Authorization: endpoint("https://open.feishu.cn/open-apis/authen/v1/authorize", "scope", ""),
		Token:         endpoint("https://open.feishu.cn/open-apis/authen/v1/oidc/access_token"),
		UserInfo:      endpoint("https://open.feishu.cn/open-apis/authen/v1/user_info"),
		Checks:        []oauth.Check{oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "data!.open_id", name: "data.name", email: "data.enterprise_email||data.email", image: "data.avatar_url"}.user,
		Quirks:        oauth.Quirks{TokenTypeOptional: true, Exchange: larkExchange},
	})
}

// larkExchange obtains a token for the application, with which it exchanges the
// code. Answers are wrapped in an object with a code, which is 0 for success.
func larkExchange(ctx context.Context, c *http.Client, t *oauth.TokenRequest) (*oauth.TokenResponse, error) {
	site, _, _ := strings.Cut(t.URL, "/authen/")
	app, err := apiRequest{endpoint: endpoint(site + "/auth/v3/app_access_token/internal"), body: map[string]string{
		"app_id": t.Form.Get("client_id"), "app_secret": t.Form.Get("client_secret"),
	}}.object(ctx, c)
	if err != nil {
		return nil, err
	}
	token := pintle.Profile(app).Text("app_access_token")
	if token == "" {
		return nil, errors.New("the service gave no token to the application: check ClientID and ClientSecret")
	}
	q := apiRequest{endpoint: oauth.Endpoint{URL: t.URL}, body: map[string]string{"grant_type": "authorization_code", "code": t.Form.Get("code")}}
	if refresh := t.Form.Get("refresh_token"); refresh != "" {
		q.endpoint.URL = strings.Replace(t.URL, "/oidc/access_token", "/oidc/refresh_access_token", 1)
		q.body = map[string]string{"grant_type": "refresh_token", "refresh_token": refresh}
	}
	r, err := q.with("Authorization", "Bearer "+token).exchange(ctx, c)
	if err != nil {
		return nil, err
	}
	r.Body, err = object(r.Body, "data")
	return r, err
}
