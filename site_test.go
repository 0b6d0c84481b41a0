package pintle_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/internal/seal"
	"github.com/pintleauth/pintle/internal/testsite"
)

// secret is what the sites of the tests seal and hash with.
const secret = "a secret for tests, 32 characters or more"

// A site is an application under test, on its own network together with the
// identity provider it trusts. Its configuration can be changed until newSite
// returns.
type site struct {
	pintle.Config

	t    *testing.T
	auth *pintle.Auth
	url  string // its origin
	net  testsite.Network
	idp  *authtest.IdentityProvider
	log  *logBook

	mu     sync.Mutex
	events []event
	mails  []*pintle.Message
}

// An event is what one of the [pintle.Events] was called with.
type event struct {
	name string
	of   any
}

// newSite returns a site at http://localhost:3000 after the changes. By default
// it keeps sessions in tokens and has two providers: "acme", which is s.idp
// over OpenID Connect and reports every user as Ada, and "credentials", which
// knows the passwords of s.person. Everything is logged, and every event is
// remembered.
//
// The sign-in routes are served below the base path. Every other path is a page
// of the application that names the signed-in user; the pages below /members
// are guarded.
func newSite(t *testing.T, changes ...func(*site)) *site {
	t.Helper()
	s := &site{t: t, url: "http://localhost:3000", net: testsite.Network{}, log: &logBook{}}
	s.idp = s.newIdentityProvider("https://idp.example")
	s.Config = pintle.Config{
		Providers:  []pintle.Provider{s.idp.OIDC("acme"), &pintle.Credentials{Authorize: checkPassword}},
		Secrets:    []string{secret},
		Getenv:     func(string) string { return "" },
		HTTPClient: &http.Client{Transport: s.net, Timeout: 10 * time.Second},
		Logger:     s.log.logger(),
		Debug:      true,
	}
	s.remember()
	for _, change := range changes {
		change(s)
	}
	auth, err := pintle.New(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	s.serve(auth)
	return s
}

// serve puts the application on the network.
func (s *site) serve(auth *pintle.Auth) {
	s.auth = auth
	_, host, _ := strings.Cut(s.url, "://")
	s.net[host] = s.handler()
}

// handler is the application.
func (s *site) handler() http.Handler {
	base := s.BasePath
	if base == "" {
		base = "/auth"
	}
	open := s.auth.Load(http.HandlerFunc(sayWho))
	members := s.auth.Load(s.auth.Require(http.HandlerFunc(sayWho)))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case strings.HasPrefix(path, base):
			s.auth.ServeHTTP(w, r)
		case strings.HasPrefix(path, "/members"):
			members.ServeHTTP(w, r)
		default:
			open.ServeHTTP(w, r)
		}
	})
}

// sayWho is a page of the application.
func sayWho(w http.ResponseWriter, r *http.Request) {
	session := pintle.SessionFrom(r.Context())
	if session == nil {
		_, _ = io.WriteString(w, "hello, anonymous")
		return
	}
	_, _ = io.WriteString(w, "hello, "+session.User.Name)
}

// newIdentityProvider returns one more identity provider on the site's network.
func (s *site) newIdentityProvider(issuer string) *authtest.IdentityProvider {
	idp := authtest.NewIdentityProvider(authtest.Options{AutoConsent: true, RequirePKCE: true, Algorithm: authtest.ES256})
	idp.Issuer = issuer
	s.net[strings.TrimPrefix(issuer, "https://")] = idp
	return idp
}

// people are who may sign in with a password, by their user names.
var people = map[string]struct {
	password string
	user     pintle.User
}{
	"ada":   {"analytical engine", pintle.User{ID: "user-ada", Name: "Ada Lovelace", Email: "ada@example.com"}},
	"grace": {"nanoseconds", pintle.User{ID: "user-grace", Name: "Grace Hopper", Email: "grace@example.com"}},
}

func checkPassword(_ context.Context, c *pintle.Submission) (*pintle.User, error) {
	who, known := people[c.Text("username")]
	if !known || c.Text("password") != who.password {
		return nil, nil
	}
	return &who.user, nil
}

// mailProvider is an Email provider whose mail ends in s.mails.
func (s *site) mailProvider() *pintle.Email {
	return &pintle.Email{From: "app@example.com", Send: func(_ context.Context, m *pintle.Message) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.mails = append(s.mails, m)
		return nil
	}}
}

// lastMail returns the latest mail.
func (s *site) lastMail() *pintle.Message {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.mails) == 0 {
		s.t.Fatal("no mail was sent")
	}
	return s.mails[len(s.mails)-1]
}

// remember notes every event.
func (s *site) remember() {
	s.Events = pintle.Events{
		SignIn:      func(_ context.Context, e *pintle.SignInEvent) error { return s.note("signIn", e) },
		SignOut:     func(_ context.Context, e *pintle.SignOutEvent) error { return s.note("signOut", e) },
		CreateUser:  func(_ context.Context, u *pintle.User) error { return s.note("createUser", u) },
		UpdateUser:  func(_ context.Context, u *pintle.User) error { return s.note("updateUser", u) },
		LinkAccount: func(_ context.Context, e *pintle.LinkAccountEvent) error { return s.note("linkAccount", e) },
		Session:     func(_ context.Context, e *pintle.SessionEvent) error { return s.note("session", e) },
	}
}

func (s *site) note(name string, of any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, event{name, of})
	return nil
}

// eventNames returns the names of the events so far, and forgets them.
func (s *site) eventNames() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, e := range s.events {
		names = append(names, e.name)
	}
	s.events = nil
	return names
}

// lastEvent returns what the latest event of the name was called with.
func lastEvent[E any](s *site, name string) E {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range slices.Backward(s.events) {
		if e.name == name {
			return e.of.(E)
		}
	}
	s.t.Fatalf("there was no event %s", name)
	panic("unreachable")
}

// sealed returns claims as the application itself seals them under a salt, which
// is the name of the cookie. Nothing is added to them.
func sealed(t *testing.T, salt string, claims map[string]any) string {
	t.Helper()
	keys, err := seal.New([]string{secret}, salt)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	return string(keys.AppendSeal(nil, text))
}

// unsealed returns the claims in what the application sealed under a salt.
func unsealed(t *testing.T, salt, value string) map[string]any {
	t.Helper()
	keys, err := seal.New([]string{secret}, salt)
	if err != nil {
		t.Fatal(err)
	}
	text, err := keys.Open(nil, value)
	if err != nil {
		t.Fatalf("open %s: %v", salt, err)
	}
	var claims map[string]any
	if err := json.Unmarshal(text, &claims); err != nil {
		t.Fatal(err)
	}
	return claims
}

// claimsFor returns the claims of a good session token of a user of people.
func claimsFor(username string) map[string]any {
	user := people[username].user
	now := time.Now()
	return map[string]any{
		"sub": user.ID, "name": user.Name, "email": user.Email,
		"iat": now.Unix(), "exp": now.Add(30 * 24 * time.Hour).Unix(), "jti": "6b6b2025-17dd-4e3a-bb54-854cd7ea90c3",
	}
}

// openedWith opens what was sealed with one secret under a salt.
func openedWith(secret, salt, value string) (string, bool) {
	keys, err := seal.New([]string{secret}, salt)
	if err != nil {
		return "", false
	}
	text, err := keys.Open(nil, value)
	return string(text), err == nil
}

// signedInCookie returns the session cookie of Ada at a service with password
// sign-in.
func signedInCookie(t *testing.T, auth *pintle.Auth) string {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "http://localhost:3000/login", nil)
	_, err := auth.SignIn(w, r, "credentials", pintle.SignInOptions{
		RedirectTo: "/", Fields: map[string]any{"username": "ada", "password": people["ada"].password},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range w.Result().Cookies() {
		if c.Name == sessionCookie {
			return c.Value
		}
	}
	t.Fatal("there is no session cookie")
	return ""
}

// fill is a token callback that puts size bytes of data into each token.
func fill(size *int, claim pintle.Claim[string]) func(context.Context, *pintle.TokenChange) (pintle.Claims, error) {
	return func(_ context.Context, t *pintle.TokenChange) (pintle.Claims, error) {
		claim.Put(t.Claims, strings.Repeat("x", *size))
		return t.Claims, nil
	}
}

func mustParse(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
