package provider

import (
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Frontegg signs users in with their Frontegg account.
//
// Register the callback URL /auth/callback/frontegg. Variables:
// AUTH_FRONTEGG_ID, AUTH_FRONTEGG_SECRET and AUTH_FRONTEGG_ISSUER. Set Issuer
// to https://SUBDOMAIN.frontegg.com.
//
// https://docs.frontegg.com/docs/oauth
func Frontegg(o Options) *pintle.OAuth {
	return completing(onServer(o.apply(&pintle.OAuth{
		ID: "frontegg", Name: "Frontegg", Protocol: oauth.OIDC,
		Authorization: endpoint("/oauth/authorize"),
		Token:         endpoint("/oauth/token"),
	}), ""), func(own *pintle.OAuth) error {
		own.WellKnown = strings.TrimRight(own.Issuer, "/") + "/oauth/.well-known/openid-configuration"
		return nil
	})
}
