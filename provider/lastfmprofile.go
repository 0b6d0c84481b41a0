package provider

import (
	"context"
	"errors"
	"net/http"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// lastfmRequest requests the profile of the session's user, which is public.
//
// https://www.last.fm/api/show/user.getInfo
func lastfmRequest(own *pintle.OAuth, tokens pintle.Profile) (apiRequest, error) {
	name := tokens.Text("name")
	if name == "" {
		return apiRequest{}, errors.New("the session has no name")
	}
	return apiRequest{endpoint: own.UserInfo, query: map[string]string{
		"method": "user.getinfo", "user": name, "api_key": own.ClientID, "format": "json",
	}}.with("User-Agent", userAgent), nil
}

// lastfmName makes an id for an account without one, name:NAME@SECONDS. The prefix
// distinguishes a user whose name is a number from the account with that number.
func lastfmName(_ context.Context, _ *http.Client, a *oauth.Answer) error {
	user := pintle.Profile(a.Profile).Object("user")
	if user.Text("name") != a.Tokens["name"] {
		return errors.New("the answer is not about the account that signed in")
	}
	if user.ID("id") != "" {
		return nil
	}
	registered := user.Object("registered").ID("unixtime")
	if registered == "" {
		return errors.New("the profile has no time of the registration")
	}
	a.Profile["id"] = "name:" + user.Text("name") + "@" + registered
	return nil
}
