package provider

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// appleName adds the form field "user". One that holds no name is dropped.
func appleName(_ context.Context, _ *http.Client, a *oauth.Answer) error {
	var user struct {
		Name map[string]any `json:"name"`
	}
	if json.Unmarshal([]byte(a.Callback["user"]), &user) == nil && user.Name != nil {
		a.Profile["user"] = map[string]any{"name": user.Name}
	}
	return nil
}

func appleUser(p pintle.Profile, a *pintle.Account) (*pintle.User, error) {
	c := claims{id: "sub", name: "email", email: "email", image: "null"}
	if p.Object("user") != nil {
		c.name = "user.name!.firstName+user.name!.lastName"
	}
	return c.user(p, a)
}
