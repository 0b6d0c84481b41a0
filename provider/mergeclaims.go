package provider

import (
	"context"
	"net/http"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// mergeClaims adds the claims to the profile that only the ID token has. Address
// and email_verified come from the same source, or from sources with the same
// address: otherwise the email_verified of one address would verify another.
func mergeClaims(_ context.Context, _ *http.Client, a *oauth.Answer) error {
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
