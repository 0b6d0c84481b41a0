package main

import (
	"database/sql"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/connection"
	"github.com/pintleauth/pintle/connection/connectiontest"
)

func opened(t *testing.T) (*sql.DB, *source) {
	t.Helper()
	db, err := openDatabase(filepath.Join(t.TempDir(), "customers.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s, err := newSource(t.Context(), db, keyOf("a key"))
	if err != nil {
		t.Fatal(err)
	}
	return db, s
}

func TestTheSourceKeepsEveryPromise(t *testing.T) {
	connectiontest.TestSource(t, func(t *testing.T) connectiontest.Harness {
		_, s := opened(t)
		return connectiontest.Harness{Source: s, Put: s.put, Delete: s.remove}
	})
}

var acme = connection.Connection{
	ID: "acme", Version: 1, Issuer: "https://login.acme.example", ClientID: "app", ClientSecret: "the secret of Acme", Domains: []string{"acme.example"},
}

// A reader of the database has no secret, and the secret of one customer does not open in the row
// of another.
func TestSecretsAreSealedToTheirCustomer(t *testing.T) {
	db, s := opened(t)
	other := acme
	other.ID, other.Domains = "other", nil
	for _, c := range []connection.Connection{acme, other} {
		if err := s.put(t.Context(), &c); err != nil {
			t.Fatal(err)
		}
	}
	var sealed []byte
	if err := db.QueryRowContext(t.Context(), "SELECT client_secret FROM connections WHERE id = 'acme'").Scan(&sealed); err != nil || strings.Contains(string(sealed), "secret") {
		t.Errorf("the table has %q, %v", sealed, err)
	}
	if _, err := db.ExecContext(t.Context(), "UPDATE connections SET client_secret = $1 WHERE id = 'other'", sealed); err != nil {
		t.Fatal(err)
	}
	if c, err := s.Connection(t.Context(), "other"); err == nil {
		t.Errorf("the connection has %q", c.ClientSecret)
	}
}

// A route is a network of handlers, by their hosts.
type route map[string]http.Handler

func (n route) RoundTrip(r *http.Request) (*http.Response, error) {
	in := r.Clone(r.Context())
	in.Host, in.RemoteAddr, in.RequestURI = r.URL.Host, "192.0.2.1:1234", r.URL.RequestURI()
	if in.Body == nil {
		in.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	n[r.URL.Host].ServeHTTP(w, in)
	answer := w.Result()
	answer.Request = r
	return answer, nil
}

func TestAUserOfACustomerSignsIn(t *testing.T) {
	idp := authtest.NewIdentityProvider(authtest.Options{AutoConsent: true})
	idp.Issuer = acme.Issuer
	_, customers := opened(t)
	if err := customers.put(t.Context(), &acme); err != nil {
		t.Fatal(err)
	}
	network := route{"login.acme.example": idp}
	cfg := config(customers)
	cfg.Connections.Client = &http.Client{Transport: network} // there is no network in a test
	cfg.Getenv = func(string) string { return "" }
	auth, err := pintle.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	network["localhost:3000"] = site(auth)
	// The provider of Acme may name any address.
	for address, want := range map[string]bool{"ada@acme.example": true, "ada@elsewhere.example": false} {
		idp.SignInAs(authtest.Person{Subject: address, Name: "Ada", Email: address, EmailVerified: true})
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		browser := &http.Client{Jar: jar, Transport: network}
		_, token, _ := strings.Cut(bodyOf(t)(browser.Get("http://localhost:3000/auth/csrf")), `"csrfToken":"`)
		token, _, _ = strings.Cut(token, `"`)
		body := bodyOf(t)(browser.PostForm("http://localhost:3000/auth/signin/sso-acme", url.Values{"csrfToken": {token}, "callbackUrl": {"/"}}))
		if got := strings.Contains(body, "Hello, "+address); got != want {
			t.Errorf("%s is signed in: %v, want %v:\n%s", address, got, want, body)
		}
	}
}

func bodyOf(t *testing.T) func(*http.Response, error) string {
	return func(answer *http.Response, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}
