package pintle_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

// A street is a service whose tenants have a store each. Every store has a user
// "user-ada" and one account of that user.
type street struct {
	auth   *pintle.Auth
	made   atomic.Int32
	stores map[string]pintle.Store
	book   logBook
}

func newStreet(t *testing.T, hosts ...string) *street {
	t.Helper()
	s := &street{stores: map[string]pintle.Store{}}
	for _, host := range hosts {
		store := memstore.New()
		ada := people["ada"].user
		if _, err := store.CreateUser(t.Context(), &ada); err != nil {
			t.Fatal(err)
		}
		if err := store.LinkAccount(t.Context(), &pintle.Account{UserID: ada.ID, Type: pintle.TypeOIDC, Provider: "acme", ProviderAccountID: host}); err != nil {
			t.Fatal(err)
		}
		s.stores[host] = store
	}
	s.auth = byHost(&s.book, func(_ context.Context, host string) (pintle.Config, error) {
		cfg := rented(host)
		if strings.HasPrefix(host, "far") {
			return cfg, nil // one of many others
		}
		store, known := s.stores[host]
		if !known {
			return pintle.Config{}, fmt.Errorf("host %q: %w", host, pintle.ErrNotFound)
		}
		s.made.Add(1)
		cfg.Store, cfg.Session.Strategy = store, pintle.StrategyDatabase
		cfg.Providers = append(cfg.Providers, &pintle.OAuth{ID: "acme", Issuer: "https://idp.example", ClientID: "app", ClientSecret: "secret"})
		return cfg, nil
	})
	return s
}

// whoAt is the user whom a page at a host greets.
func (s *street) whoAt(host, cookie string) string {
	return get(s.auth.Load(http.HandlerFunc(sayWho)), "http://"+host+"/", "Cookie", cookie).Body.String()
}

// read returns the session of a cookie at a host.
func (s *street) read(t *testing.T, host, cookie string) *pintle.Session {
	t.Helper()
	r := httptest.NewRequest("GET", "http://"+host+"/", nil)
	r.Header.Set("Cookie", cookie)
	session, err := s.auth.Session(r)
	if err != nil || session == nil {
		t.Fatal(session, err)
	}
	return session
}

func TestAJobWorksForOneTenant(t *testing.T) {
	s := newStreet(t, "red.example", "blue.example")
	red, blue := adaAt(t, s.auth, "red.example"), adaAt(t, s.auth, "blue.example")
	// A context of another tenant does not matter.
	var ctx context.Context
	get(s.auth.Load(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { ctx = r.Context() })), "http://blue.example/", "Cookie", blue)
	for name, ctx := range map[string]context.Context{"no request": t.Context(), "a request of another tenant": ctx} {
		t.Run(name, func(t *testing.T) {
			if account, err := s.auth.Tenant("red.example").Account(ctx, "acme", "red.example"); err != nil || account.UserID != "user-ada" {
				t.Errorf("the account is %+v, %v", account, err)
			}
			if _, err := s.auth.Tenant("red.example").Account(ctx, "acme", "blue.example"); !errors.Is(err, pintle.ErrNotFound) {
				t.Errorf("the account of the other tenant: %v", err)
			}
		})
	}
	session := s.read(t, "red.example", red)
	if accounts, err := s.auth.Tenant("red.example").Accounts(t.Context(), session); err != nil || len(accounts) != 1 {
		t.Errorf("the accounts are %v, %v", accounts, err)
	}
	if _, err := s.auth.Tenant("blue.example").Accounts(t.Context(), session); !errors.Is(err, pintle.CodeAccessDenied) {
		t.Errorf("the other tenant takes the session: %v", err)
	}
	if err := s.auth.Tenant("red.example").SignOutEverywhere(t.Context(), "user-ada"); err != nil {
		t.Fatal(err)
	}
	if got := s.whoAt("red.example", red); got != "hello, anonymous" {
		t.Errorf("after the sign-out the page says %q", got)
	}
	if got := s.whoAt("blue.example", blue); got != "hello, Ada Lovelace" {
		t.Errorf("at the other tenant the page says %q", got)
	}
	if err := s.auth.Tenant("blue.example").Tenant("red.example").DeleteUser(t.Context(), "user-ada"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.stores["red.example"].User(t.Context(), "user-ada"); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("the user is still there: %v", err)
	}
	if _, err := s.stores["blue.example"].User(t.Context(), "user-ada"); err != nil {
		t.Errorf("the user of the other tenant: %v", err)
	}
	if n := s.made.Load(); n != 2 {
		t.Errorf("configurations were made %d times, want once for each tenant", n)
	}
}

// What is forgotten is made again, and the sessions that it has read stay good.
func TestATenantThatWasForgottenWorks(t *testing.T) {
	s := newStreet(t, "red.example")
	cookie := adaAt(t, s.auth, "red.example")
	tenant, session := s.auth.Tenant("red.example"), s.read(t, "red.example", cookie)
	for i := range 1000 {
		_, _ = s.auth.Tenant(fmt.Sprintf("far%d.example", i)).Account(t.Context(), "acme", "1")
	}
	made := s.made.Load()
	for _, err := range tenant.Devices(t.Context(), session) {
		if err != nil {
			t.Errorf("the devices of the session: %v", err)
		}
	}
	if s.made.Load() != made+1 {
		t.Fatal("the configuration was not forgotten")
	}
	if n, err := tenant.EndOtherDevices(t.Context(), session); err != nil || n != 0 {
		t.Errorf("other devices: %d, %v", n, err)
	}
	if got := s.whoAt("red.example", cookie); got != "hello, Ada Lovelace" {
		t.Errorf("the page says %q", got)
	}
}

func TestATenantThatDoesNotExist(t *testing.T) {
	s := newStreet(t)
	book := &logBook{}
	useDefaultLog(t, book)
	err := s.auth.Tenant("green.example").SignOutEverywhere(t.Context(), "user-ada")
	if !errors.Is(err, pintle.ErrNotFound) || !errors.Is(err, pintle.Code("UnknownTenant")) {
		t.Errorf("the error is %v", err)
	}
	if all := book.failures(t); len(all) != 1 || all[0]["code"] != "UnknownTenant" {
		t.Errorf("the records are %v", all)
	}
	broken := byHost(&s.book, func(context.Context, string) (pintle.Config, error) { return pintle.Config{}, errBroken })
	if err := broken.Tenant("red.example").SignOutEverywhere(t.Context(), "1"); !errors.Is(err, errBroken) {
		t.Errorf("a configuration that cannot be made: %v", err)
	}
	secretless := byHost(&s.book, func(context.Context, string) (pintle.Config, error) { return pintle.Config{}, nil })
	if err := secretless.Tenant("red.example").SignOutEverywhere(t.Context(), "1"); !errors.Is(err, pintle.Code("MissingSecret")) {
		t.Errorf("a configuration that New would reject: %v", err)
	}
}

// A tenant has its log, once its configuration is there.
func TestATenantLogsWhereItsConfigurationSays(t *testing.T) {
	s := newStreet(t, "red.example")
	adaAt(t, s.auth, "red.example")
	if _, err := s.auth.Tenant("red.example").Account(t.Context(), "acme", "none"); !errors.Is(err, pintle.ErrNotFound) {
		t.Fatal(err)
	}
	if all := s.book.failures(t); len(all) == 0 || all[len(all)-1]["function"] != "Account" {
		t.Errorf("the log of the tenant has %v", all)
	}
}

// A call without a tenant says what to do.
func TestACallWithoutATenantSaysWhatToDo(t *testing.T) {
	s := newStreet(t, "red.example")
	useDefaultLog(t, &logBook{})
	if _, err := s.auth.Account(t.Context(), "acme", "red.example"); err == nil || !strings.Contains(err.Error(), "call it on Auth.Tenant") {
		t.Errorf("the error is %v", err)
	}
}

func TestTheStoreOfARequestIsThatOfItsTenant(t *testing.T) {
	s := newStreet(t, "red.example", "blue.example")
	for host, want := range s.stores {
		if got, err := s.auth.StoreFor(httptest.NewRequest("GET", "http://"+host+"/", nil)); err != nil || got != want {
			t.Errorf("the store of %s is %v, %v", host, got, err)
		}
	}
	book := &logBook{}
	useDefaultLog(t, book)
	if _, err := s.auth.StoreFor(httptest.NewRequest("GET", "http://green.example/", nil)); !errors.Is(err, pintle.ErrNotFound) || len(book.failures(t)) != 1 {
		t.Errorf("of no tenant: %v, logged as %s", err, book)
	}
	if got, err := newSite(t).auth.StoreFor(httptest.NewRequest("GET", "http://localhost:3000/", nil)); err != nil || got != nil {
		t.Errorf("without a store: %v, %v", got, err)
	}
}

// A job at night has no request.
func TestAStoreIsFoundWithoutARequest(t *testing.T) {
	s := newStreet(t, "red.example", "blue.example")
	for host, want := range s.stores {
		if got, err := s.auth.Tenant(host).StoreFor(nil); err != nil || got != want {
			t.Errorf("the store of %s: %v, %v", host, got, err)
		}
	}
	if got, err := newSite(t).auth.StoreFor(nil); err != nil || got != nil {
		t.Errorf("of an Auth without a store: %v, %v", got, err)
	}
	if got, err := s.auth.StoreFor(nil); got != nil || !errors.Is(err, pintle.Code("UnknownTenant")) {
		t.Errorf("of an Auth that needs a request: %v, %v", got, err)
	}
}

// A tenant serves its requests as the Auth does that it comes from.
func TestATenantServesRequests(t *testing.T) {
	s := newStreet(t, "red.example")
	tenant := s.auth.Tenant("red.example")
	cookie := adaAt(t, tenant, "red.example")
	sessions := 0
	h := s.auth.Load(tenant.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sessions++
		if _, err := s.auth.Account(r.Context(), "acme", "red.example"); err != nil {
			t.Errorf("inside Require of the tenant: %v", err)
		}
		sayWho(w, r)
	})))
	if w := get(h, "http://red.example/", "Cookie", cookie); w.Body.String() != "hello, Ada Lovelace" || sessions != 1 {
		t.Errorf("status %d, page %q", w.Code, w.Body)
	}
	if w := get(tenant.Load(http.HandlerFunc(sayWho)), "http://red.example/", "Cookie", cookie); w.Body.String() != "hello, Ada Lovelace" {
		t.Errorf("status %d, page %q", w.Code, w.Body)
	}
}

// A session is started for a tenant, too.
func TestASessionStartsForATenant(t *testing.T) {
	s := newStreet(t, "red.example", "blue.example")
	ada := people["ada"].user
	r := httptest.NewRequest("POST", "http://red.example/token", nil)
	_, session, err := s.auth.Tenant("red.example").StartSession(nil, r, &ada, pintle.StartOptions{})
	if err != nil || session.Authentication.Time.Before(time.Now().Add(-time.Minute)) {
		t.Fatal(session, err)
	}
	if _, err := s.auth.Tenant("blue.example").Accounts(t.Context(), session); !errors.Is(err, pintle.CodeAccessDenied) {
		t.Errorf("the other tenant takes the session: %v", err)
	}
}

func TestAnAuthOfNewIsItsOnlyTenant(t *testing.T) {
	s := newSite(t)
	if s.auth.Tenant("any") != s.auth {
		t.Error("Tenant returns another Auth")
	}
}

// A tenant that is named wins over the host of a request.
func TestANamedTenantWinsOverTheHostOfTheRequest(t *testing.T) {
	s := newStreet(t, "red.example", "blue.example")
	red := adaAt(t, s.auth, "red.example")
	r := httptest.NewRequest("GET", "http://blue.example/", nil)
	r.Header.Set("Cookie", red)
	if store, err := s.auth.Tenant("red.example").StoreFor(r); err != nil || store != s.stores["red.example"] {
		t.Errorf("the store is %v, %v", store, err)
	}
	if session, err := s.auth.Tenant("blue.example").Session(r); err != nil || session != nil {
		t.Errorf("the other tenant reads the session %+v, %v", session, err)
	}
}

// Inside Load of a tenant, and of a tenant of a tenant, the Auth that they come from knows the
// tenant by the context.
func TestAContextOfATenantIsKnownToItsAuth(t *testing.T) {
	s := newStreet(t, "red.example", "blue.example")
	cookie := adaAt(t, s.auth, "red.example")
	for name, tenant := range map[string]*pintle.Auth{
		"a tenant": s.auth.Tenant("red.example"), "a tenant of a tenant": s.auth.Tenant("blue.example").Tenant("red.example"),
	} {
		t.Run(name, func(t *testing.T) {
			called := false
			get(tenant.Load(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				called = true
				if accounts, err := s.auth.Accounts(r.Context(), pintle.SessionFrom(r.Context())); err != nil || len(accounts) != 1 {
					t.Errorf("the accounts are %v, %v", accounts, err)
				}
			})), "http://red.example/", "Cookie", cookie)
			if !called {
				t.Error("the page is not shown")
			}
		})
	}
}

// Load of an Auth and Require of its tenant read the session once.
func TestASessionIsReadOnceForATenant(t *testing.T) {
	reads := 0
	auth := byHost(&logBook{}, func(_ context.Context, host string) (pintle.Config, error) {
		cfg := rented(host)
		cfg.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
			reads++
			return c.Claims, nil
		}
		return cfg, nil
	})
	cookie := adaAt(t, auth, "red.example")
	reads = 0
	w := get(auth.Load(auth.Tenant("red.example").Require(http.HandlerFunc(sayWho))), "http://red.example/", "Cookie", cookie)
	if w.Body.String() != "hello, Ada Lovelace" || reads != 1 {
		t.Errorf("the page says %q, and the session is read %d times", w.Body, reads)
	}
}

// Two services may have tenants of the same name. The session of one is nothing at the other.
func TestATenantOfAnotherAuthRejectsTheSession(t *testing.T) {
	one, other := newStreet(t, "red.example"), newStreet(t, "red.example")
	session := one.read(t, "red.example", adaAt(t, one.auth, "red.example"))
	if _, err := other.auth.Tenant("red.example").Accounts(t.Context(), session); !errors.Is(err, pintle.CodeAccessDenied) {
		t.Errorf("the tenant of another Auth takes the session: %v", err)
	}
}

// A configuration that New would reject has no store.
func TestAConfigurationAtFaultHasNoStore(t *testing.T) {
	useDefaultLog(t, &logBook{})
	auth := byHost(&logBook{}, func(context.Context, string) (pintle.Config, error) { return pintle.Config{Store: memstore.New()}, nil })
	r := httptest.NewRequest("GET", "http://red.example/", nil)
	if store, err := auth.StoreFor(r); store != nil || !errors.Is(err, pintle.Code("MissingSecret")) {
		t.Errorf("the store is %v, %v", store, err)
	}
}

// ClientAddress of the host decides, whatever TrustedProxies say, and its result is brought
// into one form.
func TestClientAddressOfTheHostDecides(t *testing.T) {
	var client netip.Addr
	s := newSite(t, func(s *site) {
		s.ClientAddress = func(*http.Request) netip.Addr { return netip.MustParseAddr("::ffff:203.0.113.7") }
		s.Events.SignInFailed = func(_ context.Context, e *pintle.SignInFailedEvent) error {
			client = e.Client
			return nil
		}
	})
	s.browser().post("/auth/callback/credentials", "username", "ada", "password", "guess")
	if want := netip.MustParseAddr("203.0.113.7"); client != want {
		t.Errorf("the client is %v, want %v", client, want)
	}
}
