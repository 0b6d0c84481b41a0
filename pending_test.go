package pintle_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/token"
)

const pendingCookie = "authjs.pending-sign-in"

// holdingAt holds every sign-in for a page that has to verify a code.
func holdingAt(page string) func(*site) {
	return func(s *site) {
		s.Callbacks.Hold = func(_ context.Context, p *pintle.PendingSignIn) (string, error) {
			if slices.Contains(p.Authentication.Methods, "otp") {
				return "", nil
			}
			return page, nil
		}
	}
}

// pendingSite has every way in, Ada, and a second factor.
func pendingSite(t *testing.T, strategy pintle.SessionStrategy, changes ...func(*site)) (*site, *txKeeper) {
	t.Helper()
	s, k := hijackSite(t, strategy, append([]func(*site){holdingAt("/second-factor")}, changes...)...)
	ada := k.seedUser(t, pintle.User{ID: "user-ada", Name: "Ada Lovelace", Email: "ada@example.com", EmailVerified: time.Now()})
	k.seedAccount(t, ada, "careful", "1")
	for _, err := range []error{
		k.Store.LinkAccount(t.Context(), &pintle.Account{UserID: ada.ID, Type: pintle.TypeWebAuthn, Provider: "passkey", ProviderAccountID: "AAAA"}),
		k.Store.CreatePasskey(t.Context(), &pintle.Passkey{CredentialID: "AAAA", ProviderAccountID: "AAAA", UserID: ada.ID}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	k.read()
	return s, k
}

// request is one for a page of the host, with the cookies of the browser.
func (b *browser) request() *http.Request {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), http.MethodPost, b.site.url+"/second-factor", nil)
	for _, c := range b.client.Jar.Cookies(b.address()) {
		r.AddCookie(c)
	}
	return r
}

// takes keeps the cookies of an answer of the host.
func (b *browser) takes(w *httptest.ResponseRecorder) {
	b.client.Jar.SetCookies(b.address(), w.Result().Cookies())
}

func (b *browser) pending() *pintle.PendingSignIn {
	b.t.Helper()
	p, err := b.site.auth.PendingSignIn(b.request())
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *browser) complete(methods ...string) (string, error) {
	w := httptest.NewRecorder()
	next, err := b.site.auth.CompleteSignIn(w, b.request(), pintle.CompleteOptions{Methods: methods})
	b.takes(w)
	return next, err
}

// completes fails the test unless the pending sign-in becomes a session of the user.
func (b *browser) completes(next, user string, methods ...string) {
	b.t.Helper()
	to, err := b.complete(methods...)
	if err != nil || to != next {
		b.t.Fatalf("CompleteSignIn: %q, %v, want %q; log:\n%s", to, err, next, b.site.log)
	}
	if sub := b.sub(); sub != user {
		b.t.Errorf("the user signed in is %q, want %q", sub, user)
	}
	if b.cookie(pendingCookie) != "" || b.cookie(pendingCookie+".0") != "" {
		b.t.Error("the cookie of the pending sign-in is left")
	}
}

// isNotCompleted fails the test unless a completion fails with a code and the browser stays
// signed out.
func (b *browser) isNotCompleted(code pintle.Code, methods ...string) error {
	b.t.Helper()
	next, err := b.complete(methods...)
	if !errors.Is(err, code) || next != "" {
		b.t.Errorf("CompleteSignIn: %q, %v, want the code %s", next, err, code)
	}
	b.isSignedOut()
	return err
}

// isSignedOut fails the test if anything takes the browser for signed in.
func (b *browser) isSignedOut() {
	b.t.Helper()
	if held := b.cookie(sessionCookie); held != "" {
		b.t.Errorf("AT-1 the browser has a session cookie: %.20s…", held)
	}
	if session := b.session(); session != nil {
		b.t.Errorf("AT-1 the session route shows %v", session)
	}
	if who := b.who(); who != "stranger" {
		b.t.Errorf("AT-1 Load finds %s", who)
	}
	if page := b.get("/members"); page.status != http.StatusFound || !strings.Contains(page.location(), "/auth/signin") {
		b.t.Errorf("AT-1 Require answers %d", page.status)
	}
	codec, err := token.New(sessionCookie, secret)
	if err != nil {
		b.t.Fatal(err)
	}
	if tok, err := codec.FromRequest(b.request()); err == nil {
		b.t.Errorf("AT-1 package token finds a session of %q", tok.Subject())
	}
}

// isHeld fails the test unless an answer sends the browser to the page that holds it.
func (b *browser) isHeld(r *reply) *reply {
	b.t.Helper()
	r.goesTo(b.site.url + "/second-factor")
	if set := r.cookies()[sessionCookie]; set != nil && set.Value != "" {
		b.t.Error("AT-1 the answer sets a session cookie")
	}
	return r
}

// byPassword posts the form of the credentials provider.
func (b *browser) byPassword(fields ...string) *reply {
	b.t.Helper()
	return b.post("/auth/callback/credentials", append([]string{"username", "ada", "password", people["ada"].password}, fields...)...)
}

// waysIn are the ways in which a browser signs in, by their names. They return what
// the browser is told to do next.
var waysIn = map[string]func(b *browser) string{
	"OpenID Connect": func(b *browser) string { return b.signInWith("careful").want(http.StatusFound).location() },
	"OpenID Connect, as a new user": func(b *browser) string {
		return b.signInWith("acme").want(http.StatusFound).location()
	},
	"a mail": func(b *browser) string {
		return b.get(b.mailTo("ada@example.com").URL).want(http.StatusFound).location()
	},
	"a mail, as a new user": func(b *browser) string {
		return b.get(b.mailTo("new@example.com").URL).want(http.StatusFound).location()
	},
	"a form": func(b *browser) string { return b.byPassword().want(http.StatusFound).location() },
	"a form of a script": func(b *browser) string {
		var answer struct{ URL string }
		b.postForm("/auth/callback/credentials", url.Values{"csrfToken": {b.csrf()}, "username": {"ada"}, "password": {people["ada"].password}, "redirect": {"false"}},
			"X-Auth-Return-Redirect", "1").want(http.StatusOK).json(&answer)
		return answer.URL
	},
	"JSON of a script": func(b *browser) string {
		var answer struct{ URL string }
		b.postJSON("/auth/callback/credentials", map[string]any{"csrfToken": b.csrf(), "username": "ada", "password": people["ada"].password, "json": "true"}).want(http.StatusOK).json(&answer)
		return answer.URL
	},
	"a passkey": func(b *browser) string { return b.passkey("authenticate", "AAAA").want(http.StatusFound).location() },
	"a new passkey": func(b *browser) string {
		return b.passkey("register", "BBBB", "email", "new@example.com").want(http.StatusFound).location()
	},
	"server code": func(b *browser) string {
		w := httptest.NewRecorder()
		next, err := b.site.auth.SignIn(w, b.request(), "credentials", pintle.SignInOptions{RedirectTo: "/", Fields: map[string]any{"username": "ada", "password": people["ada"].password}})
		if err != nil {
			b.t.Fatal(err)
		}
		b.takes(w)
		return next
	},
}

// AT-1: whichever the way in, a sign-in that is held gives the browser no session, and
// one that is completed gives it the session it would have got.
func TestAHeldSignInIsNoSession(t *testing.T) {
	for _, strategy := range strategies {
		for name, signIn := range waysIn {
			t.Run(fmt.Sprintf("%s, %s", name, strategy), func(t *testing.T) {
				s, _ := pendingSite(t, strategy)
				b := s.browser()
				if next := signIn(b); next != s.url+"/second-factor" {
					t.Fatalf("AT-1 the browser is sent to %q; log:\n%s", next, s.log)
				}
				b.isSignedOut()
				if names := s.eventNames(); slices.Contains(names, "signIn") {
					t.Errorf("the events are %v", names)
				}
				p := b.pending()
				if p == nil || p.User.ID == "" || p.Account.Provider == "" || p.Authentication.Provider != p.Account.Provider {
					t.Fatalf("the pending sign-in is %+v", p)
				}
				if age := time.Since(p.Authentication.Time); age < 0 || age > time.Minute {
					t.Errorf("the sign-in began at %v", p.Authentication.Time)
				}
				if left := time.Until(p.Expires); left > 10*time.Minute || left < 9*time.Minute {
					t.Errorf("the sign-in waits for %v", left)
				}
				if p.Account.AccessToken != "" || p.Account.IDToken != "" || p.Profile != nil {
					t.Errorf("the cookie has %+v", *p.Account)
				}
				b.completes(p.RedirectTo, p.User.ID, "otp")
				if names := s.eventNames(); !slices.Equal(names, []string{"signIn"}) && !slices.Equal(names, []string{"signIn", "session"}) {
					t.Errorf("the events are %v", names)
				}
			})
		}
	}
}
