package pintle_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/health"
	"github.com/pintleauth/pintle/sharedstate"
	"github.com/pintleauth/pintle/store/memstore"
)

// checksOf returns the health checks of a site by their names.
func checksOf(t *testing.T, a *pintle.Auth) map[string]health.Check {
	t.Helper()
	all, err := a.HealthChecks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]health.Check{}
	for _, c := range all {
		byName[c.Name] = c
	}
	return byName
}

// ready returns the status of the handler of a site.
func ready(t *testing.T, s *site) int {
	t.Helper()
	all, err := s.auth.HealthChecks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	health.Handler(all, health.Options{Logger: s.Logger}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/ready", nil))
	if text := w.Body.String(); text != "ok\n" && text != "unavailable\n" {
		t.Errorf("the answer is %q", text)
	}
	return w.Code
}

func TestAWorkingSiteIsReady(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*site)
		want   []string
	}{
		"database sessions": {func(s *site) { s.Store = memstore.New() }, []string{"provider:acme", "sessions", "shared_state"}},
		"token sessions": {func(s *site) {
			s.Store, s.Session.Strategy, s.Session.Revocation = memstore.New(), pintle.StrategyJWT, &memstore.Revocations{}
		}, []string{"provider:acme", "sessions", "shared_state", "store"}},
		"no store": {func(s *site) {
			s.Store, s.Providers = nil, s.Providers[:1]
			s.Session = pintle.SessionConfig{}
		}, []string{"provider:acme", "sessions"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, func(s *site) { s.Providers = []pintle.Provider{s.idp.OIDC("acme"), s.Providers[1]} }, tt.change)
			all := checksOf(t, s.auth)
			var names []string
			for name, c := range all {
				names = append(names, name)
				if err := c.Run(t.Context()); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if c.Required != (name == "sessions") {
					t.Errorf("%s is required: %t", name, c.Required)
				}
			}
			slices.Sort(names)
			if !slices.Equal(names, tt.want) {
				t.Errorf("the checks are %q, want %q", names, tt.want)
			}
			if got := ready(t, s); got != http.StatusOK {
				t.Errorf("the status is %d", got)
			}
		})
	}
}

// A readOnlyState is a shared state that cannot be written.
type readOnlyState struct{ sharedstate.Unimplemented }

func (readOnlyState) Release(context.Context, sharedstate.Key, sharedstate.Owner) error {
	return errBroken
}

// A downList is a revocation list that does not answer.
type downList struct{ pintle.RevocationStore }

func (downList) Revoked(context.Context, pintle.TokenSession) (bool, error) {
	return false, errBroken
}

func TestAHealthCheckFailsWithWhatItLooksAt(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*site)
		fails  string
		status int
	}{
		"sessions in a store that is down": {func(s *site) { s.Store = downStore{memstore.New()} }, "sessions", http.StatusServiceUnavailable},
		"a revocation list that is down": {func(s *site) {
			s.Session.Strategy, s.Session.Revocation = pintle.StrategyJWT, downList{}
		}, "sessions", http.StatusServiceUnavailable},
		"a store of users that is down": {func(s *site) {
			s.Store, s.Session.Strategy = downStore{memstore.New()}, pintle.StrategyJWT
		}, "store", http.StatusOK},
		"a shared state that is down": {func(s *site) { s.SharedState = readOnlyState{} }, "shared_state", http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, tt.change)
				for name, c := range checksOf(t, s.auth) {
					if err := c.Run(t.Context()); errors.Is(err, errBroken) != (name == tt.fails) || err != nil && !errors.Is(err, pintle.CodeStore) {
						t.Errorf("%s: %v", name, err)
					}
				}
				if got := ready(t, s); got != tt.status {
					t.Errorf("the status is %d, want %d", got, tt.status)
				}
				synctest.Wait()
				if text := s.log.String(); strings.Count(text, errBroken.Error()) != 1 || !strings.Contains(text, `"check":"`+tt.fails) {
					t.Errorf("the log has not one record of the check:\n%s", text)
				}
			})
		})
	}
}

func TestAHealthCheckFindsOutWhetherAProviderAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, func(s *site) { s.Providers = []pintle.Provider{s.idp.OIDC("acme")} })
		check := checksOf(t, s.auth)["provider:acme"]
		if err := check.Run(t.Context()); err != nil {
			t.Errorf("a provider that answers: %v", err)
		}
		for name, fault := range map[string]func(){
			"answers with 503": func() { s.idp.Break(authtest.At(authtest.DiscoveryEndpoint, authtest.Unavailable)) },
			"hangs":            func() { s.idp.Break(authtest.At(authtest.DiscoveryEndpoint, authtest.Hangs)) },
			"is away":          func() { delete(s.net, "idp.example") },
		} {
			fault()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			if err := check.Run(ctx); err == nil || !strings.Contains(err.Error(), "idp.example") {
				t.Errorf("a provider that %s: %v", name, err)
			}
			cancel()
			if got := ready(t, s); got != http.StatusOK {
				t.Errorf("with a provider that %s the status is %d", name, got)
			}
			time.Sleep(time.Minute) // until the checks have ended
			synctest.Wait()
			s.idp.Repair()
			s.net["idp.example"] = s.idp
		}
	})
}

func TestHealthChecksOfTenantsAreThoseOfEach(t *testing.T) {
	s := newSite(t)
	cfg := s.Config
	a := pintle.NewFunc(func(r *http.Request) string { return r.Host }, func(_ context.Context, key string) (pintle.Config, error) {
		if key != "blue" {
			return pintle.Config{}, pintle.ErrNotFound
		}
		return cfg, nil
	})
	if all, err := a.HealthChecks(t.Context()); !errors.Is(err, pintle.CodeConfiguration) || all != nil {
		t.Errorf("without a tenant there are the checks %v, %v", all, err)
	}
	if _, err := a.Tenant("red").HealthChecks(t.Context()); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("of a tenant that does not exist: %v", err)
	}
	if err := checksOf(t, a.Tenant("blue"))["sessions"].Run(t.Context()); err != nil {
		t.Errorf("the sessions of a tenant: %v", err)
	}
}
