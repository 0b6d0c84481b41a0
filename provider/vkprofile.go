package provider

import (
	"context"
	"net/http"

	"github.com/pintleauth/pintle"
)

// VKProfile is what VK says of a person; see [pintle.Profile.Decode]. Email
// comes from the token response and is empty without permission.
type VKProfile struct {
	ID        int64  `json:"id"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Photo100  string `json:"photo_100"`
	Email     string `json:"email"`
}

// vkProfile takes the person out of a list and the address out of the token
// response. Failures of the API have status 200 and no list.
func vkProfile(_ context.Context, _ *http.Client, a *pintle.ProviderAnswer) error {
	person, err := object(a.Profile, "response.0")
	if err != nil {
		return err
	}
	a.Profile = person
	a.Profile["email"] = a.Tokens["email"]
	return nil
}
