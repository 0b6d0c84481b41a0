package provider

import (
	"slices"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// MicrosoftEntraIDOptions are the options of [MicrosoftEntraID].
type MicrosoftEntraIDOptions struct {
	Options

	// Tenant selects the accounts that may sign in: the id or a domain of a
	// tenant, or "organizations", "consumers" or "common". It is short for an
	// Issuer of https://login.microsoftonline.com/TENANT/v2.0.
	Tenant string

	// AllowedTenants are the ids of the tenants whose users may sign in, in lower case:
	// "72f988bf-86f1-41af-91ab-2d7cd011db47". It is for the Tenant "organizations" or "common".
	// Others are refused with [pintle.CodeAccessDenied]. Nil allows all, and an empty list
	// none. That of personal accounts is 9188040d-6c67-4c5b-b112-36a304b66dad.
	AllowedTenants []string

	// PhotoSize is the width of the picture in pixels: 48 (also if zero), 64,
	// 96, 120, 240, 360, 432, 504 or 648. The picture becomes part of the
	// session cookie of sessions without a database. A negative value requests
	// no picture.
	PhotoSize int
}

// MicrosoftEntraID signs users in with their work, school or personal
// Microsoft account.
//
// Register the callback URL /auth/callback/microsoft-entra-id, for the platform
// Web. Variables: AUTH_MICROSOFT_ENTRA_ID_ID, AUTH_MICROSOFT_ENTRA_ID_SECRET
// and AUTH_MICROSOFT_ENTRA_ID_ISSUER. Without a secret, the token of a federated identity
// comes from the file in AZURE_FEDERATED_TOKEN_FILE, which Azure sets for workload
// identities. Without tenant and issuer all users with a Microsoft account may sign in. The
// administrator of a tenant can set any address for an account, verified or not. An address
// counts as verified only with the optional claim xms_edov: add it to the ID token in the
// application's token configuration.
//
// https://learn.microsoft.com/entra/identity-platform/v2-protocols-oidc
func MicrosoftEntraID(o MicrosoftEntraIDOptions) *pintle.OAuth {
	if o.Tenant != "" {
		o.Issuer = microsoftLogin + o.Tenant + "/v2.0"
	}
	p := o.apply(&pintle.OAuth{
		ID: "microsoft-entra-id", Name: "Microsoft Entra ID", Protocol: oauth.OIDC,
		Authorization: endpoint("", "scope", "openid profile email User.Read"),
		Profile:       claims{id: "sub", name: "name", email: "email", image: "photo|null"}.user,
		Quirks: oauth.Quirks{
			TenantIssuer: true, TokenResponse: microsoftError, AmendProfile: microsoftPhoto(o.PhotoSize),
			AssertionFileVariable: "AZURE_FEDERATED_TOKEN_FILE",
		},
		EmailVerified: microsoftVerified,
	})
	return completing(defaultIssuer(completing(p, allowedTenants(slices.Clone(o.AllowedTenants))), microsoftLogin+"common/v2.0"), microsoftTenant)
}
