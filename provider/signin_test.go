package provider_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/provider"
)

func now() string { return time.Now().UTC().Format(time.RFC3339) }

// An application is a site with one provider, and a browser in front of it.
type application struct {
	t    *testing.T
	auth *pintle.Auth
	jar  *cookiejar.Jar

	signedIn *pintle.SignInEvent
	log      bytes.Buffer
}

func newApplication(t *testing.T, p *pintle.OAuth, transport http.RoundTripper) *application {
	t.Helper()
	a := &application{t: t}
	a.start(pintle.Config{
		Providers:  []pintle.Provider{p},
		Secrets:    []string{"a secret of the application, long enough"},
		URL:        "https://app.example",
		HTTPClient: &http.Client{Transport: transport},
		Getenv:     func(string) string { return "" },
	})
	return a
}

func (a *application) start(cfg pintle.Config) {
	a.t.Helper()
	a.jar, _ = cookiejar.New(nil)
	cfg.Logger = slog.New(slog.NewTextHandler(&a.log, nil))
	cfg.Events.SignIn = func(_ context.Context, e *pintle.SignInEvent) error {
		a.signedIn = e
		return nil
	}
	var err error
	if a.auth, err = pintle.New(cfg); err != nil {
		a.t.Fatalf("New: %v", err)
	}
}

// send makes a request as the browser.
func (a *application) send(method, target string, form url.Values) *http.Response {
	a.t.Helper()
	r := httptest.NewRequestWithContext(a.t.Context(), method, target, strings.NewReader(form.Encode()))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, c := range a.jar.Cookies(r.URL) {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	a.auth.ServeHTTP(w, r)
	resp := w.Result()
	a.jar.SetCookies(r.URL, resp.Cookies())
	return resp
}

// signIn signs in through the service and returns the response to the callback.
func (a *application) signIn(s *service) *http.Response {
	a.t.Helper()
	base := "https://app.example/auth/"
	a.send(http.MethodGet, base+"csrf", nil)
	token := ""
	for _, c := range a.jar.Cookies(&url.URL{Scheme: "https", Host: "app.example", Path: "/"}) {
		if strings.HasSuffix(c.Name, "csrf-token") {
			value, _ := url.QueryUnescape(c.Value)
			token, _, _ = strings.Cut(value, "|")
		}
	}
	left := a.send(http.MethodPost, base+"signin/"+s.fact.ID, url.Values{"csrfToken": {token}})
	location := left.Header.Get("Location")
	if left.StatusCode != http.StatusFound || strings.HasPrefix(location, "https://app.example/") {
		a.t.Fatalf("the sign-in led to %d %s: %s", left.StatusCode, location, a.log.String())
	}
	back := s.authorize(location)
	s.returning(back)
	if s.changeBack != nil {
		s.changeBack(back)
	}
	if s.fact.Authorization.Params["response_mode"] == "form_post" {
		return a.send(http.MethodPost, base+"callback/"+s.fact.ID, back)
	}
	return a.send(http.MethodGet, base+"callback/"+s.fact.ID+"?"+back.Encode(), nil)
}

// makeProvider makes the provider of a fact with the credentials of the
// application.
func makeProvider(t *testing.T, f *fact, s *service) *pintle.OAuth {
	t.Helper()
	o := provider.Options{ClientID: clientID, ClientSecret: s.secret()}
	if _, needed := f.Required["issuer"]; needed && f.ID != "battlenet" {
		// Parts that hosts often leave out are completed (P-9).
		o.Issuer = strings.TrimSuffix(strings.TrimSuffix(s.values["issuer"], "/oidc/2"), "/oauth2/token")
	}
	create := constructors[f.ID]
	if create == nil {
		t.Fatalf("there is no provider %q", f.ID)
	}
	return create(o)
}

// The service rejects each request that does not match its documentation, and the
// account and the address are those of the user. The facts deviate from Auth.js in
// the scopes (P-4), the checks (P-5), services that were shut down (P-6), responses
// that Auth.js cannot read (P-8) and how credentials are sent (P-11). The input has
// unverified addresses (P-7) and issuers without their ending (P-9).
func TestEveryProviderSignsIn(t *testing.T) {
	for id, f := range readFacts(t) {
		if !f.signsIn() {
			continue
		}
		t.Run(id, func(t *testing.T) {
			s := newService(t, f, ada)
			a := newApplication(t, makeProvider(t, f, s), s)
			resp := a.signIn(s)
			if a.signedIn == nil || resp.StatusCode != http.StatusFound || resp.Header.Get("Location") != "https://app.example" {
				t.Fatalf("the callback led to %d %s: %s", resp.StatusCode, resp.Header.Get("Location"), a.log.String())
			}
			if got, want := a.signedIn.Account.ProviderAccountID, s.accountID(); got != want {
				t.Errorf("the account has the id %q, want %q", got, want)
			}
			if got, want := a.signedIn.User.Email, s.address(); got != want {
				t.Errorf("the user has the address %q, want %q", got, want)
			}
			for i := range f.UserInfo.Requests {
				if want := "profile " + string(rune('0'+i)); !slices.Contains(s.asked, want) {
					t.Errorf("%s was not requested: only %v", want, s.asked)
				}
			}
			if strings.Contains(a.log.String(), clientSecret) || strings.Contains(a.log.String(), accessToken) {
				t.Error("a secret is in the log")
			}
		})
	}
}

// accountID returns the expected id of the account.
func (s *service) accountID() string {
	if s.fact.Protocol == "openid2" {
		return steamID(s.who)
	}
	id, _ := s.who.ID.(string)
	switch s.fact.ID {
	case "bitly":
		return id + "@1246386600"
	case "eveonline":
		return id + "@8PmzCeTKb4VFUDrHLc/AeZXDSWM="
	}
	return id
}

// address returns the expected address of the user: that of the service.
func (s *service) address() string {
	switch s.fact.ID {
	case "bitbucket", "bitly":
		return s.who.Email
	case "deezer":
		return s.who.Email
	}
	if m := s.fact.Mapping["email"]; len(m.From) == 0 {
		return ""
	}
	return s.who.Email
}
