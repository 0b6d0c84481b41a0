package provider

import (
	"context"
	"net/http"

	"github.com/pintleauth/pintle/oauth"
)

// vkProfile takes the user from a list and the address from the token response.
// Failures of the API have status 200 and no list.
func vkProfile(_ context.Context, _ *http.Client, a *oauth.Answer) error {
	person, err := object(a.Profile, "response.0")
	if err != nil {
		return err
	}
	a.Profile = person
	a.Profile["email"] = a.Tokens["email"]
	return nil
}
