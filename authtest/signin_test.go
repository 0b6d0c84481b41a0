package authtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
)

const appSecret = "a secret of at least 32 characters"

// greeting is an application with a page for signed-in users.
func greeting(auth *pintle.Auth) http.Handler {
	return auth.Load(auth.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := pintle.SessionFrom(r.Context())
		fmt.Fprintf(w, "Hello %s <%s>", s.User.Name, s.User.Email)
	})))
}

func newAuth(t *testing.T, cfg pintle.Config) *pintle.Auth {
	t.Helper()
	auth, err := pintle.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return auth
}

// configs are the kinds of configuration an application may have.
func configs() map[string]pintle.Config {
	idp := authtest.NewIdentityProvider(authtest.Options{})
	idp.Issuer = "http://127.0.0.1:1" // receives no requests
	base := pintle.Config{
		Providers: []pintle.Provider{idp.OIDC("acme")},
		Secrets:   []string{appSecret},
		Getenv:    func(string) string { return "" },
	}
	set := map[string]pintle.Config{"tokens": base}

	database := base
	database.Store = memstore.New()
	set["sessions in a database"] = database

	named := database
	named.Session.Strategy = pintle.StrategyDatabase
	set["sessions in a database by name"] = named

	both := database
	both.Session.Strategy = pintle.StrategyJWT
	set["tokens, and users in a database"] = both

	large := base
	large.Callbacks.JWT = func(_ context.Context, t *pintle.TokenChange) (pintle.Claims, error) {
		t.Claims["large"] = strings.Repeat("x", 6000)
		return t.Claims, nil
	}
	set["tokens in several cookies"] = large

	secure := base
	secure.SecureCookies = pintle.SecureAlways
	set["cookies that are always secure"] = secure

	renamed := base
	renamed.Cookies.SessionToken.Name = "shop_session"
	set["a cookie of another name"] = renamed
	return set
}

func TestSignInMakesARequestOneOfTheUser(t *testing.T) {
	for name, cfg := range configs() {
		for _, scheme := range []string{"http", "https"} {
			t.Run(name+" over "+scheme, func(t *testing.T) {
				auth := newAuth(t, cfg)
				app := greeting(auth)
				r := httptest.NewRequest(http.MethodGet, scheme+"://localhost/account", nil)
				r.AddCookie(&http.Cookie{Name: "theme", Value: "dark"})
				authtest.SignIn(t, auth, r, &pintle.User{Name: "Kim", Email: "Kim@example.com"})
				w := httptest.NewRecorder()
				app.ServeHTTP(w, r)
				if got, want := w.Body.String(), "Hello Kim <kim@example.com>"; got != want {
					t.Errorf("the application shows %d %q, want %q", w.Code, got, want)
				}
				if c, err := r.Cookie("theme"); err != nil || c.Value != "dark" {
					t.Errorf("a cookie of the application is now %v, %v", c, err)
				}
			})
		}
	}
}

func TestSignInReplacesTheSignedInUser(t *testing.T) {
	auth := newAuth(t, configs()["tokens"])
	app := greeting(auth)
	r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
	authtest.SignIn(t, auth, r, &pintle.User{Name: "Kim"})
	authtest.SignIn(t, auth, r, &pintle.User{Name: "Lee"})
	w := httptest.NewRecorder()
	app.ServeHTTP(w, r)
	if got := w.Body.String(); got != "Hello Lee <>" {
		t.Errorf("the application shows %q, want a greeting for Lee", got)
	}
}

func TestTheUserBecomesTheStoredOne(t *testing.T) {
	store := memstore.New()
	cfg := configs()["tokens"]
	cfg.Store = store
	kim := &pintle.User{Name: "Kim", Email: "KIM@example.com"}
	auth := newAuth(t, cfg)
	signedIn := func(u *pintle.User) string {
		t.Helper()
		r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
		authtest.SignIn(t, auth, r, u)
		s, err := auth.Session(r)
		if err != nil {
			t.Fatal(err)
		}
		return s.User.ID
	}
	id := signedIn(kim)
	stored, err := store.User(t.Context(), kim.ID)
	if err != nil {
		t.Fatalf("the user is not in the store: %v", err)
	}
	if id != kim.ID || stored.Name != "Kim" || stored.Email != "kim@example.com" || kim.Email != "kim@example.com" {
		t.Errorf("the session is of %q, the store has %+v, want both to be %+v", id, stored, kim)
	}
	again := &pintle.User{Name: "Another name", Email: "kim@example.com"}
	if got := signedIn(again); got != id || again.Name != "Kim" {
		t.Errorf("with the same address the session is of %q, %+v, want %q, Kim", got, again, id)
	}
	byID := &pintle.User{ID: id}
	if got := signedIn(byID); got != id || byID.Name != "Kim" {
		t.Errorf("with the same id the session is of %q, %+v, want %q, Kim", got, byID, id)
	}
	if got := signedIn(&pintle.User{Name: "Kim"}); got == id {
		t.Error("a user without an address is taken for an existing one")
	}
}

func TestParallelTestsMaySignInOneUser(t *testing.T) {
	auth := newAuth(t, configs()["sessions in a database"])
	ids := make(chan string)
	for range 8 {
		go func() {
			u := &pintle.User{Name: "Kim", Email: "kim@example.com"}
			var j judge
			authtest.Cookies(&j, auth, "http://localhost", u)
			ids <- u.ID + j.verdict
		}()
	}
	first := <-ids
	for range 7 {
		if id := <-ids; id != first || id == "" {
			t.Errorf("one user has the ids %q and %q", first, id)
		}
	}
}

func TestHTTPClientIsSignedInAtAServer(t *testing.T) {
	servers := map[string]func(http.Handler) *httptest.Server{
		"http": httptest.NewServer, "https": httptest.NewTLSServer,
	}
	for scheme, start := range servers {
		for name, cfg := range configs() {
			if scheme == "http" && cfg.SecureCookies == pintle.SecureAlways {
				continue // which no browser sends there
			}
			t.Run(name+" over "+scheme, func(t *testing.T) {
				auth := newAuth(t, cfg)
				srv := start(greeting(auth))
				defer srv.Close()
				kim := authtest.HTTPClient(t, auth, srv.URL, &pintle.User{Name: "Kim"})
				kim.Transport = srv.Client().Transport
				if got := pageFor(t, kim, srv.URL); got != "Hello Kim <>" {
					t.Errorf("the application shows %q, want a greeting for Kim", got)
				}
				anonymous := authtest.HTTPClient(t, auth, srv.URL, nil)
				anonymous.Transport = srv.Client().Transport
				if got := pageFor(t, anonymous, srv.URL); got != "Unauthorized\n" {
					t.Errorf("to an anonymous client the application shows %q, want Unauthorized", got)
				}
			})
		}
	}
}

func TestCookiesAreThoseOfTheScheme(t *testing.T) {
	auth := newAuth(t, configs()["tokens"])
	tests := []struct {
		address string
		name    string
		secure  bool
	}{
		{"http://localhost:3000", "authjs.session-token", false},
		{"https://localhost:3000/anywhere", "__Secure-authjs.session-token", true},
	}
	for _, tt := range tests {
		found := false
		for _, c := range authtest.Cookies(t, auth, tt.address, &pintle.User{Name: "Kim"}) {
			if c.Name == tt.name {
				found = c.HttpOnly && c.Secure == tt.secure && c.SameSite == http.SameSiteLaxMode
			}
		}
		if !found {
			t.Errorf("Cookies at %s have no %s as a browser would have been sent it", tt.address, tt.name)
		}
	}
}

func TestSignInRunsTheCallbacksAndEvents(t *testing.T) {
	cfg := configs()["tokens"]
	var signedIn *pintle.SignInEvent
	role := pintle.NewClaim[string]("role")
	cfg.Events.SignIn = func(_ context.Context, e *pintle.SignInEvent) error { signedIn = e; return nil }
	cfg.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
		if c.Trigger == pintle.TriggerSignIn {
			role.Put(c.Claims, "admin of "+c.Account.Provider)
		}
		return c.Claims, nil
	}
	auth := newAuth(t, cfg)
	u := &pintle.User{Name: "Kim"}
	r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
	authtest.SignIn(t, auth, r, u)
	s, err := auth.Session(r)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := role.Get(s); got != "admin of authtest" {
		t.Errorf("the role is %q, want what Callbacks.JWT wrote", got)
	}
	if u.ID == "" || s.User.ID != u.ID {
		t.Errorf("the session is of %q, want the user's id %q", s.User.ID, u.ID)
	}
	if signedIn == nil || signedIn.User.ID != u.ID {
		t.Errorf("the event is %+v, want one about %q", signedIn, u.ID)
	}
}

// A judge records how a test ends instead of ending it.
type judge struct{ verdict string }

func (*judge) Helper()                          {}
func (*judge) Cleanup(func())                   {}
func (j *judge) Fatalf(format string, a ...any) { j.verdict += fmt.Sprintf(format, a...) }

func TestSignInReportsWhyItFails(t *testing.T) {
	change := func(f func(*pintle.Config)) pintle.Config {
		cfg := configs()["tokens"]
		f(&cfg)
		return cfg
	}
	tests := []struct {
		name, address string
		cfg           pintle.Config
		want          string
	}{
		{"a host that is not trusted", "http://example.com/", change(func(*pintle.Config) {}), "Config.TrustHost"},
		{"a callback that ends the session", "http://localhost/", change(func(c *pintle.Config) {
			c.Callbacks.JWT = func(context.Context, *pintle.TokenChange) (pintle.Claims, error) { return nil, nil }
		}), "denies the session"},
		{"a callback that denies every session that is read", "http://localhost/", change(func(c *pintle.Config) {
			c.Callbacks.JWT = func(_ context.Context, t *pintle.TokenChange) (pintle.Claims, error) {
				if t.Trigger == pintle.TriggerSignIn {
					return t.Claims, nil
				}
				return nil, nil
			}
		}), "does not accept the session"},
		{"no address", "localhost:3000", change(func(*pintle.Config) {}), "localhost:3000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var j judge
			authtest.Cookies(&j, newAuth(t, tt.cfg), tt.address, &pintle.User{Name: "Kim"})
			if !strings.Contains(j.verdict, tt.want) {
				t.Errorf("the test fails with %q, want it to mention %q", j.verdict, tt.want)
			}
		})
	}
}

// Without an Auth the test says what to give, and does not panic.
func TestSignInNeedsAnAuth(t *testing.T) {
	var j judge
	if cookies := authtest.Cookies(&j, nil, "http://localhost/", &pintle.User{Name: "Kim"}); cookies != nil || !strings.Contains(j.verdict, "the Auth is nil") {
		t.Errorf("the test gets the cookies %v and fails with %q", cookies, j.verdict)
	}
}

// A test that names its user by an ID finds that ID in the session and in the store.
func TestAUserKeepsTheIDThatTheTestChose(t *testing.T) {
	for name, cfg := range configs() {
		t.Run(name, func(t *testing.T) {
			auth := newAuth(t, cfg)
			r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
			kim := &pintle.User{ID: "kim", Name: "Kim"}
			authtest.SignIn(t, auth, r, kim)
			if s, err := auth.Session(r); err != nil || s == nil || s.User.ID != "kim" || kim.ID != "kim" {
				t.Errorf("the session is %+v, %v, and the user %+v", s, err, kim)
			}
			if cfg.Store == nil {
				return
			}
			if _, err := cfg.Store.User(t.Context(), "kim"); err != nil {
				t.Errorf("the user in the store: %v", err)
			}
		})
	}
}

// A lateStore does not find users at first, and fails as it is told.
type lateStore struct {
	pintle.Store
	lookUp, create error
	created        int
}

func (s *lateStore) UserByEmail(ctx context.Context, address string) (*pintle.User, error) {
	if err := s.lookUp; err != nil {
		if errors.Is(err, pintle.ErrNotFound) {
			s.lookUp = nil // the next look-up finds the user
		}
		return nil, err
	}
	return s.Store.UserByEmail(ctx, address)
}

func (s *lateStore) CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	s.created++
	if s.create != nil {
		return nil, s.create
	}
	return s.Store.CreateUser(ctx, u)
}

// A user whom a parallel test stored between the look-up and the write is that user.
func TestAUserWhomAnotherTestHasJustStoredIsFound(t *testing.T) {
	memory := memstore.New()
	stored, err := memory.CreateUser(t.Context(), &pintle.User{Name: "Kim", Email: "kim@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	cfg := configs()["tokens"]
	cfg.Store = &lateStore{Store: memory, lookUp: pintle.ErrNotFound}
	kim := &pintle.User{Email: "kim@example.com"}
	authtest.Cookies(t, newAuth(t, cfg), "http://localhost/", kim)
	if kim.ID != stored.ID || kim.Name != "Kim" {
		t.Errorf("the user is %+v, want %+v", kim, stored)
	}
}

// A store that fails ends the test with its error, and signs no user in.
func TestSignInFailsWithTheStore(t *testing.T) {
	broken := errors.New("the disk is full")
	for name, store := range map[string]*lateStore{
		"a look-up that fails": {Store: memstore.New(), lookUp: broken},
		"a write that fails":   {Store: memstore.New(), create: broken},
	} {
		for _, strategy := range []pintle.SessionStrategy{pintle.StrategyJWT, pintle.StrategyDatabase} {
			t.Run(name+", "+string(strategy), func(t *testing.T) {
				cfg := configs()["tokens"]
				cfg.Store, cfg.Session.Strategy = store, strategy
				store.created = 0
				var j judge
				cookies := authtest.Cookies(&j, newAuth(t, cfg), "http://localhost/", &pintle.User{Name: "Kim", Email: "kim@example.com"})
				if cookies != nil || !strings.Contains(j.verdict, "store the user: the disk is full") {
					t.Errorf("the test gets the cookies %v and fails with %q", cookies, j.verdict)
				}
				if store.lookUp != nil && store.created > 0 {
					t.Error("a user is created although it is not known whether there is one")
				}
			})
		}
	}
}

// Callbacks.SignIn decides about sign-ins, and this is none.
func TestSignInDoesNotAskTheSignInCallback(t *testing.T) {
	cfg := configs()["tokens"]
	cfg.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) { return "", errors.New("not on the list") }
	auth := newAuth(t, cfg)
	r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
	authtest.SignIn(t, auth, r, &pintle.User{Name: "Kim"})
	if s, err := auth.Session(r); err != nil || s == nil || s.Authentication.Provider != "" {
		t.Errorf("the session is %+v, %v", s, err)
	}
}

// The request names the tenant, and its store gets the user.
func TestSignInAtATenant(t *testing.T) {
	stores := map[string]pintle.Store{"red.localhost": memstore.New(), "blue.localhost": memstore.New()}
	auth := pintle.NewFunc(func(r *http.Request) string { return r.Host }, func(_ context.Context, host string) (pintle.Config, error) {
		cfg := configs()["tokens"]
		cfg.URL, cfg.Store = "http://"+host, stores[host]
		return cfg, nil
	})
	kim := &pintle.User{Name: "Kim", Email: "kim@example.com"}
	r := httptest.NewRequest(http.MethodGet, "http://red.localhost/", nil)
	authtest.SignIn(t, auth, r, kim)
	if s, err := auth.Session(r); err != nil || s == nil || s.User.ID != kim.ID {
		t.Errorf("the session is %+v, %v", s, err)
	}
	for host, want := range map[string]bool{"red.localhost": true, "blue.localhost": false} {
		if _, err := stores[host].User(t.Context(), kim.ID); (err == nil) != want {
			t.Errorf("in the store of %s the user is found with %v", host, err)
		}
	}
}

func pageFor(t *testing.T, c *http.Client, address string) string {
	t.Helper()
	resp, err := c.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	return bodyText(t, resp)
}

func bodyText(t *testing.T, resp *http.Response) string {
	t.Helper()
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// A test of a handler needs one line to act as a user.
func ExampleSignIn() {
	var t testing.TB = example{} // the test's own

	cfg := pintle.Config{
		Providers: []pintle.Provider{authtest.Start(t, authtest.Options{}).OIDC("acme")},
		Secrets:   []string{appSecret},
	}
	auth, err := pintle.New(cfg)
	if err != nil {
		panic(err)
	}
	app := auth.Load(auth.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "Hello", pintle.SessionFrom(r.Context()).User.Name)
	})))

	r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
	authtest.SignIn(t, auth, r, &pintle.User{Name: "Kim"})
	w := httptest.NewRecorder()
	app.ServeHTTP(w, r)
	fmt.Print(w.Body)
	// Output: Hello Kim
}

// A test of a server gets a client that is signed in.
func ExampleHTTPClient() {
	var t testing.TB = example{} // the test's own

	cfg := pintle.Config{
		Providers: []pintle.Provider{authtest.Start(t, authtest.Options{}).OIDC("acme")},
		Secrets:   []string{appSecret},
	}
	auth, err := pintle.New(cfg)
	if err != nil {
		panic(err)
	}
	srv := httptest.NewServer(auth)
	defer srv.Close()

	kim := authtest.HTTPClient(t, auth, srv.URL, &pintle.User{Name: "Kim", Email: "kim@example.com"})
	resp, err := kim.Get(srv.URL + "/auth/session")
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	var session struct{ User struct{ Name, Email string } }
	if err := json.NewDecoder(resp.Body).Decode(&session); err != nil {
		panic(err)
	}
	fmt.Println(session.User)
	// Output: {Kim kim@example.com}
}

// A test of a whole sign-in uses the identity provider.
func ExampleSignInWith() {
	var t testing.TB = example{} // the test's own

	idp := authtest.Start(t, authtest.Options{AutoConsent: true})
	cfg := pintle.Config{Providers: []pintle.Provider{idp.OIDC("acme")}, Secrets: []string{appSecret}}
	auth, err := pintle.New(cfg)
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("/", auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "Hello", pintle.SessionFrom(r.Context()).User.Name)
	})))
	srv := httptest.NewServer(mux)
	defer srv.Close()

	idp.SignInAs(authtest.Person{Subject: "42", Name: "Kim"})
	client := authtest.HTTPClient(t, auth, srv.URL, nil)
	resp := authtest.SignInWith(t, client, srv.URL+"/auth", "acme")
	defer resp.Body.Close()
	_, _ = io.Copy(os.Stdout, resp.Body)
	// Output: Hello Kim
}

// example takes the place of the test, which an example does not have.
type example struct{ testing.TB }

func (example) Helper()                        {}
func (example) Cleanup(func())                 {}
func (example) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }
