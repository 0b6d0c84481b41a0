package provider

import (
	"strings"

	"github.com/pintleauth/pintle"
)

const microsoftLogin = "https://login.microsoftonline.com/"

// microsoftTenant completes a provider of Microsoft's by the tenant in its issuer.
//
// Client assertions must name the token endpoint. It follows from the configured
// issuer: an address from the metadata could be that of another provider.
//
// https://learn.microsoft.com/entra/identity-platform/certificate-credentials
func microsoftTenant(own *pintle.OAuth) error {
	if server, ok := strings.CutSuffix(strings.TrimRight(own.Issuer, "/"), "/v2.0"); ok && own.Quirks.AssertionAudience == "" {
		own.Quirks.AssertionAudience = server + "/oauth2/v2.0/token"
	}
	tenant, _, _ := strings.Cut(strings.TrimPrefix(own.Issuer, microsoftLogin), "/")
	if tenant == "consumers" || strings.Contains(tenant, ".") && tenant != own.Issuer {
		// The metadata names the id of such a tenant.
		own.WellKnown, own.Issuer = own.Issuer+"/.well-known/openid-configuration", ""
	}
	return nil
}
