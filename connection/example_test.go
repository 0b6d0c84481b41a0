package connection_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/connection"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/throttle"
)

// customers is a source of connections that are in memory.
type customers map[string]*connection.Connection

func (all customers) Connection(_ context.Context, id string) (*connection.Connection, error) {
	if c := all[id]; c != nil {
		return c, nil
	}
	return nil, connection.ErrNotFound
}

func (all customers) IDs(_ context.Context, domain string) (ids []string, err error) {
	for id, c := range all {
		if c.Verifies(domain) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// A user of a customer types an address, and signs in with the customer's identity provider.
func Example() {
	idp := authtest.NewIdentityProvider(authtest.Options{AutoConsent: true})
	idp.Issuer = "https://login.acme.example"
	idp.SignInAs(authtest.Person{Subject: "1", Name: "Ada", Email: "ada@acme.example", EmailVerified: true})

	guard := &throttle.Guard{}
	auth, err := pintle.New(pintle.Config{
		Connections: guard.Connections(connection.Config{
			Source: customers{"acme": {
				ID: "acme", Version: 1, Name: "Acme", Issuer: idp.Issuer, ClientID: "app", ClientSecret: "of Acme",
				Domains: []string{"acme.example"},
			}},
			Client: inProcess(idp), // leave it out: it lets this example run without a network
		}),
		Callbacks: pintle.Callbacks{SignIn: func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
			fmt.Println("customer:", a.Connection, "- domain proven:", a.VerifiedDomain)
			return "", nil
		}},
		Secrets: []string{"the output of openssl rand -base64 33"},
		Store:   memstore.New(),
		Logger:  slog.New(slog.DiscardHandler),
		Getenv:  func(string) string { return "" },
	})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("/", auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, pintle.SessionFrom(r.Context()).User.Email)
	})))

	// A browser, which finds both of them.
	jar, _ := cookiejar.New(nil)
	browser := &http.Client{Jar: jar, Transport: inProcess(route{"localhost:3000": mux, "login.acme.example": idp}).Transport}
	get := func(answer *http.Response, err error) string {
		if err != nil {
			log.Fatal(err)
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		return string(text)
	}
	_, token, _ := strings.Cut(get(browser.Get("http://localhost:3000/auth/csrf")), `"csrfToken":"`)
	token, _, _ = strings.Cut(token, `"`)
	fmt.Println("signed in:", get(browser.PostForm("http://localhost:3000/auth/signin/sso", url.Values{
		"csrfToken": {token}, "email": {"ada@acme.example"}, "callbackUrl": {"/"},
	})))
	// Output:
	// customer: acme - domain proven: true
	// signed in: ada@acme.example
}

// A route is a network of handlers, by their hosts.
type route map[string]http.Handler

func (r route) ServeHTTP(w http.ResponseWriter, req *http.Request) { r[req.Host].ServeHTTP(w, req) }

// inProcess is a client whose requests a handler answers.
func inProcess(h http.Handler) *http.Client {
	return &http.Client{Transport: handler{h}}
}

type handler struct{ http.Handler }

func (h handler) RoundTrip(r *http.Request) (*http.Response, error) {
	in := r.Clone(r.Context())
	in.Host, in.RemoteAddr, in.RequestURI = r.URL.Host, "192.0.2.1:1234", r.URL.RequestURI()
	if in.Body == nil {
		in.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, in)
	answer := w.Result()
	answer.Request = r
	return answer, nil
}
