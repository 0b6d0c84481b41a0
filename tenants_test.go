package pintle_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/token"
)

// byHost is a service in which make returns a configuration for each host. All
// of them log to book.
func byHost(book *logBook, make func(ctx context.Context, host string) (pintle.Config, error)) *pintle.Auth {
	return pintle.NewFunc(func(r *http.Request) string { return r.Host }, func(ctx context.Context, host string) (pintle.Config, error) {
		cfg, err := make(ctx, host)
		cfg.Logger = book.logger()
		if cfg.Getenv == nil {
			cfg.Getenv = noEnv
		}
		return cfg, err
	})
}

// rented is the configuration of a tenant.
func rented(host string) pintle.Config {
	return pintle.Config{
		URL: "http://" + host, Secrets: []string{"the secret of the tenant at " + host + ", which is long"},
		Providers: []pintle.Provider{&pintle.Credentials{Name: "Staff of " + host, Authorize: checkPassword}},
	}
}

// adaAt signs Ada in at a host and returns her session cookie.
func adaAt(t *testing.T, auth *pintle.Auth, host string) string {
	t.Helper()
	w := httptest.NewRecorder()
	if _, err := auth.SignIn(w, httptest.NewRequest("POST", "http://"+host+"/login", nil), "credentials", pintle.SignInOptions{
		Fields: map[string]any{"username": "ada", "password": people["ada"].password},
	}); err != nil {
		t.Fatal(err)
	}
	for _, c := range w.Result().Cookies() {
		if c.Name == sessionCookie {
			return c.Name + "=" + c.Value
		}
	}
	t.Fatal("there is no session cookie")
	return ""
}

func get(h http.Handler, target string, headers ...string) *httptest.ResponseRecorder {
	w, _ := ask(h, http.MethodGet, target, nil, headers...)
	return w
}

func TestEachTenantHasItsOwnConfiguration(t *testing.T) {
	var book logBook
	auth := byHost(&book, func(_ context.Context, host string) (pintle.Config, error) { return rented(host), nil })
	for _, host := range []string{"red.example", "blue.example"} {
		if body := get(auth, "http://"+host+"/auth/providers").Body.String(); !strings.Contains(body, "Staff of "+host) || !strings.Contains(body, "http://"+host+"/auth/signin") {
			t.Errorf("the providers of %s are %s", host, body)
		}
	}
	// A session of one tenant is not valid at another.
	cookie := adaAt(t, auth, "red.example")
	page := auth.Load(http.HandlerFunc(sayWho))
	for host, want := range map[string]string{"red.example": "hello, Ada Lovelace", "blue.example": "hello, anonymous"} {
		if got := get(page, "http://"+host+"/", "Cookie", cookie).Body.String(); got != want {
			t.Errorf("at %s the page says %q, want %q", host, got, want)
		}
	}
}

func TestAConfigurationIsMadeOnceForManyRequests(t *testing.T) {
	var book logBook
	var made atomic.Int32
	release := make(chan struct{})
	auth := byHost(&book, func(_ context.Context, host string) (pintle.Config, error) {
		made.Add(1)
		<-release
		return rented(host), nil
	})
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			if w := get(auth, "http://red.example/auth/session"); w.Code != http.StatusOK {
				t.Errorf("status %d", w.Code)
			}
		})
	}
	for made.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	close(release)
	group.Wait()
	get(auth, "http://red.example/auth/session")
	if n := made.Load(); n != 1 {
		t.Errorf("the configuration was made %d times", n)
	}
}

func TestAFailureToConfigureIsNotKept(t *testing.T) {
	var book logBook
	broken := true
	auth := byHost(&book, func(_ context.Context, host string) (pintle.Config, error) {
		if broken {
			return pintle.Config{}, errBroken
		}
		return rented(host), nil
	})
	r := httptest.NewRequest("GET", "http://red.example/", nil)
	if _, err := auth.Session(r); !errors.Is(err, errBroken) {
		t.Errorf("Session fails with %v", err)
	}
	if _, err := auth.SignIn(httptest.NewRecorder(), r, "credentials", pintle.SignInOptions{}); !errors.Is(err, errBroken) {
		t.Errorf("SignIn fails with %v", err)
	}
	w := get(auth, "http://red.example/auth/session")
	if w.Code != http.StatusInternalServerError || w.Body.String() != serverFault {
		t.Errorf("status %d, body %s", w.Code, w.Body)
	}
	if w := get(auth, "http://red.example/auth/signin"); w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), errBroken.Error()) {
		t.Errorf("status %d, page %s", w.Code, w.Body)
	}
	broken = false
	if w := get(auth, "http://red.example/auth/session"); w.Code != http.StatusOK {
		t.Errorf("when it works again, status %d", w.Code)
	}
}

// SH-04: a configuration that New would refuse answers as a fault of the server.
func TestAConfigurationThatCannotWorkIsAFault(t *testing.T) {
	for name, spoil := range map[string]func(*pintle.Config){
		"no secret":  func(c *pintle.Config) { c.Secrets = nil },
		"a bad page": func(c *pintle.Config) { c.Pages.SignIn = "javascript:alert(1)" },
	} {
		t.Run(name, func(t *testing.T) {
			var book logBook
			auth := byHost(&book, func(_ context.Context, host string) (pintle.Config, error) {
				cfg := rented(host)
				spoil(&cfg)
				return cfg, nil
			})
			if w := get(auth, "http://red.example/auth/session"); w.Code != http.StatusInternalServerError || w.Body.String() != serverFault {
				t.Errorf("status %d, body %s", w.Code, w.Body)
			}
			if !strings.Contains(book.String(), `"level":"ERROR"`) {
				t.Errorf("the log says %s", &book)
			}
			w := get(auth.Load(auth.Require(http.NotFoundHandler())), "http://red.example/", "Accept", "text/html")
			if w.Code != http.StatusInternalServerError {
				t.Errorf("a guard answers %d", w.Code)
			}
		})
	}
}

// A fault of a tenant is answered below its own base path, which is unknown
// while it has no configuration.
func TestAFaultIsAnsweredBelowEveryBasePath(t *testing.T) {
	var book logBook
	auth := byHost(&book, func(context.Context, string) (pintle.Config, error) { return pintle.Config{}, errBroken })
	for _, path := range []string{"/auth/session", "/api/auth/session", "/api/auth/signin"} {
		if w := get(auth, "http://red.example"+path); w.Code != http.StatusInternalServerError {
			t.Errorf("GET %s answers %d, want 500", path, w.Code)
		}
	}
}

// A panic of the host's function is its request's: the program goes on.
func TestAPanicOfTheHostDoesNotEndTheProgram(t *testing.T) {
	var book logBook
	broken := true
	auth := byHost(&book, func(_ context.Context, host string) (pintle.Config, error) {
		if broken {
			panic("no row for " + host)
		}
		return rented(host), nil
	})
	w := get(auth, "http://red.example/auth/session")
	if w.Code != http.StatusInternalServerError {
		t.Errorf("status %d", w.Code)
	}
	broken = false
	if w := get(auth, "http://red.example/auth/session"); w.Code != http.StatusOK {
		t.Errorf("when it works again, status %d", w.Code)
	}
}

// A request waits for a configuration no longer than its own context allows.
func TestARequestDoesNotWaitLongerThanItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var book logBook
		auth := byHost(&book, func(ctx context.Context, host string) (pintle.Config, error) {
			time.Sleep(time.Minute)
			return rented(host), ctx.Err()
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		w := httptest.NewRecorder()
		auth.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "http://red.example/auth/session", nil))
		if took := time.Since(start); took != time.Second || w.Code != http.StatusInternalServerError {
			t.Errorf("after %v the answer is %d", took, w.Code)
		}
		// Making the configuration goes on for the other requests.
		if w := get(auth, "http://red.example/auth/session"); w.Code != http.StatusOK {
			t.Errorf("for the next one the answer is %d; log: %s", w.Code, &book)
		}
		if took := time.Since(start); took != time.Minute {
			t.Errorf("the next one waits until %v", took)
		}
	})
}

// Methods that take no request find their tenant in the context of one.
func TestMethodsGoByTheTenantOfTheirContext(t *testing.T) {
	var (
		book logBook
		auth *pintle.Auth
		seen []string
	)
	held := func(ctx context.Context) string {
		a, err := auth.Account(ctx, "github", "1")
		if err != nil {
			return err.Error()
		}
		return a.AccessToken
	}
	auth = byHost(&book, func(ctx context.Context, host string) (pintle.Config, error) {
		cfg := rented(host)
		store := memstore.New()
		u, err := store.CreateUser(ctx, &pintle.User{Name: "Ada"})
		if err == nil {
			err = store.LinkAccount(ctx, &pintle.Account{UserID: u.ID, Type: "oauth", Provider: "github", ProviderAccountID: "1", AccessToken: "of " + host})
		}
		cfg.Store, cfg.Session.Strategy = store, pintle.StrategyJWT
		cfg.Events.SignIn = func(ctx context.Context, _ *pintle.SignInEvent) error {
			seen = append(seen, "sign-in "+held(ctx))
			return nil
		}
		cfg.Events.SignOut = func(ctx context.Context, _ *pintle.SignOutEvent) error {
			seen = append(seen, "sign-out "+held(ctx))
			return nil
		}
		cfg.Callbacks.Authorized = func(r *http.Request, s *pintle.Session) (pintle.Access, error) {
			seen = append(seen, "guard "+held(r.Context()))
			return pintle.Access{Allowed: s != nil}, nil
		}
		cfg.Callbacks.JWT = func(ctx context.Context, change *pintle.TokenChange) (pintle.Claims, error) {
			seen = append(seen, "token "+held(ctx))
			return change.Claims, nil
		}
		return cfg, err
	})
	page := auth.Load(auth.Require(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen = append(seen, "page "+held(r.Context()))
		devices := 0
		for _, err := range auth.Devices(r.Context(), pintle.SessionFrom(r.Context())) {
			if err != nil {
				t.Error(err)
			}
			devices++
		}
		if devices != 1 {
			t.Errorf("%s has %d devices, want 1", r.Host, devices)
		}
		another := byHost(&book, func(_ context.Context, host string) (pintle.Config, error) { return rented(host), nil })
		if _, err := another.Account(r.Context(), "github", "1"); !errors.Is(err, pintle.CodeConfiguration) {
			t.Errorf("another service takes the configuration of this one: %v", err)
		}
	})))
	for _, host := range []string{"red.example", "blue.example"} {
		seen = nil
		cookie := adaAt(t, auth, host)
		get(page, "http://"+host+"/") // anonymously
		get(page, "http://"+host+"/", "Cookie", cookie)
		get(auth, "http://"+host+"/auth/session", "Cookie", cookie)
		r := httptest.NewRequest("GET", "http://"+host+"/", nil)
		r.Header.Set("Cookie", cookie)
		if _, err := auth.Session(r); err != nil {
			t.Error(err)
		}
		if _, err := auth.UpdateSession(httptest.NewRecorder(), r, nil); err != nil {
			t.Error(err)
		}
		if _, err := auth.SignOut(httptest.NewRecorder(), r, pintle.SignOutOptions{RedirectTo: "/"}); err != nil {
			t.Error(err)
		}
		where := map[string]int{}
		for _, s := range seen {
			where[s]++
		}
		of := " of " + host
		want := map[string]int{"token" + of: where["token"+of], "sign-in" + of: 1, "guard" + of: 2, "page" + of: 1, "sign-out" + of: 1}
		if where["token"+of] < 4 || !maps.Equal(where, want) {
			t.Errorf("at %s they find the tokens %v", host, where)
		}
	}
	err := auth.SignOutEverywhere(t.Context(), "1")
	if !errors.Is(err, pintle.CodeConfiguration) || !strings.Contains(err.Error(), "call it on Auth.Tenant") {
		t.Errorf("without a tenant: %v, want an error that says what to do", err)
	}
}

// A configuration that New would reject works for no request.
func TestMethodsMeetTheFaultOfATenant(t *testing.T) {
	var book logBook
	var got error
	auth := byHost(&book, func(_ context.Context, host string) (pintle.Config, error) {
		cfg := rented(host)
		cfg.Secrets = nil
		return cfg, nil
	})
	page := auth.Load(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = auth.DeleteUser(r.Context(), "1")
	}))
	get(page, "http://red.example/", "Cookie", sessionCookie+"=x")
	if e, ok := errors.AsType[*pintle.Error](got); !ok || e.Code != "MissingSecret" {
		t.Errorf("%v, want the code MissingSecret", got)
	}
}

// A client that makes up hosts does not fill the memory.
func TestConfigurationsAreForgotten(t *testing.T) {
	var book logBook
	made := map[string]int{}
	auth := byHost(&book, func(_ context.Context, host string) (pintle.Config, error) {
		made[host]++
		return rented(host), nil
	})
	visit := func(i int) { get(auth, fmt.Sprintf("http://t%d.example/auth/providers", i)) }
	for i := range 1000 {
		visit(i)
	}
	visit(0) // which is now the most recently used
	visit(1000)
	visit(0)
	visit(1)
	if made["t0.example"] != 1 || made["t1.example"] != 2 || made["t999.example"] != 1 {
		t.Errorf("made %d, %d and %d times, want 1, 2 and 1", made["t0.example"], made["t1.example"], made["t999.example"])
	}
}

// houses are tenants with one secret, whose users are numbered by the tenant.
func houses(book *logBook, change func(host string, cfg *pintle.Config)) *pintle.Auth {
	return byHost(book, func(_ context.Context, host string) (pintle.Config, error) {
		cfg := pintle.Config{
			URL: "http://" + host, Secrets: []string{secret},
			Providers: []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}},
		}
		change(host, &cfg)
		return cfg, nil
	})
}

// W-63: a secret that tenants share does not make them share sessions.
func TestASessionOfOneTenantIsRejectedAtAnother(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(host string, cfg *pintle.Config)
		there  string
	}{
		{"SA-M3 with one secret", func(string, *pintle.Config) {}, "anonymous"},
		{"SA-M3 with the secret of the environment", func(_ string, cfg *pintle.Config) {
			cfg.Secrets, cfg.Getenv = nil, func(name string) string {
				if name == "AUTH_SECRET" {
					return secret
				}
				return ""
			}
		}, "anonymous"},
		{"SA-M3 with a secret that the other one has replaced", func(host string, cfg *pintle.Config) {
			if host == "bank.example" {
				cfg.Secrets = []string{"the secret of the tenant at " + host + ", which is long", secret}
			}
		}, "anonymous"},
		{"SA-M3 with a format of the host's that uses the salt", func(host string, cfg *pintle.Config) {
			cfg.JWT.Encode = func(_ context.Context, claims pintle.Claims, salt string, _ time.Duration) (string, error) {
				return sealed(t, salt, claims), nil
			}
			cfg.JWT.Decode = func(_ context.Context, text, salt string) (claims pintle.Claims, _ error) {
				plain, ok := openedWith(secret, salt, text)
				if !ok {
					return nil, errBroken
				}
				return claims, json.Unmarshal([]byte(plain), &claims)
			}
		}, "anonymous"},
		{"SA-M3 of two tenants with different names", func(host string, cfg *pintle.Config) { cfg.Tenant = "tenant of " + host }, "anonymous"},
		{"of one tenant with two hosts", func(_ string, cfg *pintle.Config) { cfg.Tenant = "one" }, "Ada Lovelace"},
		{"where the host shares sessions", func(_ string, cfg *pintle.Config) { cfg.SharedSessions = true }, "Ada Lovelace"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var book logBook
			auth := houses(&book, func(host string, cfg *pintle.Config) { tt.change(host, cfg) })
			cookie := adaAt(t, auth, "evil.example")
			page := auth.Load(http.HandlerFunc(sayWho))
			for host, want := range map[string]string{"evil.example": "Ada Lovelace", "bank.example": tt.there} {
				if got := strings.TrimPrefix(get(page, "http://"+host+"/", "Cookie", cookie).Body.String(), "hello, "); got != want {
					t.Errorf("at %s %s is signed in, want %s", host, got, want)
				}
				if got := get(auth, "http://"+host+"/auth/session", "Cookie", cookie).Body.String(); (got == "null") != (want == "anonymous") {
					t.Errorf("at %s the session route answers %s", host, got)
				}
			}
		})
	}
}

// SA-M3: a handler between Load and Require that changes the host changes the
// tenant, too. The session is read again for that one.
func TestAGuardDecidesForTheTenantOfItsRequest(t *testing.T) {
	var book logBook
	read := map[string]int{}
	auth := houses(&book, func(host string, cfg *pintle.Config) {
		cfg.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
			read[host]++
			return c.Claims, nil
		}
		if host == "gone.example" {
			cfg.Secrets = nil
		}
	})
	moved := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if host := r.Header.Get("X-Forwarded-Host"); host != "" {
				r.Host = host
			}
			next.ServeHTTP(w, r)
		})
	}
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, err := range auth.Devices(r.Context(), pintle.SessionFrom(r.Context())) {
			if err != nil {
				t.Errorf("the session is not of the tenant of its context: %v", err)
			}
		}
		_, _ = w.Write([]byte(r.Host))
	})
	faults := func() int { return strings.Count(book.String(), `"code":"MissingSecret"`) }
	evil, bank := adaAt(t, auth, "evil.example"), adaAt(t, auth, "bank.example")
	for name, tt := range map[string]struct {
		cookie, to string
		status     int
		read       map[string]int
	}{
		"where the host stays":            {evil, "", http.StatusOK, map[string]int{"evil.example": 1}},
		"to a tenant without the session": {evil, "bank.example", http.StatusUnauthorized, map[string]int{"evil.example": 1}},
		"to the tenant of the session":    {bank, "bank.example", http.StatusOK, map[string]int{"bank.example": 1}},
		"to a tenant without a secret":    {evil, "gone.example", http.StatusInternalServerError, map[string]int{"evil.example": 1}},
	} {
		for order, wrap := range map[string]func(http.Handler) http.Handler{
			"Load, Require":       func(h http.Handler) http.Handler { return auth.Load(moved(auth.Require(h))) },
			"Load, Load, Require": func(h http.Handler) http.Handler { return auth.Load(moved(auth.Load(auth.Require(h)))) },
		} {
			t.Run(order+" "+name, func(t *testing.T) {
				clear(read)
				before := faults()
				w := get(wrap(page), "http://evil.example/", "Cookie", tt.cookie, "X-Forwarded-Host", tt.to)
				if w.Code != tt.status || !maps.Equal(read, tt.read) {
					t.Errorf("status %d, want %d; the session was read %v, want %v", w.Code, tt.status, read, tt.read)
				}
				if n := faults() - before; n != 0 != (tt.to == "gone.example") || n > 1 {
					t.Errorf("the fault is logged %d times: %s", n, &book)
				}
			})
		}
	}
	t.Run("Load alone", func(t *testing.T) {
		h := auth.Load(moved(auth.Load(http.HandlerFunc(sayWho))))
		if got := get(h, "http://evil.example/", "Cookie", evil, "X-Forwarded-Host", "bank.example").Body.String(); got != "hello, anonymous" {
			t.Error(got)
		}
	})
}

// The flow data in cookies belongs to the tenant, too: it records who began the
// flow.
func TestFlowOfOneTenantDoesNotEndAtAnother(t *testing.T) {
	var book logBook
	s := newSite(t)
	auth := houses(&book, func(_ string, cfg *pintle.Config) {
		cfg.Providers, cfg.HTTPClient = []pintle.Provider{s.idp.OIDC("acme")}, s.HTTPClient
	})
	for _, host := range []string{"evil.localhost", "bank.localhost"} {
		refused := host == "bank.localhost"
		w := httptest.NewRecorder()
		leave, err := auth.SignIn(w, httptest.NewRequest("POST", "http://evil.localhost/login", nil), "acme", pintle.SignInOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var cookies []string
		for _, c := range w.Result().Cookies() {
			cookies = append(cookies, c.Name+"="+c.Value)
		}
		back := mustParse(t, s.browser().consent(mustParse(t, leave)))
		back.Host = host
		answer := get(auth, back.String(), "Cookie", strings.Join(cookies, "; "))
		if failed := mustParse(t, answer.Header().Get("Location")).Query().Has("error"); answer.Code != http.StatusFound || failed != refused || book.has("InvalidCheck") != refused {
			t.Errorf("SA-M3 at %s the answer is %d to %s; log: %s", host, answer.Code, answer.Header().Get("Location"), &book)
		}
	}
}

// SA-M3: tenants that share a store and a secret share no mail links: each
// decides which addresses may sign in, and by which mails. W-63
func TestAMailLinkOfOneTenantIsRejectedAtAnother(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(cfg *pintle.Config, mail *pintle.Email)
		good   bool // at another tenant
	}{
		"with one secret":                 {func(*pintle.Config, *pintle.Email) {}, false},
		"with one secret of the provider": {func(_ *pintle.Config, mail *pintle.Email) { mail.Secret = secret }, false},
		"of one tenant with two hosts":    {func(cfg *pintle.Config, _ *pintle.Email) { cfg.Tenant = "one" }, true},
		"where the host shares sessions":  {func(cfg *pintle.Config, _ *pintle.Email) { cfg.SharedSessions = true }, true},
		"with tokens that the host makes": {func(_ *pintle.Config, mail *pintle.Email) { mail.GenerateToken = sixDigits }, false},
		"after the secret was replaced": {func(cfg *pintle.Config, _ *pintle.Email) {
			cfg.Secrets = []string{"a secret that leads, which is long", secret}
		}, false},
		"under the names that the host has": {func(cfg *pintle.Config, _ *pintle.Email) { cfg.Tenant = "tenant at " + cfg.URL }, false},
	} {
		t.Run(name, func(t *testing.T) {
			var book logBook
			store, link := memstore.New(), ""
			auth := houses(&book, func(_ string, cfg *pintle.Config) {
				mail := &pintle.Email{From: "a@b.example", Send: func(_ context.Context, m *pintle.Message) error { link = m.URL; return nil }}
				cfg.Store, cfg.Providers = store, []pintle.Provider{mail}
				tt.change(cfg, mail)
			})
			opened := func(host string) bool {
				w := httptest.NewRecorder()
				if _, err := auth.SignIn(w, httptest.NewRequest("POST", "http://open.example/login", nil), "email", pintle.SignInOptions{Fields: map[string]any{"email": "mallory@evil.example"}}); err != nil {
					t.Fatal(err)
				}
				got := get(auth, strings.Replace(link, "http://open.example", "http://"+host, 1))
				return slices.ContainsFunc(got.Result().Cookies(), func(c *http.Cookie) bool { return c.Name == sessionCookie && c.Value != "" })
			}
			for host, good := range map[string]bool{"open.example": true, "bank.example": tt.good} {
				if got := opened(host); got != good {
					t.Errorf("the link opens at %s: %t, want %t; log: %s", host, got, good, &book)
				}
			}
		})
	}
}

func sixDigits() (string, error) { return "123456", nil }

// A Go service beside a tenant reads its sessions by its name.
func TestPackageTokenReadsTheSessionOfATenant(t *testing.T) {
	var book logBook
	cookie := adaAt(t, houses(&book, func(string, *pintle.Config) {}), "red.example")
	r := httptest.NewRequest("GET", "http://red.example/", nil)
	r.Header.Set("Cookie", cookie)
	for tenant, want := range map[string]string{"red.example": "Ada Lovelace", "blue.example": "", "": ""} {
		codec, err := token.NewTenant(tenant, sessionCookie, secret)
		if err != nil {
			t.Fatal(err)
		}
		if tok, err := codec.FromRequest(r); tok.Name() != want {
			t.Errorf("SA-M3 the service of tenant %q reads %v, %v", tenant, tok, err)
		}
	}
}

func TestTenantAndSharedSessionsContradict(t *testing.T) {
	cfg := rented("red.example")
	cfg.Getenv, cfg.Tenant, cfg.SharedSessions = noEnv, "red", true
	if _, err := pintle.New(cfg); !errors.Is(err, pintle.CodeConfiguration) || !strings.Contains(err.Error(), "Config.Tenant") {
		t.Errorf("New returns %v", err)
	}
}

// SA-M3: an empty key is a tenant like others, that of an Auth of New with the secret
// and without a tenant.
func TestAnEmptyKeyIsATenantOfItsOwn(t *testing.T) {
	var book logBook
	config := func(context.Context, string) (pintle.Config, error) {
		cfg := rented("red.example")
		cfg.Secrets = []string{secret}
		return cfg, nil
	}
	auth := byHost(&book, config)
	cfg, _ := config(t.Context(), "")
	cfg.Getenv, cfg.Logger = noEnv, book.logger()
	single, err := pintle.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	isSignedIn := func(auth *pintle.Auth, host, cookie string) bool {
		r := httptest.NewRequest("GET", "http://red.example/", nil)
		r.Host = host
		r.Header.Set("Cookie", cookie)
		s, err := auth.Session(r)
		if err != nil {
			t.Fatal(err)
		}
		return s != nil
	}
	unnamed, red := adaAt(t, single, "red.example"), adaAt(t, auth, "red.example")
	if !isSignedIn(auth, "", unnamed) {
		t.Error("SA-M3 NewFunc with an empty key rejects the session of an Auth of New, against its documentation")
	}
	if isSignedIn(auth, "", red) {
		t.Error("SA-M3 NewFunc with an empty key accepts the session of a tenant")
	}
	if isSignedIn(auth, "red.example", unnamed) {
		t.Error("SA-M3 a tenant accepts the session of the empty key")
	}
}

// Accounts are known by provider id and subject: issuers with one id in one
// store are each other's users.
func TestIssuersThatShareAProviderID(t *testing.T) {
	shared := memstore.New()
	for _, tt := range []struct {
		name   string
		store  func() pintle.Store
		id     func(host string) string
		issuer func(host string) string
		warned bool
	}{
		{"SA-M3 one store that an observer of each tenant wraps", func() pintle.Store { return shared }, func(string) string { return "sso" }, func(host string) string { return "https://sso." + host }, true},
		{"SA-M3 one store and one id", func() pintle.Store { return shared }, func(string) string { return "sso" }, func(host string) string { return "https://sso." + host }, true},
		{"one store and an id for each", func() pintle.Store { return shared }, func(host string) string { return strings.ReplaceAll(host, ".", "-") }, func(host string) string { return "https://sso." + host }, false},
		{"a store for each", func() pintle.Store { return memstore.New() }, func(string) string { return "sso" }, func(host string) string { return "https://sso." + host }, false},
		{"one issuer", func() pintle.Store { return shared }, func(string) string { return "sso" }, func(string) string { return "https://sso.example" }, false},
		{"a store that cannot be compared", func() pintle.Store { return listStore{shared, nil} }, func(string) string { return "sso" }, func(host string) string { return "https://sso." + host }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var book logBook
			auth := houses(&book, func(host string, cfg *pintle.Config) {
				cfg.Store = tt.store()
				if strings.Contains(tt.name, "observer") {
					cfg.Observer.Store = func(s pintle.Store) pintle.Store { return &memstoreOf{s} }
				}
				cfg.Providers = []pintle.Provider{&pintle.OAuth{ID: tt.id(host), Protocol: oauth.OIDC, Issuer: tt.issuer(host), ClientID: host, ClientSecret: "x"}}
			})
			for _, host := range []string{"a.example", "b.example", "c.example", "a.example"} {
				if w := get(auth, "http://"+host+"/auth/providers"); w.Code != http.StatusOK {
					t.Fatalf("at %s the answer is %d: %s", host, w.Code, &book)
				}
			}
			want := 0
			if tt.warned {
				want = 1
			}
			if n := strings.Count(book.String(), "shared-provider-id"); n != want {
				t.Errorf("%d warnings, want %d; log: %s", n, want, &book)
			}
		})
	}
}

// memstoreOf is a wrapper that differs from every other one.
type memstoreOf struct{ pintle.Store }

// A listStore is a store whose values cannot be compared.
type listStore struct {
	pintle.Store
	list []string
}

// SA-M3: a value that one tenant keeps in a browser is not valid for another
// tenant, whose limits it would lift.
func TestASubmissionCookieIsOfOneTenant(t *testing.T) {
	read := ""
	auth := pintle.NewFunc(func(r *http.Request) string { return r.Host }, func(_ context.Context, key string) (pintle.Config, error) {
		return pintle.Config{
			Secrets: []string{"0123456789abcdef0123456789abcdef"}, TrustHost: true, DangerouslySkipCSRFCheck: true,
			Providers: []pintle.Provider{&pintle.Credentials{Authorize: func(_ context.Context, s *pintle.Submission) (*pintle.User, error) {
				read = s.Cookie("device")
				return &pintle.User{ID: "1"}, s.SetCookie("device", "of "+key, time.Hour)
			}}},
		}, nil
	})
	post := func(host string, cookies []*http.Cookie) []*http.Cookie {
		r := httptest.NewRequest(http.MethodPost, "https://"+host+"/auth/callback/credentials", strings.NewReader("username=ada"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for _, c := range cookies {
			r.AddCookie(c)
		}
		w := httptest.NewRecorder()
		auth.ServeHTTP(w, r)
		return w.Result().Cookies()
	}
	got := post("evil.example", nil)
	post("bank.example", got)
	if read != "" {
		t.Errorf("bank.example reads %q", read)
	}
}
