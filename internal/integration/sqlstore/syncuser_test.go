package sqlstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// A roleSite is an application whose users have the role of their profile.
type roleSite struct {
	t    *testing.T
	url  string
	idp  *authtest.IdentityProvider
	fail error // of the callback, after the sign-in was allowed
}

func newRoleSite(t *testing.T, store pintle.Store) *roleSite {
	t.Helper()
	s := &roleSite{t: t, idp: authtest.Start(t, authtest.Options{AutoConsent: true})}
	auth, err := pintle.New(pintle.Config{
		Store:     store,
		Providers: []pintle.Provider{s.idp.OIDC("acme")},
		Secrets:   []string{"a secret of at least 32 characters"},
		Logger:    slog.New(slog.DiscardHandler),
		Callbacks: pintle.Callbacks{
			SyncUser: func(ctx context.Context, a *pintle.SignInAttempt) (pintle.UserUpdate, error) {
				// A transaction of this sign-in would be waited for here.
				if _, err := store.User(ctx, a.User.ID); err != nil && !errors.Is(err, pintle.ErrNotFound) {
					return pintle.UserUpdate{}, err
				}
				return pintle.UserUpdate{Extra: map[string]any{"role": a.Profile.Text("role")}}, s.fail
			},
			Session: func(_ context.Context, v *pintle.SessionView) (any, error) {
				return v.User.Extra, nil
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

// setRole sets the role that Ada has at the provider from now on.
func (s *roleSite) setRole(role string) {
	s.idp.SignInAs(authtest.Person{Subject: "42", Name: "Ada", Email: "ada@example.org", EmailVerified: true, Claims: map[string]any{"role": role}})
}

// signIn returns a browser in which Ada has signed in, if she may.
func (s *roleSite) signIn() *http.Client {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Timeout: 20 * time.Second}
	authtest.SignInWith(s.t, browser, s.url+"/auth", "acme").Body.Close()
	return browser
}

// role returns the role in the browser's session, "" if it is signed out.
func (s *roleSite) role(browser *http.Client) string {
	s.t.Helper()
	resp, err := browser.Get(s.url + "/auth/session")
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	var session struct{ Role string }
	if err := json.NewDecoder(resp.Body).Decode(&session); err != nil {
		s.t.Fatal(err)
	}
	return session.Role
}

// roleTables are the package's own tables, and those of Drizzle with a column of the
// application's.
func roleTables(t *testing.T, d database) map[string]*sqlstore.Store {
	t.Helper()
	stores := map[string]*sqlstore.Store{"own tables": sqlstore.New(migrated(t, d).DB, d.dialect)}
	for _, l := range sharedLayouts {
		if l.file != "drizzle-"+d.dialect.String() {
			continue
		}
		db := l.create(t)
		execute(t, db.DB, "ALTER TABLE "+l.quoted("user")+" ADD role varchar(20) NOT NULL DEFAULT 'member'")
		l.layout.Users.Extra = []string{"role"}
		stores["shared tables"] = l.store(t, db)
		repair(t, db, stores["shared tables"])
	}
	return stores
}

func TestARoleFollowsTheProviderInEachDatabase(t *testing.T) {
	for _, d := range databases {
		for name, store := range roleTables(t, d) {
			t.Run(d.name+", "+name, func(t *testing.T) {
				s := newRoleSite(t, store)
				s.setRole("admin")
				first := s.signIn()
				if role := s.role(first); role != "admin" {
					t.Fatalf("a new user is %q, want admin", role)
				}
				s.setRole("member")
				if role := s.role(first); role != "admin" {
					t.Errorf("before the next sign-in the user is %q, want admin", role)
				}
				second := s.signIn()
				if role := s.role(second); role != "member" {
					t.Errorf("after the next sign-in the user is %q, want member", role)
				}
				if role := s.role(first); role != "member" {
					t.Errorf("after the next sign-in the first session is %q, want member", role)
				}

				s.setRole("admin")
				s.fail = errors.New("the directory does not answer")
				if role := s.role(s.signIn()); role != "" {
					t.Errorf("without an answer a browser is signed in as %q", role)
				}
				if role := s.role(first); role != "member" {
					t.Errorf("after a sign-in that failed the user is %q, want member", role)
				}
				s.fail = nil

				const tabs = 16
				browsers := make([]*http.Client, tabs)
				var all sync.WaitGroup
				for i := range browsers {
					all.Go(func() { browsers[i] = s.signIn() })
				}
				all.Wait()
				for _, browser := range browsers {
					if role := s.role(browser); role != "admin" {
						t.Errorf("one of %d tabs is %q, want admin", tabs, role)
					}
				}
			})
		}
	}
}

// On a handle with one connection a callback in the transaction would wait for it
// for ever.
func TestACallbackMayUseTheOnlyConnection(t *testing.T) {
	db := services.SQLiteDatabase(t)
	if err := sqlstore.Migrate(t.Context(), db.DB, sqlstore.SQLite); err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	s := newRoleSite(t, sqlstore.New(db.DB, sqlstore.SQLite))
	s.setRole("admin")
	if role := s.role(s.signIn()); role != "admin" {
		t.Errorf("a new user is %q, want admin", role)
	}
	s.setRole("member")
	if role := s.role(s.signIn()); role != "member" {
		t.Errorf("the user is %q, want member", role)
	}
}
