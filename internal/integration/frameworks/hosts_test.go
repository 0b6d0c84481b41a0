package frameworks_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/provider"
)

// S-11: The host of a request chooses the tenant, as docs/tenants.md shows it.
func TestTheHostChoosesTheTenant(t *testing.T) {
	t.Setenv("AUTH_SECRET", "a secret of at least 32 characters")
	for _, color := range []string{"BLUE", "RED"} {
		t.Setenv("AUTH_SSO_"+color+"_ISSUER", "https://idp.example")
		t.Setenv("AUTH_SSO_"+color+"_ID", "id")
		t.Setenv("AUTH_SSO_"+color+"_SECRET", "secret")
	}
	ids := map[string]string{"blue.example.com": "sso-blue", "red.example.com": "sso-red"}
	auth := pintle.NewFunc(
		func(r *http.Request) string { return r.Host },
		func(_ context.Context, host string) (pintle.Config, error) {
			id, known := ids[host]
			if !known {
				return pintle.Config{}, fmt.Errorf("host %q: %w", host, pintle.ErrNotFound)
			}
			return pintle.Config{
				URL:       "https://" + host,
				Providers: []pintle.Provider{provider.OpenIDConnect(provider.Options{ID: id})}, // AUTH_SSO_BLUE_ISSUER, …
			}, nil
		},
	)
	for host, want := range map[string]struct {
		status int
		shows  string
	}{
		"blue.example.com": {http.StatusOK, "https://blue.example.com/auth/callback/sso-blue"},
		"red.example.com":  {http.StatusOK, "https://red.example.com/auth/callback/sso-red"},
		"evil.example.com": {http.StatusNotFound, ""},
	} {
		w := httptest.NewRecorder()
		auth.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "https://"+host+"/auth/providers", nil))
		if body := w.Body.String(); w.Code != want.status || !strings.Contains(body, want.shows) {
			t.Errorf("%s answers %d %s, want %+v", host, w.Code, body, want)
		}
	}
}
