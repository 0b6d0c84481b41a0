package pintle_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// A provider without a Profile function signs users in whose profile has a
// member of an unexpected type: the member is left out.
func TestDefaultProfileIgnoresMembersOfUnexpectedTypes(t *testing.T) {
	for _, value := range []any{json.Number("5"), true, map[string]any{}, []any{"x"}} {
		for _, member := range []string{"name", "email", "picture"} {
			t.Run(fmt.Sprintf("%s %v", member, value), func(t *testing.T) {
				s := newSite(t, func(s *site) {
					s.Providers[0].(*pintle.OAuth).Quirks.AmendProfile = func(_ context.Context, _ *http.Client, a *oauth.Answer) error {
						a.Profile[member] = value
						return nil
					}
				})
				s.browser().signInWith("acme").goesTo(s.url)
				user := lastEvent[*pintle.SignInEvent](s, "signIn").User
				got := map[string]string{"name": user.Name, "email": user.Email, "picture": user.Image}
				for name, text := range got {
					if (text == "") != (name == member) && name != "picture" {
						t.Errorf("with %s = %v the %s is %q", member, value, name, text)
					}
				}
			})
		}
	}
}
