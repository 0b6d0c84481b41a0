package pintle_test

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/oauth"
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

// RPX-125, RPX-117: clients that begin or end sign-ins while a provider hangs hold few
// requests to it.
func TestAProviderThatHangsHoldsFewRequests(t *testing.T) {
	for name, begin := range map[string]func(b *browser) (path string){
		"callbacks":          func(b *browser) string { return b.consent(b.leave("acme")) },
		"sign-ins it begins": func(*browser) string { return initiateAcme },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, func(s *site) {
					acme := s.idp.OIDC("acme")
					acme.AllowInitiated, acme.Push = true, oauth.PushAlways
					s.Providers = []pintle.Provider{acme}
				})
				s.browser().signInWith("acme").goesTo(s.url)
				browsers := map[*browser]string{}
				for range 200 {
					b := s.browser()
					browsers[b] = begin(b)
				}
				var held atomic.Int64
				s.net["idp.example"] = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					held.Add(1)
					<-r.Context().Done()
				})
				var wait sync.WaitGroup
				for b, path := range browsers {
					wait.Go(func() {
						if code := b.get(path).errorCode(); code != operator {
							t.Errorf("the browser is told %q", code)
						}
					})
				}
				wait.Wait()
				if n := held.Load(); n != 64 {
					t.Errorf("the provider has %d requests, want 64", n)
				}
				s.net["idp.example"] = s.idp
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
