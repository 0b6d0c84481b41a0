package pintle_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
)

// The host receives the values of a form as they were sent, numbers of JSON
// included.
func TestAuthorizeIsGivenTheSubmission(t *testing.T) {
	var got *pintle.Submission
	s := newSite(t, func(s *site) {
		s.Providers = []pintle.Provider{&pintle.Credentials{Authorize: func(_ context.Context, c *pintle.Submission) (*pintle.User, error) {
			got = c
			return &pintle.User{Name: "Ada"}, nil
		}}}
	})
	b := s.browser()
	b.postJSON("/auth/callback/credentials", map[string]any{"csrfToken": b.csrf(), "pin": 12345, "list": []any{"a", true}}, "X-Device", "7")
	if fmt.Sprint(got.Fields["pin"]) != "12345" || fmt.Sprint(got.Fields["list"]) != "[a true]" || got.Text("pin") != "" || got.Request.Header.Get("X-Device") != "7" {
		t.Errorf("Authorize is given %v", got.Fields)
	}
	claims := unsealed(t, sessionCookie, b.cookie(sessionCookie))
	if id, _ := claims["sub"].(string); len(id) != 36 {
		t.Errorf("a user without an id has the subject %v", claims["sub"])
	}
	if _, known := claims["email"]; known {
		t.Errorf("the claims are %v", claims)
	}
	e := lastEvent[*pintle.SignInEvent](s, "signIn")
	if e.NewUser != nil || e.Profile != nil || e.Account.Type != pintle.TypeCredentials || e.Account.ProviderAccountID != claims["sub"] {
		t.Errorf("the event has %+v", e)
	}
	if names := s.eventNames(); !slices.Equal(names, []string{"signIn"}) {
		t.Errorf("the events are %q", names)
	}
}

// ASVS-16.3.1 to ASVS-16.3.4, ASVS-16.5.1: failures are in the log under their
// codes, and the browser receives only the code that it may see.
func TestFailuresAreInTheLogAndNotInTheBrowser(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.Providers = []pintle.Provider{&pintle.Credentials{Authorize: func(context.Context, *pintle.Submission) (*pintle.User, error) {
			return nil, fmt.Errorf("the directory at ldap://10.0.0.7: %w", errBroken)
		}}}
	})
	b := s.browser()
	r := b.post("/auth/callback/credentials").fails("/auth/error", operator)
	page := b.get(r.location())
	for _, answer := range []string{r.location(), page.body, fmt.Sprint(page.header)} {
		if strings.Contains(answer, "ldap") || strings.Contains(answer, "broken") {
			t.Errorf("the browser is told %s", answer)
		}
	}
	if !s.log.has("CallbackRouteError") || !strings.Contains(s.log.String(), "ldap://10.0.0.7: broken on purpose") || !strings.Contains(s.log.String(), `"provider":"credentials"`) {
		t.Errorf("the log says %s", s.log)
	}
}
