package provider

import (
	"context"
	"net/http"

	"github.com/pintleauth/pintle"
)

// mergeClaims adds to the profile what only the ID token says. Address and
// email_verified are taken from the same answer, or from answers that name the
// same address: otherwise one address would be verified by what is said of
// another.
func mergeClaims(_ context.Context, _ *http.Client, a *pintle.ProviderAnswer) error {
	address := pintle.Profile(a.Profile).Text("email")
	if address == "" {
		delete(a.Profile, "email_verified")
	}
	other := address != "" && address != pintle.Profile(a.Claims).Text("email")
	for name, value := range a.Claims {
		if name == "email_verified" && other {
			continue
		}
		if _, said := a.Profile[name]; !said {
			a.Profile[name] = value
		}
	}
	return nil
}
