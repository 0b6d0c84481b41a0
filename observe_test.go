package pintle_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/testsite"
	"github.com/pintleauth/pintle/sharedstate"
	"github.com/pintleauth/pintle/store/memstore"
)

// A watcher is an observer that keeps what it receives.
type watcher struct {
	mu       sync.Mutex
	begun    []pintle.ObservedRoute
	routes   []pintle.ObservedRoute
	sessions []pintle.ObservedSession
	signIns  []pintle.ObservedSignIn
	requests map[string]int // to providers, by their ids
	outside  int            // requests to providers that are not part of a route
}

type watchedKey struct{}

// A watchedTransport is a function that sends requests.
type watchedTransport func(*http.Request) (*http.Response, error)

func (f watchedTransport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (o *watcher) observer() pintle.Observer {
	return pintle.Observer{
		Transport: func(provider string, base http.RoundTripper) http.RoundTripper {
			return watchedTransport(func(r *http.Request) (*http.Response, error) {
				o.mu.Lock()
				if o.requests == nil {
					o.requests = map[string]int{}
				}
				o.requests[provider]++
				if r.Context().Value(watchedKey{}) == nil {
					o.outside++
				}
				o.mu.Unlock()
				return base.RoundTrip(r)
			})
		},
		Route: func(ctx context.Context, seen *pintle.ObservedRoute) (context.Context, func()) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.begun = append(o.begun, *seen)
			return context.WithValue(ctx, watchedKey{}, true), func() {
				o.mu.Lock()
				defer o.mu.Unlock()
				o.routes = append(o.routes, *seen)
			}
		},
		Session: func(_ context.Context, seen *pintle.ObservedSession) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.sessions = append(o.sessions, *seen)
		},
		SignIn: func(_ context.Context, seen *pintle.ObservedSignIn) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.signIns = append(o.signIns, *seen)
		},
	}
}

// lastRoute describes the last request for a route.
func (o *watcher) lastRoute() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.routes) == 0 {
		return "none"
	}
	r := o.routes[len(o.routes)-1]
	return strings.TrimSpace(fmt.Sprintf("%s %s %d %s %s", r.Method, r.Route, r.Status, r.Provider, string(r.Code)))
}

// takeSignIns describes the sign-ins since the last call.
func (o *watcher) takeSignIns() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var all []string
	for _, s := range o.signIns {
		all = append(all, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s", s.Provider, s.Type, s.Outcome, string(s.Code))), " "))
	}
	o.signIns = nil
	return all
}

// takeSessions returns the results of the sessions since the last call.
func (o *watcher) takeSessions() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var all []string
	for _, s := range o.sessions {
		all = append(all, s.Result)
	}
	o.sessions = nil
	return all
}

// watched lets an observer see a site.
func watched(o *watcher) func(*site) {
	return func(s *site) { s.Observer = o.observer() }
}

// TM-02. A client can ask for any path.
func TestAnObserverSeesRoutesByTheirNames(t *testing.T) {
	o := &watcher{}
	s := newSite(t, watched(o), func(s *site) {
		s.Providers = append(s.Providers, s.mailProvider())
		s.Store, s.Session.Strategy = memstore.New(), pintle.StrategyJWT
	})
	b := s.browser()
	for _, tt := range []struct {
		name string
		do   func()
		want string
	}{
		{"a page", func() { b.get("/auth/signin") }, "GET /auth/signin 200"},
		{"a JSON answer", func() { b.get("/auth/csrf") }, "GET /auth/csrf 200"},
		{"the beginning of a sign-in", func() { b.leave("acme") }, "POST /auth/signin/{provider} 302 acme"},
		{"a sign-in", func() { b.signInWith("acme") }, "GET /auth/callback/{provider} 302 acme"},
		{
			"a redirect for a script",
			func() {
				b.postForm("/auth/signin/acme", url.Values{"csrfToken": {b.csrf()}}, "X-Auth-Return-Redirect", "1")
			},
			"POST /auth/signin/{provider} 200 acme",
		},
		{"a callback of no flow", func() { s.browser().get("/auth/callback/acme?code=x") }, "GET /auth/callback/{provider} 302 acme InvalidCheck"},
		{"a provider of a client", func() { b.get("/auth/callback/ada@example.com") }, "GET /auth/callback/{provider} 302  Configuration"},
		{"a path that a client has made up", func() { b.get("/auth/ada@example.com") }, "GET  400  UnknownAction"},
		{"a method that is not served", func() { b.do(http.MethodDelete, "/auth/session", nil) }, "DELETE /auth/session 400  UnknownAction"},
		{"a form without its token", func() { b.postForm("/auth/signin/acme", nil) }, "POST /auth/signin/{provider} 302 acme MissingCSRF"},
	} {
		tt.do()
		if got := o.lastRoute(); got != tt.want {
			t.Errorf("%s is observed as %q, not %q", tt.name, got, tt.want)
		}
	}
	if len(o.begun) != len(o.routes) {
		t.Errorf("%d requests have begun, and %d have ended", len(o.begun), len(o.routes))
	}
	for _, r := range o.begun {
		if r.Status != 0 || r.Provider != "" || r.Code != "" || r.Err != nil {
			t.Errorf("at its beginning a request has the outcome %+v", r)
		}
	}
}

// Clients can cause some failures at will: alarms belong to the others.
func TestAnObserverTellsFaultsFromMistakes(t *testing.T) {
	o := &watcher{}
	s := newSite(t, watched(o), func(s *site) {
		s.Callbacks.SignIn = func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
			if a.User.Name == people["grace"].user.Name {
				return "", &pintle.Error{Code: "grace@example.com", Err: errors.New("the database is away")}
			}
			return "", nil
		}
	})
	b := s.browser()
	b.post("/auth/callback/credentials", "username", "ada", "password", "wrong")
	if last := o.routes[len(o.routes)-1]; last.Code != pintle.CodeCredentials || last.Fault || !errors.Is(last.Err, pintle.CodeCredentials) {
		t.Errorf("a wrong password is observed as %+v", last)
	}
	b.post("/auth/callback/credentials", "username", "grace", "password", people["grace"].password)
	if last := o.routes[len(o.routes)-1]; last.Code != "other" || !last.Fault {
		t.Errorf("a code of the host is observed as %+v", last)
	}
	if got := o.signIns[len(o.signIns)-1]; got.Code != "other" || !got.Fault || got.Err == nil {
		t.Errorf("a sign-in that a callback fails is observed as %+v", got)
	}
}

func TestAnObserverSeesPagesOfAccountsIfTheirHandlerKnowsThem(t *testing.T) {
	o := &watcher{}
	answer := func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/silent"):
		case strings.HasSuffix(r.URL.Path, "/gone"):
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusGone)
		default:
			if err := http.NewResponseController(w).Flush(); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			_, _ = io.WriteString(w, "a page")
		}
	}
	for _, tt := range []struct {
		handler    http.Handler
		page, want string
	}{
		{listedPages{http.HandlerFunc(answer)}, "/password", "GET /auth/account/password 200"},
		{listedPages{http.HandlerFunc(answer)}, "", "GET /auth/account 200"},
		{listedPages{http.HandlerFunc(answer)}, "/silent", "GET /auth/account/silent 200"},
		{listedPages{http.HandlerFunc(answer)}, "/gone", "GET /auth/account/gone 410"},
		{listedPages{http.HandlerFunc(answer)}, "/ada@example.com", "GET /auth/account/{page} 200"},
		{http.HandlerFunc(answer), "/password", "GET /auth/account/{page} 200"},
	} {
		s := newSite(t, watched(o), func(s *site) { s.Accounts = &attached{handler: tt.handler} })
		w := httptest.NewRecorder()
		s.auth.ServeHTTP(w, httptest.NewRequest(http.MethodGet, s.url+"/auth/account"+tt.page, nil))
		if got := o.lastRoute(); got != tt.want {
			t.Errorf("%s is observed as %q, not %q", tt.page, got, tt.want)
		}
	}
}

// listedPages is a handler that knows the pages password, silent and gone.
type listedPages struct{ http.Handler }

func (listedPages) HasPage(page string) bool {
	return slices.Contains([]string{"password", "silent", "gone"}, page)
}

func TestAPanicEndsWhatAnObserverSees(t *testing.T) {
	o := &watcher{}
	s := newSite(t, watched(o), func(s *site) {
		s.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) { panic("a callback") }
	})
	b := s.browser()
	form := url.Values{"csrfToken": {b.csrf()}, "username": {"ada"}, "password": {people["ada"].password}}
	r := httptest.NewRequest(http.MethodPost, s.url+"/auth/callback/credentials", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, c := range b.client.Jar.Cookies(b.address()) {
		r.AddCookie(c)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("nothing panics")
			}
		}()
		s.auth.ServeHTTP(httptest.NewRecorder(), r)
	}()
	if got, want := o.lastRoute(), "POST /auth/callback/{provider} 0 credentials"; got != want {
		t.Errorf("a panic is observed as %q, not %q", got, want)
	}
}

// What the observer puts into the context of a route is there in all that the route does.
func TestTheContextOfAnObserverReachesAllWorkOfARoute(t *testing.T) {
	o := &watcher{}
	var missed []string
	need := func(ctx context.Context, where string) {
		if ctx.Value(watchedKey{}) == nil {
			missed = append(missed, where)
		}
	}
	s := newSite(t, watched(o), func(s *site) {
		s.Store = contextStore{memstore.New(), need}
		s.Session.Strategy = pintle.StrategyJWT
		s.Callbacks.SignIn = func(ctx context.Context, _ *pintle.SignInAttempt) (string, error) {
			need(ctx, "a callback")
			return "", nil
		}
		s.Events.SignIn = func(ctx context.Context, e *pintle.SignInEvent) error {
			need(ctx, "an event")
			need(e.Request.Context(), "the request of an event")
			return nil
		}
		s.Accounts = &attached{serve: func(_ http.ResponseWriter, r *http.Request) { need(r.Context(), "a page of accounts") }}
	})
	b := s.browser()
	b.signInWith("acme").want(http.StatusFound)
	b.get("/auth/account")
	if len(missed) > 0 || o.outside > 0 {
		t.Errorf("the context of the route does not reach %q, nor %d requests to providers", missed, o.outside)
	}
	if o.requests["acme"] < 3 {
		t.Errorf("the observer sees %v requests", o.requests)
	}
}

// contextStore looks at the contexts of its transactions.
type contextStore struct {
	pintle.Store
	look func(ctx context.Context, where string)
}

func (s contextStore) InTx(ctx context.Context, f func(pintle.Store) error) error {
	s.look(ctx, "the store")
	return s.Store.InTx(ctx, f)
}

func TestAnObserverSeesWhatCameOfASession(t *testing.T) {
	o := &watcher{}
	store := &awayStore{Store: memstore.New()}
	s := newSite(t, watched(o), func(s *site) {
		s.Store = store
		s.Providers[1] = &pintle.Credentials{Authorize: checkPassword, CanSignIn: knowsNoUser}
	})
	b := s.browser()
	b.get("/")
	b.signInWith("acme")
	o.takeSessions()
	b.get("/")
	b.get("/members")
	b.session()
	if got := o.takeSessions(); !slices.Equal(got, []string{"valid", "valid", "valid"}) {
		t.Errorf("a good session is observed as %q at Load, Require and the session route", got)
	}
	if _, err := s.auth.Session(b.request()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.auth.UpdateSession(httptest.NewRecorder(), b.request(), nil); err != nil {
		t.Fatal(err)
	}
	if got := o.takeSessions(); !slices.Equal(got, []string{"valid", "valid"}) {
		t.Errorf("a good session is observed as %q at Session and UpdateSession", got)
	}
	store.away = errors.New("no database")
	b.get("/")
	r := b.request()
	ctx, cancel := context.WithCancel(r.Context())
	cancel()
	_, _ = s.auth.Session(r.WithContext(ctx))
	store.away = nil
	stranger := s.browser()
	stranger.plant(sessionCookie, "made-up")
	stranger.get("/")
	s.browser().get("/") // no cookie, no work
	visitor := s.browser()
	visitor.plant("theme", "dark")
	visitor.get("/")
	if got := o.takeSessions(); !slices.Equal(got, []string{"unavailable", "canceled", "rejected", "none"}) {
		t.Errorf("an outage, a client that has left, a made-up cookie and none are observed as %q", got)
	}
	s.auth, _ = pintle.New(func() pintle.Config {
		c := s.Config
		c.Callbacks.Accept = func(context.Context, *pintle.Session) (string, error) { return "/terms", nil }
		return c
	}())
	_, _ = s.auth.Session(b.request())
	s.auth, _ = pintle.New(func() pintle.Config {
		c := s.Config
		c.Callbacks.Session = func(context.Context, *pintle.SessionView) (any, error) { return nil, errors.New("no view") }
		return c
	}())
	_, _ = s.auth.Session(b.request())
	if got := o.takeSessions(); !slices.Equal(got, []string{"page_first", "fault"}) {
		t.Errorf("a page that comes first and a callback that fails are observed as %q", got)
	}
}

// awayStore is a store whose sessions cannot be read while away is set.
type awayStore struct {
	pintle.Store
	away error
}

func (s *awayStore) SessionAndUser(ctx context.Context, token string) (*pintle.StoredSession, *pintle.User, error) {
	if s.away != nil {
		return nil, nil, s.away
	}
	return s.Store.SessionAndUser(ctx, token)
}

func TestAnObserverSeesEachSignInOnce(t *testing.T) {
	o := &watcher{}
	s, _ := pendingSite(t, pintle.StrategyDatabase, watched(o))
	check := func(what string, want ...string) {
		t.Helper()
		if got := o.takeSignIns(); !slices.Equal(got, want) {
			t.Errorf("%s is observed as %q, not %q", what, got, want)
		}
	}
	b := s.browser()
	b.isHeld(b.signInWith("careful"))
	check("a sign-in that waits", "careful oidc held")
	if _, err := b.complete("pwd"); err != nil {
		t.Fatal(err)
	}
	check("a second page of a sign-in that waits")
	if _, err := b.complete("otp"); err != nil {
		t.Fatal(err)
	}
	check("the completion of a sign-in", "careful oidc signed_in")
	b.signInWith("acme")
	check("a second account", "acme oidc linked")
	b.get("/auth/callback/careful?code=x&state=y")
	check("a callback of no flow", "careful oidc refused InvalidCheck")
	b.get("/auth/callback/nobody?code=x&state=y")
	check("a provider that does not exist")
	_, _, err := s.auth.StartSession(httptest.NewRecorder(), b.request(), &pintle.User{ID: "user-ada"},
		pintle.StartOptions{Authentication: pintle.Authentication{Provider: "ada@example.com", Methods: []string{"otp"}}})
	if err != nil {
		t.Fatal(err)
	}
	check("a session of server code", "started")
	late := s.browser()
	late.isHeld(late.signInWith("careful"))
	o.takeSignIns()
	if err := s.auth.SignOutEverywhere(t.Context(), "user-ada"); err != nil {
		t.Fatal(err)
	}
	if _, err := late.complete("otp"); err == nil {
		t.Fatal("a sign-in is completed after its sessions have ended")
	}
	if len(o.signIns) != 1 || !o.signIns[0].Waited || o.signIns[0].Outcome != "refused" {
		t.Errorf("a sign-in that waited in vain is observed as %+v", o.signIns)
	}
	o.takeSignIns()

	jwt := newSite(t, watched(o), func(s *site) {
		s.Callbacks.JWT = func(context.Context, *pintle.TokenChange) (pintle.Claims, error) { return nil, nil }
	})
	jwt.browser().byPassword()
	check("a sign-in without claims", "credentials credentials no_session")
	jwt = newSite(t, watched(o), func(s *site) { s.Store, s.Session.Strategy = memstore.New(), pintle.StrategyJWT })
	jwt.browser().signInWith("acme")
	if len(o.signIns) != 1 || !o.signIns[0].NewUser || o.signIns[0].Waited {
		t.Errorf("a new user is observed as %+v", o.signIns)
	}
}

// TM-02. A connection is read while the application runs, and there is no bound on their number.
func TestAnObserverSeesAllConnectionsAsOneProvider(t *testing.T) {
	o := &watcher{}
	s, _ := connectedSite(t, watched(o))
	b := s.browser()
	at, err := url.Parse(b.searches("ada@corp.example").want(http.StatusFound).location())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := o.lastRoute(), "POST /auth/signin/{provider} 302 sso"; got != want {
		t.Errorf("the search of a connection is observed as %q, not %q", got, want)
	}
	b.get(b.consent(at)).want(http.StatusFound)
	if got, want := o.lastRoute(), "GET /auth/callback/{provider} 302 sso"; got != want {
		t.Errorf("the callback of a connection is observed as %q, not %q", got, want)
	}
	if got := o.takeSignIns(); !slices.Equal(got, []string{"sso oidc signed_in"}) {
		t.Errorf("a sign-in is observed as %q", got)
	}
	if len(o.requests) != 1 || o.requests["sso"] == 0 {
		t.Errorf("the requests to the connection are observed as %v", o.requests)
	}
}

// TM-04. The observer sees what leaves, and changes nothing of what may leave.
func TestAnObserverDoesNotWeakenTheClient(t *testing.T) {
	original := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = original })
	net.DefaultResolver = testsite.Resolver(t, func(string) []netip.Addr { return []netip.Addr{netip.MustParseAddr("127.0.0.1")} })
	o := &watcher{}
	s := newSite(t, watched(o), func(s *site) {
		s.PublicNetworkOnly, s.HTTPClient = true, nil
		p := s.idp.OIDC("acme")
		p.Issuer = "https://localtest.example"
		s.Providers = []pintle.Provider{p}
	})
	s.browser().post("/auth/signin/acme")
	if o.requests["acme"] != 1 || !strings.Contains(s.log.String(), "not a public address") {
		t.Errorf("a provider in the network of the host receives the requests %v; the log is\n%s", o.requests, s.log)
	}

	// RPT-44: the profile looks at the transport of the client before the observer wraps it.
	p := s.idp.OIDC("acme")
	fapiProvider(p, newECKey(t))
	p.ClientAuth = ""
	p.HTTPClient = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	_, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{p}, Secrets: []string{secret}, Getenv: func(string) string { return "" }, Observer: o.observer(),
	})
	if err == nil || !strings.Contains(err.Error(), "InsecureSkipVerify") {
		t.Errorf("FAPI2 with a client that accepts any certificate: %v", err)
	}
}

func TestAnObserverWrapsTheStoreBeforeAccountsSeesIt(t *testing.T) {
	var accountsSaw pintle.Store
	s := newSite(t, func(s *site) {
		s.Store, s.Session.Strategy = memstore.New(), pintle.StrategyJWT
		s.Observer.Store = func(inner pintle.Store) pintle.Store { return contextStore{inner, func(context.Context, string) {}} }
		s.Accounts = &attached{attach: func(_ *pintle.Auth, cfg *pintle.Config) error {
			accountsSaw = cfg.Store
			return nil
		}}
	})
	if _, wrapped := accountsSaw.(contextStore); !wrapped {
		t.Errorf("Accounts receives the store %T", accountsSaw)
	}
	store, err := s.auth.StoreFor(nil)
	if _, wrapped := store.(contextStore); !wrapped || err != nil {
		t.Errorf("StoreFor returns %T, %v", store, err)
	}
}

// Without its store a site would have sessions in tokens, and without its list none would end.
func TestAnObserverThatReturnsNothingIsAnError(t *testing.T) {
	for name, observer := range map[string]pintle.Observer{
		"Observer.Store":       {Store: func(pintle.Store) pintle.Store { return nil }},
		"Observer.SharedState": {SharedState: func(sharedstate.Store) sharedstate.Store { return (*memstore.SharedState)(nil) }},
		"Observer.Revocation":  {Revocation: func(pintle.RevocationStore) pintle.RevocationStore { return nil }},
	} {
		_, err := pintle.New(pintle.Config{
			Providers: []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}}, Secrets: []string{secret},
			Store: memstore.New(), SharedState: &memstore.SharedState{},
			Session: pintle.SessionConfig{Strategy: pintle.StrategyJWT, Revocation: &memstore.Revocations{}},
			Getenv:  func(string) string { return "" }, Observer: observer,
		})
		if err == nil || !strings.Contains(err.Error(), name+" returned nil") {
			t.Errorf("%s returns nil: %v", name, err)
		}
	}
}

// New says which pointer is nil, and a wrapper would hide it.
func TestAnObserverIsGivenNoNilPointers(t *testing.T) {
	observer := pintle.Observer{
		Store:       func(s pintle.Store) pintle.Store { t.Errorf("the store is %T", s); return s },
		SharedState: func(s sharedstate.Store) sharedstate.Store { t.Errorf("the shared state is %T", s); return s },
		Revocation:  func(r pintle.RevocationStore) pintle.RevocationStore { t.Errorf("the list is %T", r); return r },
	}
	for name, change := range map[string]func(*pintle.Config){
		"Store":       func(c *pintle.Config) { c.Store = (*memstore.Store)(nil) },
		"SharedState": func(c *pintle.Config) { c.SharedState = (*memstore.SharedState)(nil) },
		"Revocation":  func(c *pintle.Config) { c.Session.Revocation = (*memstore.Revocations)(nil) },
		"":            func(*pintle.Config) {},
	} {
		cfg := pintle.Config{
			Providers: []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}}, Secrets: []string{secret},
			Getenv: func(string) string { return "" }, Observer: observer,
		}
		change(&cfg)
		if _, err := pintle.New(cfg); name == "" && err != nil || name != "" && (err == nil || !strings.Contains(err.Error(), name)) {
			t.Errorf("%q is a nil pointer: %v", name, err)
		}
	}
}
