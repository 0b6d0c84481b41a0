package authtest_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/provider"
	"github.com/pintleauth/pintle/store/memstore"
)

// An application and its tests, as docs/testing.md shows them.

var role = pintle.NewClaim[string]("role")

// config is the application's, in production and in its tests.
func config(store pintle.Store, providers ...pintle.Provider) pintle.Config {
	return pintle.Config{
		Providers: providers,
		Store:     store,
		Secrets:   []string{"a secret of at least 32 characters"}, // or AUTH_SECRET
		Callbacks: pintle.Callbacks{Authorized: mayPass},
	}
}

func mayPass(r *http.Request, s *pintle.Session) (pintle.Access, error) {
	return pintle.Access{Allowed: s != nil && (r.URL.Path != "/admin" || s.User.Email == "root@example.com")}, nil
}

// account is a page for members.
func account(w http.ResponseWriter, r *http.Request) {
	user := pintle.SessionFrom(r.Context()).User
	fmt.Fprintf(w, "Hello, %s", cmp.Or(user.Name, user.Email))
}

// admin is a page for the administrator.
func admin(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "The users") }

// mustAuth makes the application's Auth, or ends the test. newApp returns the handler
// that the application has in production.
func mustAuth(t *testing.T, cfg pintle.Config) *pintle.Auth {
	t.Helper()
	auth, err := pintle.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return auth
}

func newApp(auth *pintle.Auth) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("/account", auth.Require(http.HandlerFunc(account))) // account and admin are handlers of the application
	mux.Handle("/admin", auth.Require(http.HandlerFunc(admin)))
	return auth.Load(mux)
}

func TestMembersAreGreeted(t *testing.T) {
	auth := mustAuth(t, config(memstore.New(), provider.GitHub(provider.Options{ClientID: "id", ClientSecret: "secret"})))
	app := newApp(auth)

	r := httptest.NewRequest(http.MethodGet, "http://localhost/account", nil)
	authtest.SignIn(t, auth, r, &pintle.User{Name: "Kim"})
	w := httptest.NewRecorder()
	app.ServeHTTP(w, r)
	if got := w.Body.String(); got != "Hello, Kim" {
		t.Errorf("Kim sees %q", got)
	}
}

func TestOnlyRootIsAnAdministrator(t *testing.T) {
	auth := mustAuth(t, config(memstore.New(), provider.GitHub(provider.Options{ClientID: "id", ClientSecret: "secret"})))
	app := newApp(auth)

	srv := httptest.NewServer(app)
	defer srv.Close()
	for user, want := range map[*pintle.User]int{
		{Email: "root@example.com"}: http.StatusOK,
		{Email: "kim@example.com"}:  http.StatusForbidden,
		nil:                         http.StatusUnauthorized, // anonymous
	} {
		client := authtest.HTTPClient(t, auth, srv.URL, user)
		resp, err := client.Get(srv.URL + "/admin")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%+v gets %s, want %d", user, resp.Status, want)
		}
	}
}

func TestTheUserOfATestIsTheStoredOne(t *testing.T) {
	store := memstore.New()
	auth := mustAuth(t, config(store, provider.GitHub(provider.Options{ClientID: "id", ClientSecret: "secret"})))
	srv := httptest.NewServer(newApp(auth))
	defer srv.Close()

	kim := &pintle.User{Email: "kim@example.com"}
	client := authtest.HTTPClient(t, auth, srv.URL, kim)
	// kim.ID is the key of the application's own rows about Kim.

	if stored, err := store.User(t.Context(), kim.ID); err != nil || stored.Email != kim.Email {
		t.Errorf("the store has %+v, %v", stored, err)
	}
	if got := pageFor(t, client, srv.URL+"/account"); got != "Hello, kim@example.com" {
		t.Errorf("Kim sees %q", got)
	}
}

func TestASessionEndsAfterAMonth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		auth := mustAuth(t, config(memstore.New(), provider.GitHub(provider.Options{ClientID: "id", ClientSecret: "secret"})))
		app := newApp(auth)
		r := httptest.NewRequest(http.MethodGet, "http://localhost/account", nil)
		authtest.SignIn(t, auth, r, &pintle.User{Name: "Kim"})

		time.Sleep(31 * 24 * time.Hour)
		w := httptest.NewRecorder()
		app.ServeHTTP(w, r)
		if w.Code != http.StatusUnauthorized {
			t.Errorf("after a month Kim gets status %d", w.Code)
		}
	})
}

func TestASignInWithAProvider(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{AutoConsent: true})
	auth := mustAuth(t, config(memstore.New(), idp.OIDC("acme")))
	srv := httptest.NewServer(newApp(auth))
	defer srv.Close()

	idp.SignInAs(authtest.Person{Subject: "42", Name: "Ada", Email: "ada@example.com", EmailVerified: true})
	client := authtest.HTTPClient(t, auth, srv.URL, nil)
	authtest.SignInWith(t, client, srv.URL+"/auth", "acme").Body.Close()
	if got := pageFor(t, client, srv.URL+"/account"); got != "Hello, Ada" {
		t.Errorf("Ada sees %q", got)
	}
}

func TestAProviderThatLiesSignsNoUserIn(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{AutoConsent: true})
	auth := mustAuth(t, config(memstore.New(), idp.OIDC("acme")))
	srv := httptest.NewServer(newApp(auth))
	defer srv.Close()

	idp.Break(authtest.IDTokenWrongAudience)
	client := authtest.HTTPClient(t, auth, srv.URL, nil)
	resp := authtest.SignInWith(t, client, srv.URL+"/auth", "acme")
	defer resp.Body.Close()
	if got := resp.Request.URL.Path; got != "/auth/signin" && got != "/auth/error" {
		t.Errorf("the browser ends at %s", got)
	}
	if got := pageFor(t, client, srv.URL+"/account"); got != "Unauthorized\n" {
		t.Errorf("a signed-in user sees %q", got)
	}
}

func TestASignInByMail(t *testing.T) {
	box := authtest.NewMailbox(authtest.MailboxOptions{})
	auth := mustAuth(t, config(memstore.New(), &pintle.Email{From: "App <no-reply@example.com>", Send: box.Send}))
	srv := httptest.NewServer(newApp(auth))
	defer srv.Close()

	client := authtest.HTTPClient(t, auth, srv.URL, nil)
	authtest.SignInWith(t, client, srv.URL+"/auth", "email", "email", "kim@example.com").Body.Close()
	mail, err := box.Wait(t.Context(), "kim@example.com")
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Get(mail.Links()[0])
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := pageFor(t, client, srv.URL+"/account"); got != "Hello, kim@example.com" {
		t.Errorf("after opening the link, the page shows %q", got)
	}
}

func TestASignInWithAPassword(t *testing.T) {
	auth := mustAuth(t, config(nil, &pintle.Credentials{Authorize: checkPassword}))
	srv := httptest.NewServer(newApp(auth))
	defer srv.Close()

	client := authtest.HTTPClient(t, auth, srv.URL, nil)
	authtest.SignInWith(t, client, srv.URL+"/auth", "credentials", "username", "kim", "password", "open barley").Body.Close()
	if got := pageFor(t, client, srv.URL+"/account"); got != "Unauthorized\n" {
		t.Errorf("with a wrong password the page shows %q", got)
	}
	authtest.SignInWith(t, client, srv.URL+"/auth", "credentials", "username", "kim", "password", "open sesame").Body.Close()
	if got := pageFor(t, client, srv.URL+"/account"); got != "Hello, Kim" {
		t.Errorf("with the password the page shows %q", got)
	}
}

func checkPassword(_ context.Context, s *pintle.Submission) (*pintle.User, error) {
	if s.Text("username") != "kim" || s.Text("password") != "open sesame" {
		return nil, nil
	}
	return &pintle.User{ID: "1", Name: "Kim"}, nil
}

func TestEditorsMayWrite(t *testing.T) {
	cfg := config(nil, &pintle.Credentials{Authorize: checkPassword})
	cfg.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
		if c.User != nil && strings.HasSuffix(c.User.Email, "@press.example") {
			role.Put(c.Claims, "editor")
		}
		return c.Claims, nil
	}
	auth := mustAuth(t, cfg)

	r := httptest.NewRequest(http.MethodPost, "http://localhost/articles", nil)
	authtest.SignIn(t, auth, r, &pintle.User{Email: "kim@press.example"})
	session, err := auth.Session(r)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := role.Get(session); got != "editor" {
		t.Errorf("Kim's role is %q", got)
	}
}
