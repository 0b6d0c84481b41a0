package provider

import (
	"context"
	"net/http"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Bitbucket signs users in with their Bitbucket account.
//
// Register the callback URL /auth/callback/bitbucket. Variables:
// AUTH_BITBUCKET_ID and AUTH_BITBUCKET_SECRET. The address needs another request,
// and the permission to read e-mail addresses.
//
// https://support.atlassian.com/bitbucket-cloud/docs/use-oauth-on-bitbucket-cloud/
func Bitbucket(o Options) *pintle.OAuth {
	p := &pintle.OAuth{
		ID: "bitbucket", Name: "Bitbucket",
		Authorization: endpoint("https://bitbucket.org/site/oauth2/authorize", "scope", "account"),
		Token:         endpoint("https://bitbucket.org/site/oauth2/access_token"),
		UserInfo:      endpoint("https://api.bitbucket.org/2.0/user"),
		Profile:       claims{id: "account_id", name: "display_name|username", email: "email", image: "links!.avatar.href"}.user,
		EmailVerified: saysVerified("email_verified"), // which is added below
	}
	p.Quirks.AmendProfile = func(ctx context.Context, c *http.Client, a *oauth.Answer) error {
		// Users can sign in without an address, so an error of this request is
		// not one of the sign-in. Only a confirmed address is surely theirs.
		// https://developer.atlassian.com/cloud/bitbucket/rest/api-group-users/#api-user-emails-get
		a.Profile["email_verified"] = false
		emails, err := apiRequest{endpoint: endpoint(p.UserInfo.URL + "/emails")}.bearer(a.Tokens).object(ctx, c)
		if err != nil {
			return nil //nolint:nilerr // no address
		}
		if address, _ := walk(emails, "values.is_primary&is_confirmed.email"); address.value != nil {
			a.Profile["email"], a.Profile["email_verified"] = address.value, true
		}
		return nil
	}
	return o.apply(p)
}
