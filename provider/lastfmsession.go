package provider

import (
	"context"
	"crypto/md5" //nolint:gosec // the signature of the service is made with it
	"encoding/hex"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// lastfmLeave renames the parameters of the authorization URL. There is no
// state at Last.fm, so it travels in the callback URL.
func lastfmLeave(u *url.URL) error {
	given := u.Query()
	callback, err := url.Parse(given.Get("redirect_uri"))
	if err != nil {
		return err
	}
	query := callback.Query()
	query.Set("state", given.Get("state"))
	callback.RawQuery = query.Encode()
	u.RawQuery = url.Values{"api_key": {given.Get("client_id")}, "cb": {callback.String()}}.Encode()
	return nil
}

// lastfmReturn renames the token of the callback, which is valid for one session.
func lastfmReturn(params map[string]string) error {
	// The token is appended without a look at whether there is a query.
	if state, token, glued := strings.Cut(params["state"], "?token="); glued {
		params["state"], params["token"] = state, token
	}
	params["code"] = params["token"]
	delete(params, "token")
	return nil
}

// lastfmSession exchanges the token for a session.
//
// https://www.last.fm/api/show/auth.getSession
func lastfmSession(ctx context.Context, c *http.Client, t *oauth.TokenRequest) (*oauth.TokenResponse, error) {
	params := map[string]string{"method": "auth.getSession", "api_key": t.Form.Get("client_id"), "token": t.Form.Get("code")}
	params["api_sig"] = lastfmSignature(params, t.Form.Get("client_secret"))
	params["format"] = "json" // not signed
	r, err := apiRequest{endpoint: oauth.Endpoint{URL: t.URL}, query: params}.with("User-Agent", userAgent).exchange(ctx, c)
	if err != nil {
		return nil, err
	}
	session := pintle.Profile(r.Body).Object("session")
	if session == nil {
		return nil, errors.New("the service opened no session: check ClientID and ClientSecret")
	}
	r.Body = map[string]any{"access_token": session["key"], "name": session["name"]}
	return r, nil
}

// lastfmSignature is the MD5 of all parameters, in the order of their names,
// and of the secret.
//
// https://www.last.fm/api/authspec#8
func lastfmSignature(params map[string]string, secret string) string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(params)) {
		text.WriteString(name + params[name])
	}
	sum := md5.Sum([]byte(text.String() + secret)) //nolint:gosec // as above
	return hex.EncodeToString(sum[:])
}
