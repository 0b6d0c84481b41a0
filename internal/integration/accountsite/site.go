// Package accountsite is an application with accounts on any store, its browsers, and a
// journey of users through all that package account stores.
package accountsite

import (
	"context"
	"encoding/json"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/password"
)

// A Site is an application whose store is a real server.
type Site struct {
	Store pintle.Store
	Auth  *pintle.Auth
	URL   string

	t        *testing.T
	accounts *account.Accounts

	mu    sync.Mutex
	mails []*pintle.Message
}

// New starts an application. Its routes are below /auth, and any other page shows the
// address of the user. changes change the configuration.
func New(t *testing.T, store pintle.Store, changes ...func(*pintle.Config)) *Site {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s := &Site{Store: store, URL: server.URL, t: t}
	s.accounts = account.New(account.Options{
		Mail:      s.keepMail,
		SignUp:    account.SignUp{Fields: []pintle.Field{{Name: "name"}}},
		Passwords: account.Passwords{Hasher: &password.Hasher{Memory: 64, Passes: 1}}, // cheap
	})
	cfg := pintle.Config{
		Store: store, URL: s.URL, Secrets: []string{strings.Repeat("secret ", 6)}, Accounts: s.accounts,
		Getenv: func(string) string { return "" },
		Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	if store.Features().Verifications {
		cfg.Providers = []pintle.Provider{&pintle.Email{Send: s.keepMail}}
	}
	for _, change := range changes {
		change(&cfg)
	}
	auth, err := pintle.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.Auth = auth
	mux.Handle("/auth/", auth)
	mux.Handle("/", auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if session := pintle.SessionFrom(r.Context()); session != nil {
			_, _ = io.WriteString(w, session.User.Email)
		}
	})))
	return s
}

// keepMail keeps a mail, unless it is one about a new browser, which most sign-ins send.
func (s *Site) keepMail(_ context.Context, m *pintle.Message) error {
	if strings.HasPrefix(m.Kind, "new-device") {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mails = append(s.mails, m)
	return nil
}

// Mail returns the last mail, which has to be to an address.
func (s *Site) Mail(to string) *pintle.Message {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.mails) == 0 || s.mails[len(s.mails)-1].To != to {
		s.t.Fatalf("the last of %d mails is not to %s", len(s.mails), to)
	}
	return s.mails[len(s.mails)-1]
}

// A Browser keeps cookies and follows redirects. Its methods return it.
type Browser struct {
	Page   string // the last one
	Status int
	At     *url.URL

	site   *Site
	client *http.Client
}

// Browser opens a browser without cookies.
func (s *Site) Browser() *Browser {
	jar, _ := cookiejar.New(nil) // never fails without options
	return &Browser{site: s, client: &http.Client{Jar: jar}}
}

// Cookies are those of the browser, by their names.
func (b *Browser) Cookies() map[string]string {
	u, _ := url.Parse(b.site.URL)
	all := map[string]string{}
	for _, c := range b.client.Jar.Cookies(u) {
		all[c.Name] = c.Value
	}
	return all
}

// SetCookie gives the browser a cookie. Characters that no cookie has are escaped.
func (b *Browser) SetCookie(name, value string) *Browser {
	u, _ := url.Parse(b.site.URL)
	b.client.Jar.SetCookies(u, []*http.Cookie{{Name: name, Value: url.PathEscape(value), Path: "/"}})
	return b
}

// Get opens a page by its path or its URL.
func (b *Browser) Get(target string) *Browser {
	b.site.t.Helper()
	return b.do(http.MethodGet, target, nil)
}

// Post sends a form of this browser with its form token: names and values, in turn.
func (b *Browser) Post(target string, pairs ...string) *Browser {
	b.site.t.Helper()
	form := url.Values{"csrfToken": {b.formToken()}}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return b.do(http.MethodPost, target, form)
}

func (b *Browser) do(method, target string, form url.Values) *Browser {
	t := b.site.t
	t.Helper()
	if strings.HasPrefix(target, "/") {
		target = b.site.URL + target
	}
	r, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", b.site.URL)
	}
	r.Header.Set("Accept", "text/html")
	resp, err := b.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	b.Page, b.Status, b.At = string(text), resp.StatusCode, resp.Request.URL
	return b
}

func (b *Browser) formToken() string {
	b.site.t.Helper()
	var answer struct {
		Token string `json:"csrfToken"`
	}
	other := *b
	if err := json.Unmarshal([]byte(other.Get("/auth/csrf").Page), &answer); err != nil {
		b.site.t.Fatal(err)
	}
	return answer.Token
}

// IsAt fails the test unless the last page has a path and the status 200.
func (b *Browser) IsAt(path string) *Browser {
	b.site.t.Helper()
	if b.At.Path != path || b.Status != http.StatusOK {
		b.site.t.Fatalf("the browser is at %s with status %d, want %s: %s", b.At, b.Status, path, b.Page)
	}
	return b
}

// User is the address of the user who is signed in, or "".
func (b *Browser) User() string {
	b.site.t.Helper()
	other := *b
	return other.Get("/").Page
}

// IsSignedInAs fails the test unless a user is signed in, or none if the address is "".
func (b *Browser) IsSignedInAs(address string) *Browser {
	b.site.t.Helper()
	if got := b.User(); got != address {
		b.site.t.Fatalf("the browser is signed in as %q, want %q; it is at %s: %d %s", got, address, b.At, b.Status, b.Page)
	}
	return b
}

// SignIn sends the form of the sign-in page.
func (b *Browser) SignIn(address, entered string) *Browser {
	b.site.t.Helper()
	return b.Get("/auth/signin").Post("/auth/callback/credentials", "email", address, "password", entered)
}

// found returns what a group of an expression matches in the last page.
func (b *Browser) found(x *regexp.Regexp) string {
	b.site.t.Helper()
	match := x.FindStringSubmatch(b.Page)
	if match == nil {
		b.site.t.Fatalf("the page %s has no %s: %s", b.At, x, b.Page)
	}
	return html.UnescapeString(match[1])
}
