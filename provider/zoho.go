package provider

import (
	"cmp"

	"github.com/pintleauth/pintle"
)

// ZohoOptions are the options of [Zoho].
type ZohoOptions struct {
	Options

	// DataCentre is the end of the host of the data centre: "com" (also if
	// empty), "eu", "in", "com.au", "jp", "ca", "sa" or "com.cn".
	DataCentre string
}

// Zoho signs users in with their Zoho account.
//
// Register the callback URL /auth/callback/zoho. Variables: AUTH_ZOHO_ID and
// AUTH_ZOHO_SECRET. Only accounts of the one data centre can sign in.
//
// https://www.zoho.com/accounts/protocol/oauth.html
func Zoho(o ZohoOptions) *pintle.OAuth {
	site := "https://accounts.zoho." + cmp.Or(o.DataCentre, "com") + "/oauth"
	return o.applySeparated(&pintle.OAuth{
		ID: "zoho", Name: "Zoho",
		Authorization: endpoint(site+"/v2/auth", "scope", "AaaServer.profile.Read"),
		Token:         endpoint(site + "/v2/token"),
		UserInfo:      endpoint(site + "/user/info"),
		Profile:       claims{id: "ZUID", name: "First_Name+Last_Name", email: "Email", image: "null"}.user,
	}, ",")
}
