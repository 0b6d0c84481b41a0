package provider

import (
	"context"
	"errors"
	"net/http"

	"github.com/pintleauth/pintle/oauth"
)

// exchange sends the members of the form as JSON in camel case, and reads the
// same.
func (o DingTalkOptions) exchange(ctx context.Context, c *http.Client, t *oauth.TokenRequest) (*oauth.TokenResponse, error) {
	body := map[string]string{}
	for from, to := range map[string]string{
		"client_id": "clientId", "client_secret": "clientSecret", "grant_type": "grantType",
		"code": "code", "refresh_token": "refreshToken",
	} {
		if value := t.Form.Get(from); value != "" {
			body[to] = value
		}
	}
	r, err := apiRequest{endpoint: oauth.Endpoint{URL: t.URL}, body: body}.exchange(ctx, c)
	if err != nil {
		return nil, err
	}
	if o.CorpID != "" && r.Body["corpId"] != o.CorpID {
		return nil, errors.New("the account is not of the company in DingTalkOptions.CorpID")
	}
	rename(r, map[string]string{"accessToken": "access_token", "refreshToken": "refresh_token", "expireIn": "expires_in"})
	return r, nil
}
