// Package backchannel_test has an OpenID provider of another project end sessions of an
// application: the user signs out there, and the provider posts a logout token.
package backchannel_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/integration/formbrowser"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/store/memstore"
)

// answerTimeout is for the provider to post a logout token, which it does before it
// answers the sign-out.
const answerTimeout = 30 * time.Second

// RPT-87, RPT-1: of two sessions of a user at the provider one ends, and with it the one here.
func TestAProviderOfAnotherProjectEndsASession(t *testing.T) {
	for _, strategy := range []pintle.SessionStrategy{pintle.StrategyDatabase, pintle.StrategyJWT} {
		t.Run(string(strategy), func(t *testing.T) {
			var handler http.Handler
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
			t.Cleanup(site.Close)
			issuer, said := startProvider(t, site.URL)
			events := make(chan *pintle.SignOutEvent, 10)
			cfg := pintle.Config{
				Providers: []pintle.Provider{&pintle.OAuth{
					ID: "sso", Protocol: oauth.OIDC, Issuer: issuer, ClientID: "app", ClientSecret: "the secret of the app",
					Authorization: oauth.Endpoint{Params: map[string]string{"scope": "openid profile email"}}, ProfileFromUserInfo: true,
					BackChannelLogout: true, RequireLogoutTokenType: true,
				}},
				Secrets: []string{"a secret for tests, 32 characters or more"},
				Getenv:  func(string) string { return "" },
				Events: pintle.Events{ProviderSignOut: func(_ context.Context, e *pintle.SignOutEvent) error {
					events <- e
					return nil
				}},
			}
			if strategy == pintle.StrategyDatabase {
				cfg.Store = memstore.New()
			} else {
				cfg.Session.Revocation = &memstore.Revocations{}
			}
			auth, err := pintle.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			mux := http.NewServeMux()
			mux.Handle("/auth/", auth)
			mux.Handle("/", auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if s := pintle.SessionFrom(r.Context()); s != nil {
					_, _ = io.WriteString(w, "Hello, "+s.User.Name)
				}
			})))
			handler = mux

			first, second := formbrowser.New(t), formbrowser.New(t)
			for _, b := range []*formbrowser.Browser{first, second} {
				p := b.Submit(b.Get(site.URL+"/auth/signin?callbackUrl=/"), "/signin/sso", nil)
				p = b.Submit(p, "/interaction/", url.Values{"login": {"ada"}, "password": {"any"}})
				if p = b.Submit(p, "/interaction/", nil); p.Text != "Hello, Ada Lovelace" {
					t.Fatalf("%s shows:\n%s", p.URL, p.Text)
				}
			}
			first.Submit(first.Get(issuer+"/session/end"), "/session/end/confirm", url.Values{"logout": {"yes"}})
			select {
			case e := <-events:
				if e.Provider != "sso" || e.ProviderSession == "" || strategy == pintle.StrategyDatabase && (e.UserID == "" || e.Ended != 1) {
					t.Errorf("the event is %+v", e)
				}
			case <-time.After(answerTimeout):
				select {
				case line := <-said:
					t.Fatalf("the provider has ended no session: %s", line)
				default:
					t.Fatal("the provider has ended no session, and sent no logout token")
				}
			}
			if line := <-said; !strings.HasPrefix(line, "backchannel.success") {
				t.Errorf("the provider says %q", line)
			}
			if p := first.Get(site.URL + "/"); p.Text != "" {
				t.Errorf("after the sign-out the site shows %q", p.Text)
			}
			if p := second.Get(site.URL + "/"); p.Text != "Hello, Ada Lovelace" {
				t.Errorf("in the other browser the site shows %q", p.Text)
			}
		})
	}
}

// startProvider starts the identity provider, and returns its issuer and what it says
// afterwards.
func startProvider(t *testing.T, app string) (issuer string, said <-chan string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "idp.mjs", app)
	cmd.Env = append(os.Environ(), "NODE_ENV=production")
	cmd.Stderr = io.Discard // notices about development settings
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: scripts/setup installs what it needs", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // the error of the killed process
	})
	lines := make(chan string, 10)
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(out); in.Scan(); {
			if line := in.Text(); strings.HasPrefix(line, "issuer ") || strings.HasPrefix(line, "backchannel.") {
				lines <- line
			}
		}
	}()
	for line := range lines {
		if issuer, ok := strings.CutPrefix(line, "issuer "); ok {
			return issuer, lines
		}
	}
	t.Fatal("the identity provider does not start: scripts/setup installs what it needs")
	return "", nil
}
