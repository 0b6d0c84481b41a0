package provider

import (
	"errors"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// NetSuiteOptions are the options of [NetSuite].
type NetSuiteOptions struct {
	Options

	// AccountID is the account, for example 1234567, or 1234567-SB1 for a
	// sandbox.
	AccountID string

	// UserInfoURL is your RESTlet or Suitelet that returns id, name and email of
	// the current user: NetSuite has no such endpoint.
	UserInfoURL string
}

// NetSuite signs users in with their NetSuite account.
//
// Register the callback URL /auth/callback/netsuite. Variables:
// AUTH_NETSUITE_ID and AUTH_NETSUITE_SECRET. Set AccountID and UserInfoURL. To
// require the password each time set prompt to "login" in Authorization.Params.
//
// https://docs.oracle.com/en/cloud/saas/netsuite/ns-online-help/section_158074210415.html
func NetSuite(o NetSuiteOptions) *pintle.OAuth {
	host := strings.ToLower(strings.ReplaceAll(o.AccountID, "_", "-"))
	p := o.apply(&pintle.OAuth{
		ID: "netsuite", Name: "NetSuite",
		Authorization: endpoint("https://"+host+".app.netsuite.com/app/login/oauth2/authorize.nl", "scope", "restlets rest_webservices"),
		Token:         endpoint("https://" + host + ".suitetalk.api.netsuite.com/services/rest/auth/oauth2/v1/token"),
		UserInfo:      endpoint(o.UserInfoURL),
		Checks:        []oauth.Check{oauth.CheckState},
		Profile:       claims{id: "id", name: "name", email: "email", image: "null"}.user,
	})
	return completing(p, func(*pintle.OAuth) error {
		if host == "" || strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return errors.New("NetSuiteOptions.AccountID is not the id of an account: set it to one like 1234567 or 1234567-SB1")
		}
		return nil
	})
}
