package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Slack signs users in with their Slack account.
//
// Register the callback URL /auth/callback/slack. Variables: AUTH_SLACK_ID and
// AUTH_SLACK_SECRET. Slack accepts callback URLs with https only, even on your
// own machine.
//
// https://docs.slack.dev/authentication/sign-in-with-slack/
func Slack(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "slack", Name: "Slack", Protocol: oauth.OIDC,
		Issuer: "https://slack.com",
		Checks: []oauth.Check{oauth.CheckNonce},
		// https://docs.slack.dev/reference/methods/openid.connect.userInfo/
		EmailVerified: saysVerified("email_verified"),
	})
}
