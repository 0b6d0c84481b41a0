// Package passkey_test signs users in with passkeys in a real browser, with
// Chromium's virtual authenticators.
package passkey_test

import (
	"context"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/passkey"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// stores makes every kind of store.
var stores = []struct {
	name string
	make func(*testing.T) pintle.Store
}{
	{"memory", func(*testing.T) pintle.Store { return memstore.New() }},
	{"SQLite", onSQLite},
	{"PostgreSQL", onPostgreSQL},
}

// eachStore runs a test with every kind of store.
func eachStore(t *testing.T, test func(*testing.T, *site)) {
	t.Helper()
	for _, kept := range stores {
		t.Run(kept.name, func(t *testing.T) { test(t, newSite(t, kept.make(t), passkey.Options{})) })
	}
}

func onSQLite(t *testing.T) pintle.Store {
	t.Helper()
	return on(t, services.SQLiteDatabase(t), sqlstore.SQLite)
}

func onPostgreSQL(t *testing.T) pintle.Store {
	t.Helper()
	return on(t, services.PostgreSQLDatabase(t), sqlstore.PostgreSQL)
}

func on(t *testing.T, db *services.Database, d sqlstore.Dialect) pintle.Store {
	t.Helper()
	if err := sqlstore.Migrate(t.Context(), db.DB, d); err != nil {
		t.Fatal(err)
	}
	return sqlstore.New(db.DB, d)
}

// A site has the sign-in routes, and pages with the browser clients.
type site struct {
	t     *testing.T
	url   string // http://localhost:…, since an address is no domain for passkeys
	store pintle.Store
	auth  *pintle.Auth
	order order

	mu     sync.Mutex
	clones int
	log    strings.Builder
}

// newSite returns a site that has other ways to sign in beside passkeys.
func newSite(t *testing.T, kept pintle.Store, o passkey.Options, others ...pintle.Provider) *site {
	t.Helper()
	s := &site{t: t, store: kept}
	var err error
	s.auth, err = pintle.New(pintle.Config{
		Providers: append([]pintle.Provider{
			passkey.New(o), &pintle.Credentials{Authorize: s.checkPassword},
		}, others...),
		Store:                kept,
		Secrets:              []string{"the secret of a site with passkeys"},
		ExperimentalPasskeys: true,
		Logger:               slog.New(slog.NewTextHandler(s, nil)),
		Getenv:               func(string) string { return "" },
		Events: pintle.Events{ClonedPasskey: func(context.Context, *pintle.Passkey) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.clones++
			return nil
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", s.order.of(s.auth))
	mux.Handle("/scripts/", http.StripPrefix("/scripts/", http.FileServer(http.Dir(scripts(t)))))
	mux.Handle("/", s.auth.Load(http.HandlerFunc(home)))
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	s.url = strings.Replace(srv.URL, "127.0.0.1", "localhost", 1)
	return s
}

// Write appends to the log.
func (s *site) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(p)
}

func (s *site) logged(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.log.String(), text)
}

// checkPassword accepts one user, who must be in the store.
func (s *site) checkPassword(ctx context.Context, c *pintle.Submission) (*pintle.User, error) {
	if c.Text("username") != "mary" || c.Text("password") != "ammonite and belemnite" {
		return nil, nil
	}
	return s.store.CreateUser(ctx, &pintle.User{ID: "mary", Name: "Mary Anning", Email: "mary@example.com"})
}

// home shows the signed-in user, with the requested scripts.
func home(w http.ResponseWriter, r *http.Request) {
	who := "guest"
	if session := pintle.SessionFrom(r.Context()); session != nil {
		who = session.User.Email
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, `<!doctype html><link rel="icon" href="data:,"><h1>`+html.EscapeString(who)+`</h1><input autocomplete="username webauthn">`)
	for _, script := range []string{"next-auth", "simplewebauthn", "pintle"} {
		fmt.Fprintf(w, `<script type="module">
import * as all from "/scripts/%s.js"
if (all.connect) globalThis.auth = all.connect()
document.documentElement.dataset.ready = (document.documentElement.dataset.ready ?? "") + "."
</script>`, script)
	}
}

// user returns the user with an address and their passkeys.
func (s *site) user(email string) (*pintle.User, []*pintle.Passkey) {
	s.t.Helper()
	user, err := s.store.UserByEmail(s.t.Context(), email)
	if err != nil {
		s.t.Fatalf("%s: %v", email, err)
	}
	passkeys, err := s.store.UserPasskeys(s.t.Context(), user.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	return user, passkeys
}

var bundles struct {
	once sync.Once
	dir  string
	err  error
}

// scripts bundles the clients, once for all tests, and returns their folder.
func scripts(t *testing.T) string {
	t.Helper()
	bundles.once.Do(func() {
		bundles.dir, bundles.err = bundle()
	})
	if bundles.err != nil {
		t.Fatalf("%v: scripts/setup installs what it needs", bundles.err)
	}
	return bundles.dir
}

func bundle() (string, error) {
	dir := filepath.Join(bundleParent, "scripts")
	for _, c := range []struct{ dir, out string }{
		{".", "--outdir=" + dir},
		{"../../../client", "--outfile=" + filepath.Join(dir, "pintle.js")},
	} {
		cmd := exec.Command("npm", "run", "--silent", "bundle", "--", c.out)
		cmd.Dir = c.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w\n%s", cmd, err, out)
		}
	}
	return dir, nil
}
