package clients_test

import (
	"context"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/throttle"
)

// A site serves the built pages and, beside them, Pintle where each client
// expects the routes to be.
type site struct {
	url  string
	idp  *authtest.IdentityProvider
	auth *pintle.Auth

	// mail is the last one that was sent.
	mail atomic.Pointer[pintle.Message]

	// down makes the routes fail, as a server without its database does.
	down atomic.Bool
}

func newSite(t *testing.T) *site {
	t.Helper()
	idp := authtest.Start(t, authtest.Options{AutoConsent: true})
	idp.SignInAs(authtest.Person{Subject: "42", Name: "Grace Hopper", Email: "grace@example.com"})
	cfg := config(t, "the secret of the site with many clients")
	cfg.Providers = append(cfg.Providers, idp.OIDC("idp"))
	s := &site{idp: idp, auth: newAuth(t, cfg)}

	// @auth/sveltekit/client sends no form token: it relies on SvelteKit to
	// reject requests of other sites, as net/http can.
	cfg.BasePath, cfg.DangerouslySkipCSRFCheck = "/auth", true
	svelte := http.NewCrossOriginProtection().Handler(newAuth(t, cfg))

	mux := http.NewServeMux()
	mux.Handle("/api/auth/", s.whileUp(s.auth))
	mux.Handle("/auth/", svelte)
	mux.Handle("/welcome", s.auth.Load(http.HandlerFunc(welcome)))
	mux.Handle("/", http.FileServer(http.Dir(build(t))))
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

func (s *site) whileUp(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.down.Load() {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// config is the configuration of a server for users with passwords.
func config(t *testing.T, secret string) pintle.Config {
	return pintle.Config{
		BasePath:  "/api/auth",
		Secrets:   []string{secret},
		Providers: []pintle.Provider{new(throttle.Guard).Credentials(password(), "username")},
		Callbacks: pintle.Callbacks{JWT: rename},
		Logger:    slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError})),
		Getenv:    func(string) string { return "" },
	}
}

func newAuth(t *testing.T, cfg pintle.Config) *pintle.Auth {
	t.Helper()
	auth, err := pintle.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return auth
}

// password has the id "credentials" because some of the clients identify providers
// of this type by it (W-29).
func password() *pintle.Credentials {
	return &pintle.Credentials{
		ID: "credentials",
		Authorize: func(_ context.Context, s *pintle.Submission) (*pintle.User, error) {
			if s.Text("username") != "mary" || s.Text("password") != "ammonite and belemnite" {
				return nil, nil
			}
			return &pintle.User{ID: "1", Name: "Mary Anning", Email: "mary@example.com"}, nil
		},
	}
}

// rename lets users change their name.
func rename(_ context.Context, t *pintle.TokenChange) (pintle.Claims, error) {
	if change, ok := t.Update.(map[string]any); ok && t.Trigger == pintle.TriggerUpdate {
		if name, ok := change["name"].(string); ok {
			t.Claims["name"] = name
		}
	}
	return t.Claims, nil
}

// welcome is a page that the server writes.
func welcome(w http.ResponseWriter, r *http.Request) {
	name := "guest"
	if s := pintle.SessionFrom(r.Context()); s != nil {
		name = s.User.Name
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, `<!doctype html><link rel="icon" href="data:,"><h1>Welcome, %s</h1>`, html.EscapeString(name))
}
