package provider_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/provider"
)

// RPT-74, RPX-101. With the issuer of all tenants, a host names those whose users may sign in.
func TestOnlyAllowedTenantsOfMicrosoftSignIn(t *testing.T) {
	const corp, other = "72f988bf-86f1-41af-91ab-2d7cd011db47", "0f0f0f0f-86f1-41af-91ab-2d7cd011db47"
	tests := []struct {
		name    string
		allowed []string
		tenant  string
		want    string // the error that the browser sees, or the home page
	}{
		{"a tenant of the list", []string{other, corp}, corp, ""},
		{"personal accounts, in the list", []string{entraTenant}, entraTenant, ""},
		{"no list", nil, other, ""},
		{"a tenant that is not in the list", []string{corp}, other, "AccessDenied"},
		{"personal accounts", []string{corp}, entraTenant, "AccessDenied"},
		{"in capitals", []string{corp}, strings.ToUpper(corp), "AccessDenied"},
		{"an empty list", []string{}, corp, "AccessDenied"},
		{"no tenant", []string{corp}, "none", "Configuration"},
		{"no tenant, and an empty list", []string{}, "none", "Configuration"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newService(t, readFacts(t)["microsoft-entra-id"], ada)
			s.tenant = tt.tenant
			p := provider.MicrosoftEntraID(provider.MicrosoftEntraIDOptions{
				Options:        provider.Options{ClientID: clientID, ClientSecret: s.secret()},
				AllowedTenants: tt.allowed, PhotoSize: -1,
			})
			a := newApplication(t, p, s)
			resp := a.signIn(s)
			to := resp.Header.Get("Location")
			if resp.StatusCode != http.StatusFound || tt.want == "" && to != "https://app.example" || tt.want != "" && !strings.HasSuffix(to, "?error="+tt.want) {
				t.Errorf("the callback led to %d %s: %s", resp.StatusCode, to, a.log.String())
			}
			if (a.signedIn != nil) != (tt.want == "") {
				t.Errorf("RPT-74 signed in: %v", a.signedIn)
			}
		})
	}
	for _, id := range []string{strings.ToUpper(corp), "contoso.com", "common", "", corp + "x"} {
		p := provider.MicrosoftEntraID(provider.MicrosoftEntraIDOptions{
			Options: provider.Options{ClientID: clientID, ClientSecret: clientSecret}, AllowedTenants: []string{corp, id},
		})
		_, err := pintle.New(pintle.Config{Providers: []pintle.Provider{p}, Secrets: []string{"a secret of the application, long enough"}, URL: "https://app.example"})
		if err == nil || !strings.Contains(err.Error(), "AllowedTenants") || !errors.Is(err, pintle.Code("InvalidEndpoints")) {
			t.Errorf("the list with %q: New: %v", id, err)
		}
	}
}
