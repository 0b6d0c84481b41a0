package frameworks_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

func TestAGuardRejectsAnonymousRequests(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t)
		r := b.get("/account?tab=1").want(http.StatusFound).wantLocation("/auth/signin?callbackUrl=%2Faccount%3Ftab%3D1").wantBody("")
		if got := r.Header.Get("Cache-Control"); got != "private, no-cache, no-store" {
			t.Errorf("Cache-Control is %q", got)
		}
		if !strings.Contains(strings.Join(r.Header["Vary"], ","), "Cookie") {
			t.Errorf("Vary is %q", r.Header["Vary"])
		}
		b.get("/account", "Accept", "application/json").want(http.StatusUnauthorized).wantBody("Unauthorized\n")
		b.get("/account", "Sec-Fetch-Mode", "cors").want(http.StatusUnauthorized)
		b.signIn("kim")
		b.get("/admin", "Accept", "application/json").want(http.StatusForbidden).wantBody("Forbidden\n")
		if page := b.get("/admin").want(http.StatusForbidden); !strings.Contains(page.body, "<h1>Not for this account</h1>") || page.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("a browser is shown %.300s", page.body)
		}
		b.get("/account").want(http.StatusOK).wantBody("Kim")
		b.post("/logout")
		b.signIn("root")
		b.get("/admin").want(http.StatusOK).wantBody("Root")
	})
}

func TestAfterTheSignInTheBrowserReturnsToTheGuardedPage(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t)
		signIn := b.get("/account?tab=1").location()
		b.get(signIn).want(http.StatusOK)
		b.signIn("kim").wantLocation(b.address + "/account?tab=1")
	})
}

func TestSH04AGuardFailsClosed(t *testing.T) {
	for _, tt := range []struct {
		name   string
		make   func(context.Context, string) (pintle.Config, error)
		status int
	}{
		{"SH-04 the configuration is invalid", func(context.Context, string) (pintle.Config, error) {
			return pintle.Config{}, errors.New("this host is not known")
		}, http.StatusInternalServerError},
		{"SH-04 the secret is missing", func(context.Context, string) (pintle.Config, error) {
			cfg := config()
			cfg.Secrets = nil
			return cfg, nil
		}, http.StatusInternalServerError},
		{"SH-04 the guard's callback fails", func(context.Context, string) (pintle.Config, error) {
			cfg := config()
			cfg.Callbacks.Authorized = func(*http.Request, *pintle.Session) (pintle.Access, error) {
				return pintle.Access{Allowed: true}, errors.New("no answer")
			}
			return cfg, nil
		}, http.StatusUnauthorized},
		{"SH-04 ASVS-16.5.2 the database is down", func(context.Context, string) (pintle.Config, error) {
			cfg := config()
			cfg.Store, cfg.Session.Strategy = downStore{memstore.New()}, pintle.StrategyDatabase
			cfg.Providers = append(cfg.Providers, &pintle.Email{From: "no-reply@example.com", Send: unsent})
			return cfg, nil
		}, http.StatusServiceUnavailable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			each(t, func(t *testing.T, f framework) {
				b := f.start(t, func(s *setting) {
					s.auth = pintle.NewFunc(func(*http.Request) string { return "" }, tt.make)
				})
				for _, path := range []string{"/account", "/admin"} {
					b.get(path, "Accept", "*/*", "Cookie", "authjs.session-token=held").want(tt.status).wantBody(http.StatusText(tt.status) + "\n")
				}
			})
		})
	}
}

// downStore is a database that fails to read sessions.
type downStore struct{ *memstore.Store }

func (downStore) SessionAndUser(context.Context, string) (*pintle.StoredSession, *pintle.User, error) {
	return nil, nil, errors.New("connection refused")
}

func unsent(context.Context, *pintle.Message) error { return errors.New("no mail server") }

// SH-33, SH-64, SH-70: if a router and a guard read a path differently, a page is
// unguarded. SH-67: headers of the client do not change that.
func TestNoSpellingOfAPathPassesTheGuard(t *testing.T) {
	targets := []string{
		"/account", "/account/", "//account", "/./account", "/x/../account", "/%61ccount", "/account%2f", "/ACCOUNT",
		"/account%00", "/account;x", "/account;/../x", "/account%23", "/account%3f", "/account?x=/auth/signin", "/account?/auth/",
		"/auth/../account", "/auth/%2e%2e/account", "/auth/..%2faccount", "/auth//../account", `/auth\..\account`,
		"//evil.example/account?x=://", "/account#/auth/",
	}
	each(t, func(t *testing.T, f framework) {
		b := f.start(t)
		for _, target := range targets {
			for _, agent := range []string{"Mozilla/5.0", "kube-probe/1.0", "GoogleHC/1.0"} {
				status, body := raw(t, b.address, "GET "+target+" HTTP/1.1", "Host: "+host(b.address), "User-Agent: "+agent)
				if strings.Contains(body, "guest") || status == http.StatusOK && !strings.Contains(body, "<html") {
					t.Errorf("%s with %s: status %d, %.200q", target, agent, status, body)
				}
			}
		}
	})
}

// The application's Authorized reads r.URL.Path: it must be the path by which the
// router chose the route, for any request line.
func TestSH70TheGuardSeesThePathThatTheRouterChose(t *testing.T) {
	targets := []string{
		"/admin", "/admin?", "/admin?/account", "//admin", "/./admin", "/x/../admin", "/%61dmin", "/admin/", "/ADMIN", "/admin;x", "/admin%2f",
		"//x/admin", "//x/admin?y=://", "//x//admin?y=://", "///admin?://", "/admin#/account", "/account/../admin", "/admin%3f/account",
	}
	each(t, func(t *testing.T, f framework) {
		b := f.start(t)
		b.signIn("kim")
		session := b.cookies()
		cookie := session[slices.IndexFunc(session, func(c *http.Cookie) bool { return c.Name == "authjs.session-token" })].String()
		for _, target := range append(targets, "http://"+host(b.address)+"/admin", "http://x@"+host(b.address)+"/admin") {
			_, body := raw(t, b.address, "GET "+target+" HTTP/1.1", "Host: "+host(b.address), "Cookie: "+cookie)
			if strings.Contains(body, "Kim") {
				t.Errorf("SH-70 %s shows the page of administrators: %q", target, body)
			}
		}
		if _, body := raw(t, b.address, "GET /account HTTP/1.1", "Host: "+host(b.address), "Cookie: "+cookie); body != "Kim" {
			t.Fatalf("the cookie does not work: %q", body)
		}
	})
}

func TestSH48NoPathBecomesAnotherSite(t *testing.T) {
	targets := []string{
		"//evil.example/account", "//evil.example/..", "//evil.example/%2e%2e/account", `/\evil.example/account`, "/%5cevil.example/account",
		"/auth//evil.example/", "//evil.example/auth/signin", "/account?callbackUrl=//evil.example", "//evil.example/account?x=://",
		"/auth/signin?callbackUrl=//evil.example", `/auth/signin?callbackUrl=/\evil.example`, "/auth/%2f%2fevil.example",
	}
	each(t, func(t *testing.T, f framework) {
		b := f.start(t)
		for _, target := range targets {
			for _, location := range locations(t, b.address, "GET "+target+" HTTP/1.1", "Host: "+host(b.address), "Accept: text/html") {
				if strings.HasPrefix(location, "//") || strings.HasPrefix(location, `/\`) || strings.HasPrefix(location, "http") && !strings.HasPrefix(location, b.address) {
					t.Errorf("SH-48 %s leads to %s", target, location)
				}
			}
		}
	})
}

func TestOnlyTheOriginItselfIsThisSite(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t)
		for _, wish := range []string{
			"https://" + host(b.address) + "/a", "http://127.0.0.1:1/a", "http://127.0.0.1/a", // SH-44: another scheme, another port
			"http://127.0.0.1.evil.example/a", "http://evil" + host(b.address) + "/a", "http://evil.example/" + host(b.address), // SH-62
		} {
			r := b.post("/auth/callback/password", "csrfToken", b.csrf(), "username", "kim", "password", "kim's", "callbackUrl", wish)
			if r.want(http.StatusFound).location() != b.address {
				t.Errorf("%s leads to %s", wish, r.location())
			}
		}
	})
}

func TestADecisionIsNotKeptForTheNextRequest(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		// SH-70: one connection with requests of several users.
		b := f.start(t)
		b.signIn("kim")
		b.get("/account").wantBody("Kim")
		jar := b.client.Jar
		b.client.Jar = nil
		b.get("/account", "Accept", "*/*").want(http.StatusUnauthorized)
		b.get("/").wantBody("guest")
		b.client.Jar = jar
		b.get("/account").want(http.StatusOK).wantBody("Kim")
	})
}
