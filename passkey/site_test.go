package passkey_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/testsite"
	"github.com/pintleauth/pintle/passkey"
	"github.com/pintleauth/pintle/passkey/passkeytest"
	"github.com/pintleauth/pintle/store/memstore"
)

const (
	secret   = testsite.Secret
	origin   = "http://localhost:3000"
	base     = origin + "/auth"
	callback = base + "/callback/passkey"

	challengeCookie = "authjs.challenge"
)

// A site is an application under test that its browsers reach without sockets.
type site struct {
	pintle.Config
	passkey.Options

	t     *testing.T
	keys  *pintle.WebAuthn
	store *memstore.Store
	auth  *pintle.Auth
	log   bytes.Buffer

	mu     sync.Mutex
	events []string
	clones []*pintle.Passkey
}

// newSite returns a site with the changes. By default it keeps everything in
// memory and has one provider, "passkey".
func newSite(t *testing.T, changes ...func(*site)) *site {
	t.Helper()
	s := &site{t: t, store: memstore.New()}
	s.Config = pintle.Config{
		Secrets: []string{secret}, Store: s.store, URL: origin,
		ExperimentalPasskeys: true,
		Getenv:               func(string) string { return "" },
		Logger:               slog.New(slog.NewTextHandler(&s.log, nil)),
		Events: pintle.Events{
			SignIn: func(_ context.Context, e *pintle.SignInEvent) error {
				return s.happened("signIn " + e.User.Email)
			},
			CreateUser: func(_ context.Context, u *pintle.User) error { return s.happened("createUser " + u.Email) },
			LinkAccount: func(_ context.Context, e *pintle.LinkAccountEvent) error {
				return s.happened("linkAccount " + e.User.Email)
			},
			ClonedPasskey: func(_ context.Context, a *pintle.Passkey) error {
				s.clones = append(s.clones, a)
				return s.happened("clonedPasskey")
			},
		},
	}
	s.keys = &pintle.WebAuthn{}
	for _, change := range changes {
		change(s)
	}
	s.keys.Ceremony = passkey.New(s.Options).Ceremony
	if s.Providers == nil {
		s.Providers = []pintle.Provider{s.keys}
	}
	var err error
	if s.auth, err = pintle.New(s.Config); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *site) happened(event string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, event)
	return nil
}

// signIns returns how many sign-ins the site reported.
func (s *site) signIns() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, event := range s.events {
		if strings.HasPrefix(event, "signIn") {
			n++
		}
	}
	return n
}

// A browser keeps cookies and stops at each redirect.
type browser struct {
	*http.Client
	s *site
}

func (s *site) browser() *browser {
	return &browser{testsite.Browser(testsite.Network{"localhost:3000": s.auth, "app.localhost:3000": s.auth}), s}
}

// signIn performs a ceremony and fails the test unless it signs a user in.
func (b *browser) signIn(key *passkeytest.Authenticator, typed ...string) {
	b.s.t.Helper()
	if code := b.try(key, typed...); code != "" {
		b.s.t.Fatalf("the sign-in failed with %s; log:\n%s", code, &b.s.log)
	}
	if b.signedInAs() == "" {
		b.s.t.Fatal("no user is signed in")
	}
}

// try performs a ceremony and returns the error code that the browser received.
func (b *browser) try(key *passkeytest.Authenticator, typed ...string) string {
	b.s.t.Helper()
	resp, err := key.SignIn(b.s.t.Context(), b.Client, callback, fields(typed))
	if err != nil {
		b.s.t.Fatal(err)
	}
	return b.outcome(resp)
}

// answering performs a ceremony without sending the response.
func (b *browser) answering(key *passkeytest.Authenticator, typed ...string) (action string, answer []byte) {
	b.s.t.Helper()
	action, answer, err := key.Answering(b.s.t.Context(), b.Client, callback, fields(typed))
	if err != nil {
		b.s.t.Fatal(err)
	}
	return action, answer
}

// send sends a response and returns the error code that the browser received.
func (b *browser) send(action string, answer []byte) string {
	b.s.t.Helper()
	resp, err := passkeytest.Post(b.s.t.Context(), b.Client, callback, action, answer)
	if err != nil {
		b.s.t.Fatal(err)
	}
	return b.outcome(resp)
}

// outcome follows a redirect to an error page, as browsers do, and returns its
// error code.
func (b *browser) outcome(resp *http.Response) string {
	b.s.t.Helper()
	resp.Body.Close()
	if resp.StatusCode != http.StatusFound {
		b.s.t.Fatalf("the callback answered with status %d", resp.StatusCode)
	}
	target, err := url.Parse(resp.Header.Get("Location"))
	if err != nil {
		b.s.t.Fatal(err)
	}
	code := target.Query().Get("error")
	if code != "" {
		b.get(target.String())
	}
	return code
}

func (b *browser) get(target string) (*http.Response, string) {
	b.s.t.Helper()
	resp, err := b.Client.Get(target)
	if err != nil {
		b.s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.s.t.Fatal(err)
	}
	return resp, string(body)
}

// options requests options and returns the status and the response.
func (b *browser) options(typed ...string) (int, map[string]any) {
	b.s.t.Helper()
	resp, body := b.get(base + "/webauthn-options/passkey?" + fields(typed).Encode())
	var answer map[string]any
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		b.s.t.Fatalf("the options are no JSON: %s", body)
	}
	return resp.StatusCode, answer
}

// signedInAs returns the address of the signed-in user, or "".
func (b *browser) signedInAs() string {
	b.s.t.Helper()
	_, body := b.get(base + "/session")
	var session struct{ User struct{ Email string } }
	if err := json.Unmarshal([]byte(body), &session); err != nil {
		b.s.t.Fatal(err)
	}
	return session.User.Email
}

// cookie returns a cookie the browser has.
func (b *browser) cookie(name string) string {
	u, _ := url.Parse(origin)
	for _, c := range b.Jar.Cookies(u) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

func (b *browser) setCookie(name, value string) {
	u, _ := url.Parse(origin)
	b.Jar.SetCookies(u, []*http.Cookie{{Name: name, Value: value, Path: "/"}})
}

// fields are pairs of a name and a value.
func fields(typed []string) url.Values {
	form := url.Values{}
	for i := 0; i < len(typed); i += 2 {
		form.Set(typed[i], typed[i+1])
	}
	return form
}

func (s *site) user(email string) *pintle.User {
	s.t.Helper()
	user, err := s.store.UserByEmail(s.t.Context(), email)
	if err != nil {
		s.t.Fatalf("%s: %v", email, err)
	}
	return user
}

// passkeys returns those of the user with an address.
func (s *site) passkeys(email string) []*pintle.Passkey {
	s.t.Helper()
	list, err := s.store.UserPasskeys(s.t.Context(), s.user(email).ID)
	if err != nil {
		s.t.Fatal(err)
	}
	return list
}

// logged reports whether the log has a text.
func (s *site) logged(text string) bool { return strings.Contains(s.log.String(), text) }
