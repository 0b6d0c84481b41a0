package provider

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// wechatSecret moves the credentials of the client to the query, under WeChat's
// names.
func wechatSecret(r *oauth.TokenRequest) error {
	u, err := url.Parse(r.URL)
	if err != nil {
		return err
	}
	query := u.Query()
	query.Set("appid", r.Form.Get("client_id"))
	query.Set("secret", r.Form.Get("client_secret"))
	u.RawQuery = query.Encode()
	r.URL = u.String()
	r.Form.Del("client_id")
	r.Form.Del("client_secret")
	return nil
}

// wechatError finds the error in a response with status 200.
func wechatError(r *oauth.TokenResponse) error { return errcode(r.Body) }

// errcode reports a failure in the form that the services of Tencent have.
func errcode(body map[string]any) error {
	code := pintle.Profile(body).ID("errcode")
	if code == "" || code == "0" {
		return nil
	}
	return fmt.Errorf("the service answered errcode %s: %.200q", code, pintle.Profile(body).Text("errmsg"))
}

// wechatID makes the openid the id of a user without a unionid. It rejects a
// response that reports an error.
func wechatID(_ context.Context, _ *http.Client, a *oauth.Answer) error {
	if err := errcode(a.Profile); err != nil {
		return err
	}
	a.Profile["id"] = a.Profile["openid"]
	return nil
}
