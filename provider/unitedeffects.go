package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// UnitedEffects signs users in with their United Effects account.
//
// Register the callback URL /auth/callback/united-effects. Variables:
// AUTH_UNITED_EFFECTS_ID, AUTH_UNITED_EFFECTS_SECRET and
// AUTH_UNITED_EFFECTS_ISSUER. Set Issuer to
// https://auth.unitedeffects.com/GROUP_ID.
//
// https://docs.unitedeffects.com/
func UnitedEffects(o Options) *pintle.OAuth {
	return completing(o.apply(&pintle.OAuth{
		ID: "united-effects", Name: "United Effects", Protocol: oauth.OIDC,
		Authorization: endpoint("", "scope", "openid email profile"),
	}), func(own *pintle.OAuth) error {
		own.Authorization.Params["resource"] = own.Issuer
		return nil
	})
}
