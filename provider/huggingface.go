package provider

import "github.com/pintleauth/pintle"

// HuggingFace signs users in with their Hugging Face account.
//
// Register the callback URL /auth/callback/huggingface. Variables:
// AUTH_HUGGINGFACE_ID and AUTH_HUGGINGFACE_SECRET.
//
// https://huggingface.co/docs/hub/oauth
func HuggingFace(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "huggingface", Name: "Hugging Face", Protocol: pintle.OIDC,
		Issuer: "https://huggingface.co",
		Checks: []pintle.Check{pintle.PKCE, pintle.State},
		// https://huggingface.co/docs/huggingface.js/hub/interfaces/UserInfo
		EmailVerified: saysVerified("email_verified"),
	})
}
