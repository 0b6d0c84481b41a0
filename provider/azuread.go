package provider

import "github.com/pintleauth/pintle"

// AzureAD is [MicrosoftEntraID] under its former id, with the callback URL
// /auth/callback/azure-ad and the variables AUTH_AZURE_AD_ID,
// AUTH_AZURE_AD_SECRET and AUTH_AZURE_AD_ISSUER.
//
// https://learn.microsoft.com/entra/fundamentals/new-name
//
// Deprecated: Azure Active Directory is now called Microsoft Entra ID. Use
// [MicrosoftEntraID], with the ID "azure-ad" where accounts are stored under it.
func AzureAD(o MicrosoftEntraIDOptions) *pintle.OAuth {
	id := o.ID
	p := MicrosoftEntraID(o)
	p.ID, p.Name = "azure-ad", "Azure Active Directory"
	if id != "" {
		p.ID = id
	}
	return p
}
