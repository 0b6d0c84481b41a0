package provider

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Bitly signs users in with their Bitly account.
//
// Register the callback URL /auth/callback/bitly. Variables: AUTH_BITLY_ID and
// AUTH_BITLY_SECRET. The account id is made of the login and the time of the
// registration: a login that was given up can be registered by another user, and
// Bitly returns no other id.
//
// https://dev.bitly.com/docs/getting-started/authentication
func Bitly(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "bitly", Name: "Bitly",
		Authorization: endpoint("https://bitly.com/oauth/authorize", "scope", ""),
		Token:         endpoint("https://api-ssl.bitly.com/oauth/access_token"),
		UserInfo:      endpoint("https://api-ssl.bitly.com/v4/user"),
		Checks:        []oauth.Check{oauth.CheckState},
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "account", name: "name", email: "emails.is_primary&is_verified.email"}.user,
		// https://dev.bitly.com/api-reference/#getUser
		EmailVerified: onlyVerified("emails.is_primary&is_verified.email"),
		Quirks:        oauth.Quirks{AmendProfile: bitlyAccount},
	})
}

// bitlyAccount adds the account id, login@seconds.
func bitlyAccount(_ context.Context, _ *http.Client, a *oauth.Answer) error {
	p := pintle.Profile(a.Profile)
	login, err := accountID(p["login"])
	if err != nil {
		return err
	}
	created, err := instant(p.Text("created"))
	if err != nil {
		return errors.New("the profile has no time of the registration")
	}
	a.Profile["account"] = login + "@" + strconv.FormatInt(created.Unix(), 10)
	return nil
}
