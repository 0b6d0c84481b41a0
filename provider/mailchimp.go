package provider

import "github.com/pintleauth/pintle"

// Mailchimp signs users in with their Mailchimp account.
//
// Register the callback URL /auth/callback/mailchimp. Variables:
// AUTH_MAILCHIMP_ID and AUTH_MAILCHIMP_SECRET. The address of the API differs
// between accounts: it is api_endpoint in the profile that callbacks receive.
//
// https://mailchimp.com/developer/marketing/guides/access-user-data-oauth-2/
func Mailchimp(o Options) *pintle.OAuth {
	return oauthScheme(o.apply(&pintle.OAuth{
		ID: "mailchimp", Name: "Mailchimp",
		Authorization: endpoint("https://login.mailchimp.com/oauth2/authorize", "scope", ""),
		Token:         endpoint("https://login.mailchimp.com/oauth2/token"),
		UserInfo:      endpoint("https://login.mailchimp.com/oauth2/metadata"),
		ClientAuth:    "client_secret_post",
		Profile:       claims{id: "login!.login_id", name: "accountname", email: "login.email", image: "null"}.user,
	}))
}
