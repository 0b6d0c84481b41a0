package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Cognito signs users in with an account of an Amazon Cognito user pool.
//
// Register the callback URL /auth/callback/cognito. Variables: AUTH_COGNITO_ID,
// AUTH_COGNITO_SECRET and AUTH_COGNITO_ISSUER. Set Issuer to
// https://cognito-idp.REGION.amazonaws.com/USER_POOL_ID.
//
// https://docs.aws.amazon.com/cognito/latest/developerguide/authorization-endpoint.html
func Cognito(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "cognito", Name: "Cognito", Protocol: oauth.OIDC,
		// https://docs.aws.amazon.com/cognito/latest/developerguide/userinfo-endpoint.html
		EmailVerified: o.trusted(saysVerified("email_verified")),
	})
}
