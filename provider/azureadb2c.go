package provider

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// AzureADB2C signs users in with their Azure AD B2C account.
//
// Register the callback URL /auth/callback/azure-ad-b2c. Variables:
// AUTH_AZURE_AD_B2C_ID, AUTH_AZURE_AD_B2C_SECRET and AUTH_AZURE_AD_B2C_ISSUER.
// Set Issuer to the issuer in the metadata of the user flow, which has the id of
// the tenant and not its name, and WellKnown to the address of the metadata. For
// Microsoft Entra External ID, which replaces the service for new customers, use
// [OpenIDConnect].
//
// https://learn.microsoft.com/azure/active-directory-b2c/authorization-code-flow
func AzureADB2C(o Options) *pintle.OAuth {
	return o.apply(&pintle.OAuth{
		ID: "azure-ad-b2c", Name: "Azure AD B2C", Protocol: oauth.OIDC,
		Profile: claims{id: "sub", name: "name|preferred_username", email: "emails.0", image: "null"}.user,
	})
}
