package provider

import (
	"fmt"
	"regexp"
	"slices"
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

// tenantID is the id of a tenant as tokens have it.
var tenantID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// allowedTenants completes a provider by the tenants whose users may sign in: all if the
// list is nil. The claim tid
// names the tenant, and belongs to the issuer, which is compared with it before.
//
// https://learn.microsoft.com/entra/identity-platform/claims-validation#validate-the-tenant
func allowedTenants(list []string) func(*pintle.OAuth) error {
	return func(own *pintle.OAuth) error {
		if list == nil {
			return nil
		}
		for _, id := range list {
			if !tenantID.MatchString(id) {
				return fmt.Errorf("AllowedTenants has %q, which is not the id of a tenant in lower case", id)
			}
		}
		check := own.Quirks.CheckClaims
		own.Quirks.CheckClaims = func(claims map[string]any) error {
			if tenant, _ := claims["tid"].(string); !slices.Contains(list, tenant) {
				return &pintle.Error{Code: pintle.CodeAccessDenied, Provider: own.ID, Err: fmt.Errorf("the tenant %.40q is not one of AllowedTenants", tenant)}
			}
			if check == nil {
				return nil
			}
			return check(claims)
		}
		return nil
	}
}
