package provider

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// wecomMember obtains a token for the application and requests the member of the
// code with it. Only members of the company have a UserId.
func wecomMember(ctx context.Context, c *http.Client, t *oauth.TokenRequest) (*oauth.TokenResponse, error) {
	r, err := apiRequest{endpoint: oauth.Endpoint{URL: t.URL}, query: map[string]string{
		"corpid": t.Form.Get("client_id"), "corpsecret": t.Form.Get("client_secret"),
	}}.exchange(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := errcode(r.Body); err != nil {
		return nil, err
	}
	site := strings.TrimSuffix(t.URL, "/gettoken")
	member, err := apiRequest{endpoint: endpoint(site + "/user/getuserinfo"), query: map[string]string{
		"access_token": pintle.Profile(r.Body).Text("access_token"), "code": t.Form.Get("code"),
	}}.object(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := errcode(member); err != nil {
		return nil, err
	}
	id := pintle.Profile(member).ID("UserId")
	if id == "" {
		return nil, errors.New("the user is not a member of the company")
	}
	r.Body["userid"] = id
	return r, nil
}
