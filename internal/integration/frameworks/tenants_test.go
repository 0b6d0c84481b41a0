package frameworks_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
)

// withTenants selects the configuration by a header of the framework's request:
// S-11.
func withTenants(f framework) func(*setting) {
	header := f.header
	if header == nil {
		header = func(r *http.Request, name string) string { return r.Header.Get(name) }
	}
	return func(s *setting) {
		s.auth = pintle.NewFunc(
			func(r *http.Request) string { return header(r, "X-Tenant") },
			func(_ context.Context, tenant string) (pintle.Config, error) {
				if tenant != "blue" && tenant != "green" {
					return pintle.Config{}, fmt.Errorf("there is no tenant %q", tenant)
				}
				cfg := config()
				cfg.Providers = []pintle.Provider{&pintle.Credentials{ID: "password", Name: "the " + tenant + " staff", Authorize: checkPassword}}
				cfg.Secrets = []string{tenant + " has another secret, of 32 characters or more"}
				cfg.Callbacks.Authorized = func(r *http.Request, s *pintle.Session) (pintle.Access, error) {
					return pintle.Access{Allowed: s != nil && header(r, "X-Tenant") == tenant}, nil
				}
				return cfg, nil
			},
		)
	}
}

// at is a browser that visits one tenant.
func (b *browser) at(tenant string) *browser {
	b.t.Helper()
	own := newBrowser(b.t, b.address)
	own.client.Transport = tenantHeader{own.client.Transport, tenant}
	return own
}

type tenantHeader struct {
	http.RoundTripper
	tenant string
}

func (h tenantHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Tenant", h.tenant)
	return h.RoundTripper.RoundTrip(r)
}

func TestTheFrameworksRequestChoosesTheConfiguration(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		site := f.start(t, withTenants(f))
		blue, green := site.at("blue"), site.at("green")
		for name, b := range map[string]*browser{"blue": blue, "green": green} {
			if page := b.get("/auth/signin").want(http.StatusOK); !strings.Contains(page.body, "the "+name+" staff") {
				t.Errorf("the sign-in page of %s does not name its staff", name)
			}
		}

		// Route, guard, handler and middleware go by one configuration.
		blue.signIn("kim")
		blue.get("/account").want(http.StatusOK).wantBody("Kim")
		blue.post("/role", "role", "editor").want(http.StatusOK).wantBody("editor")
		blue.get("/devices").want(http.StatusOK).wantBody("1")
		green.post("/login", "username", "root", "password", "root's").want(http.StatusSeeOther)
		green.get("/").want(http.StatusOK).wantBody("Root")

		// A session of one tenant is not valid for another.
		held := blue.cookies()
		cookie := held[slices.IndexFunc(held, func(c *http.Cookie) bool { return c.Name == "authjs.session-token" })].String()
		site.at("green").get("/", "Cookie", cookie).want(http.StatusOK).wantBody("guest")
		site.at("blue").get("/", "Cookie", cookie).want(http.StatusOK).wantBody("Kim")

		blue.post("/logout").want(http.StatusSeeOther)
		blue.get("/").wantBody("guest")
		green.get("/").wantBody("Root")

		// An unknown tenant has no session.
		unknown := site.at("red")
		unknown.get("/", "Cookie", cookie).want(http.StatusOK).wantBody("guest")
		unknown.get("/account", "Accept", "*/*", "Cookie", cookie).want(http.StatusInternalServerError)
		if status := unknown.get("/auth/signin").StatusCode; status < 400 {
			t.Errorf("the sign-in page of an unknown tenant has status %d", status)
		}
	})
}
