package pintle_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

// The metadata and the keys of a provider rarely change, so that users can sign in
// while only those are out of reach. The operator reads about it.
func TestUsersSignInWhileAProviderShowsNoMetadata(t *testing.T) {
	for _, tt := range []struct {
		document    string
		endpoint    authtest.Endpoint
		serves, not time.Duration
	}{
		{"metadata", authtest.DiscoveryEndpoint, 23 * time.Hour, 25 * time.Hour},
		{"keys", authtest.JWKSEndpoint, 3 * time.Hour, 5 * time.Hour},
	} {
		t.Run("RPT-75 "+tt.document, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t)
				s.browser().signInWith("acme").goesTo(s.url)
				s.idp.Break(authtest.At(tt.endpoint, authtest.Unavailable))
				time.Sleep(tt.serves)
				s.browser().signInWith("acme").goesTo(s.url)
				s.browser().signInWith("acme").goesTo(s.url)
				if n := s.log.records(t, "WARN", "OldProviderCopy"); n != 1 {
					t.Errorf("the log has %d records about it, want 1: %s", n, s.log)
				}
				if text := s.log.String(); !strings.Contains(text, `"of":"`+tt.document) || !strings.Contains(text, "503") {
					t.Errorf("the log does not say what does not come, and why: %s", text)
				}
				time.Sleep(tt.not - tt.serves)
				r := s.browser().attempt("acme")
				if code := r.errorCode(); code != operator {
					t.Errorf("with an old copy the browser is sent to %q", r.location())
				}
				s.idp.Repair()
				time.Sleep(time.Minute)
				s.browser().signInWith("acme").goesTo(s.url)
			})
		})
	}
}

func TestKeysCannotBeKeptForLessThanTheyAreFresh(t *testing.T) {
	s := newSite(t)
	acme := s.idp.OIDC("acme")
	acme.KeysMaxAge = time.Minute
	cfg := s.Config
	cfg.Providers = []pintle.Provider{acme}
	if _, err := pintle.New(cfg); err == nil || !strings.Contains(err.Error(), "KeysMaxAge is 1m0s") || !errors.Is(err, pintle.Code("InvalidEndpoints")) {
		t.Errorf("New: %v", err)
	}
}
