package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// HuggingFace signs users in with their Hugging Face account.
//
// Register the callback URL /auth/callback/huggingface. Variables:
// AUTH_HUGGINGFACE_ID and AUTH_HUGGINGFACE_SECRET.
//
// https://huggingface.co/docs/hub/oauth
func HuggingFace(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "huggingface", Name: "Hugging Face", Protocol: oauth.OIDC,
		Issuer: "https://huggingface.co",
		Checks: []oauth.Check{oauth.CheckPKCE, oauth.CheckState},
		// https://huggingface.co/docs/huggingface.js/hub/interfaces/UserInfo
		EmailVerified: saysVerified("email_verified"),
	})
}
