package provider

import (
	"net/url"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// Cognito signs users in with an account of an Amazon Cognito user pool.
//
// Register the callback URL /auth/callback/cognito. Variables: AUTH_COGNITO_ID,
// AUTH_COGNITO_SECRET and AUTH_COGNITO_ISSUER. Set Issuer to
// https://cognito-idp.REGION.amazonaws.com/USER_POOL_ID.
//
// With EndSessionAtProvider register the URL /auth/signout/cognito among the allowed sign-out
// URLs. If the metadata of the user pool has no end session endpoint, set EndSession.URL to
// https://DOMAIN/logout. The browser comes back to the home page, because Cognito returns no
// state.
//
// https://docs.aws.amazon.com/cognito/latest/developerguide/authorization-endpoint.html
func Cognito(o Options) *pintle.OAuth {
	return leaving(o.apply(&pintle.OAuth{
		ID: "cognito", Name: "Cognito", Protocol: oauth.OIDC,
		// https://docs.aws.amazon.com/cognito/latest/developerguide/userinfo-endpoint.html
		EmailVerified: o.trusted(saysVerified("email_verified")),
	}), "", cognitoLogout)
}

// https://docs.aws.amazon.com/cognito/latest/developerguide/logout-endpoint.html
func cognitoLogout(q url.Values) error {
	q.Del("state")
	q.Del("id_token_hint")
	if back := take(q, "post_logout_redirect_uri"); back != "" {
		q.Set("logout_uri", back)
	}
	return nil
}
