package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// InfluxCloud signs users in with their InfluxCloud account.
//
// Register the callback URL /auth/callback/influxcloud. Variables:
// AUTH_INFLUXCLOUD_ID, AUTH_INFLUXCLOUD_SECRET and AUTH_INFLUXCLOUD_ISSUER.
// Issuer is the address of the server, https://cloud.influxdata.com if empty.
// It is not known whether InfluxCloud 1 still works.
//
// https://docs.influxdata.com/
func InfluxCloud(o Options) *pintle.OAuth {
	return tokenInQuery(onServer(o.apply(&pintle.OAuth{
		ID: "influxcloud", Name: "InfluxCloud",
		Authorization: endpoint("/oauth/authorize", "scope", ""),
		Token:         endpoint("/oauth/token"),
		UserInfo:      endpoint("/api/v1/user"),
		Checks:        []oauth.Check{oauth.CheckState},
		Profile:       claims{id: "id", name: "name", email: "email", image: "avatar_url"}.user,
	}), "https://cloud.influxdata.com"), "access_token")
}
