package pintle_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/seal"
	"github.com/pintleauth/pintle/store/memstore"
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
func pendingSite(t *testing.T, strategy pintle.SessionStrategy, changes ...func(*site)) (*site, *recordingTxStore) {
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
	k.takeCalls()
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
func (b *browser) isNotCompleted(code pintle.Code, methods ...string) {
	b.t.Helper()
	next, err := b.complete(methods...)
	if !errors.Is(err, code) || next != "" {
		b.t.Errorf("CompleteSignIn: %q, %v, want the code %s", next, err, code)
	}
	b.isSignedOut()
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
	if who := b.who(); who != "anonymous" {
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

// AT-1, SH-39, AC-1, AC-101: whichever the way in, a sign-in that is held gives the browser no
// session, and one that is completed gives it the session it would have got.
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

// A sign-in for which Hold asks nothing is one without Hold.
func TestASignInThatIsNotHeld(t *testing.T) {
	for _, strategy := range strategies {
		for name, signIn := range waysIn {
			t.Run(fmt.Sprintf("%s, %s", name, strategy), func(t *testing.T) {
				var first *pintle.PendingSignIn
				s, k := pendingSite(t, strategy, func(s *site) {
					s.Callbacks.Hold = func(_ context.Context, p *pintle.PendingSignIn) (string, error) {
						first = p
						return "", nil
					}
				})
				b := s.browser()
				if next := signIn(b); next != s.url && next != s.url+"/" {
					t.Fatalf("the browser is sent to %q; log:\n%s", next, s.log)
				}
				if sub := b.sub(); sub == "" || sub != first.User.ID {
					t.Errorf("the user signed in is %q", sub)
				}
				if !first.Expires.IsZero() || first.Request == nil {
					t.Errorf("Hold is called with %+v", first)
				}
				if oauth := first.Account.Type == pintle.TypeOIDC; oauth != (first.Account.IDToken != "") || oauth != (first.Profile != nil) {
					t.Errorf("Hold is called with %+v and the profile %v", *first.Account, first.Profile)
				}
				if rows := k.sessions(t, first.User.ID); strategy == pintle.StrategyDatabase && rows != 1 {
					t.Errorf("the user has %d sessions", rows)
				}
			})
		}
	}
}

// An error of Hold denies the sign-in, at once or at its completion.
func TestHoldDenies(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		code pintle.Code
	}{
		"with a code":    {pintle.CodeCredentials, pintle.CodeCredentials},
		"without a code": {errBroken, pintle.CodeAccessDenied},
	} {
		for _, strategy := range strategies {
			t.Run(fmt.Sprintf("%s, %s", name, strategy), func(t *testing.T) {
				var deny bool
				var failed []*pintle.SignInFailedEvent
				s, k := pendingSite(t, strategy, func(s *site) {
					s.Callbacks.Hold = func(context.Context, *pintle.PendingSignIn) (string, error) {
						if deny {
							return "/second-factor", tt.err
						}
						return "/second-factor", nil
					}
					s.Events.SignInFailed = func(_ context.Context, e *pintle.SignInFailedEvent) error {
						failed = append(failed, e)
						return nil
					}
				})
				b := s.browser()
				b.isHeld(b.byPassword())
				deny = true
				b.isNotCompleted(tt.code)
				if p := b.pending(); p != nil {
					t.Errorf("a denied sign-in still waits: %+v", p)
				}
				other := s.browser()
				if code := other.byPassword().errorCode(); code != string(tt.code) {
					t.Errorf("the browser is shown %q", code)
				}
				other.isSignedOut()
				if len(failed) != 2 || failed[0].Code != tt.code || failed[0].Provider != "credentials" || failed[1].Code != tt.code {
					t.Errorf("the events are %v", failed)
				}
				if rows := k.sessions(t, "user-ada"); rows != 0 {
					t.Errorf("%d rows are left", rows)
				}
			})
		}
	}
}

// Hold is asked again when a page completes a sign-in: the page of one demand does not
// complete another, and a page that is asked for again is shown again.
func TestEachPageCompletesItsOwnDemand(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s, k := pendingSite(t, strategy, func(s *site) {
				s.Callbacks.Hold = func(_ context.Context, p *pintle.PendingSignIn) (string, error) {
					switch {
					case !slices.Contains(p.Authentication.Methods, "otp"):
						return "/second-factor", nil
					case p.User.Name != "Ada King":
						return "/terms", nil
					}
					return "", nil
				}
			})
			b := s.browser()
			b.isHeld(b.byPassword())
			for _, step := range []struct {
				method, next string
			}{{"pwd", "/second-factor"}, {"otp", "/terms"}, {"otp", "/terms"}, {"", "/terms"}} {
				var methods []string
				if step.method != "" {
					methods = []string{step.method}
				}
				if next, err := b.complete(methods...); err != nil || next != s.url+step.next {
					t.Fatalf("CompleteSignIn: %q, %v, want %s", next, err, step.next)
				}
				b.isSignedOut()
			}
			if got := b.pending().Authentication.Methods; !slices.Equal(got, []string{"pwd", "otp"}) {
				t.Errorf("the methods are %v", got)
			}
			name := "Ada King"
			if _, err := k.Store.UpdateUser(t.Context(), "user-ada", pintle.UserUpdate{Name: &name}); err != nil {
				t.Fatal(err)
			}
			b.completes(s.url, "user-ada")
			if who := b.who(); who != name {
				t.Errorf("the session is that of %q, want the name that the page has stored", who)
			}
			if rows := k.sessions(t, "user-ada"); strategy == pintle.StrategyDatabase && rows != 1 {
				t.Errorf("the user has %d sessions", rows)
			}
		})
	}
}

// AT-3, AC-4: of any number of requests that complete a sign-in, one does.
func TestAPendingSignInIsCompletedOnce(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s, k := pendingSite(t, strategy)
			b := s.browser()
			b.isHeld(b.byPassword())
			s.eventNames()
			var done sync.WaitGroup
			var mu sync.Mutex
			sessions := 0
			for range 20 {
				r := b.request()
				done.Go(func() {
					w := httptest.NewRecorder()
					_, err := s.auth.CompleteSignIn(w, r, pintle.CompleteOptions{Methods: []string{"otp"}})
					mu.Lock()
					defer mu.Unlock()
					for _, c := range w.Result().Cookies() {
						if c.Name == sessionCookie && c.Value != "" {
							sessions++
						}
					}
					if err != nil && !errors.Is(err, pintle.CodeInvalidCheck) {
						t.Errorf("AT-3 %v", err)
					}
				})
			}
			done.Wait()
			if names := s.eventNames(); sessions != 1 || !slices.Equal(names, []string{"signIn"}) {
				t.Errorf("AT-3 %d sessions were made, with the events %v", sessions, names)
			}
			if rows := k.sessions(t, "user-ada"); strategy == pintle.StrategyDatabase && rows != 1 {
				t.Errorf("AT-3 the user has %d sessions", rows)
			}
			b.isNotCompleted(pintle.CodeInvalidCheck, "otp")
		})
	}
}

// A copy of the cookie is worth nothing in another browser, and does not use up what
// waits in the right one.
func TestAPendingSignInBelongsToItsBrowser(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s, _ := pendingSite(t, strategy)
			b, thief, other := s.browser(), s.browser(), s.browser()
			b.isHeld(b.byPassword())
			thief.csrf()
			for _, other := range []*browser{thief, other} {
				other.plant(pendingCookie, b.cookie(pendingCookie))
				if p := other.pending(); p != nil {
					t.Errorf("another browser sees the sign-in of %s", p.User.ID)
				}
				other.isNotCompleted(pintle.CodeInvalidCheck, "otp")
				other.plant(pendingCookie, b.cookie(pendingCookie))
				if err := s.auth.CancelSignIn(httptest.NewRecorder(), other.request()); err != nil {
					t.Error(err)
				}
				other.byPassword("username", "grace") // which fails, and replaces nothing
			}
			b.completes(s.url, "user-ada", "otp")
		})
	}
}

// A cookie that was not sealed for this, here, now is no pending sign-in.
func TestWhatIsNoPendingSignIn(t *testing.T) {
	for _, strategy := range strategies {
		for name, tt := range map[string]struct {
			spoil func(t *testing.T, s *site, b *browser)
		}{
			"a cookie that was changed": {func(_ *testing.T, _ *site, b *browser) {
				held := []byte(b.cookie(pendingCookie))
				held[len(held)/2] ^= 1
				b.plant(pendingCookie, string(held))
			}},
			"no cookie": {func(_ *testing.T, _ *site, b *browser) { b.plant(pendingCookie, "") }},
			"a form token of another browser": {func(_ *testing.T, s *site, b *browser) {
				other := s.browser()
				other.csrf()
				b.plant(csrfCookie, other.cookie(csrfCookie))
			}},
			"two cookies of different sign-ins": {func(_ *testing.T, s *site, b *browser) {
				first := b.cookie(pendingCookie)
				b.isHeld(b.byPassword())
				b.plant(pendingCookie+".0", first)
			}},
			"a sign-in by a provider that is gone": {func(t *testing.T, s *site, _ *browser) {
				s.again(t, func(c *pintle.Config) { c.Providers = c.Providers[:4] })
			}},
			"a site that has no second factor any more, and so no judge": {func(t *testing.T, s *site, _ *browser) {
				s.again(t, func(c *pintle.Config) { c.Callbacks.Hold = nil })
			}},
			"a site that keeps its sessions elsewhere now": {func(t *testing.T, s *site, _ *browser) {
				s.again(t, func(c *pintle.Config) {
					c.Session.Strategy = map[pintle.SessionStrategy]pintle.SessionStrategy{pintle.StrategyJWT: pintle.StrategyDatabase, pintle.StrategyDatabase: pintle.StrategyJWT}[c.Session.Strategy]
				})
			}},
			"a sign-in of another tenant": {func(t *testing.T, s *site, _ *browser) { s.again(t, func(c *pintle.Config) { c.Tenant = "blue" }) }},
			"a sign-in of a site with another store": {func(t *testing.T, s *site, b *browser) {
				other := memstore.New()
				if _, err := other.CreateUser(t.Context(), &pintle.User{ID: "user-ada"}); err != nil {
					t.Fatal(err)
				}
				s.again(t, func(c *pintle.Config) { c.Store = other })
			}},
			"a sign-in with another secret": {func(t *testing.T, s *site, _ *browser) {
				s.again(t, func(c *pintle.Config) { c.Secrets = []string{"another secret for tests, as long as it has to be"} })
			}},
		} {
			t.Run(fmt.Sprintf("%s, %s", name, strategy), func(t *testing.T) {
				s, k := pendingSite(t, strategy)
				b := s.browser()
				b.isHeld(b.byPassword())
				tt.spoil(t, s, b)
				rows := k.sessions(t, "user-ada")
				next, err := b.complete("otp")
				if next != "" || !errors.Is(err, pintle.CodeInvalidCheck) && !errors.Is(err, pintle.CodeConfiguration) {
					t.Errorf("CompleteSignIn: %q, %v", next, err)
				}
				if sub := b.sub(); sub != "" {
					t.Errorf("%s is signed in", sub)
				}
				if now := k.sessions(t, "user-ada"); now > rows {
					t.Errorf("the user has %d sessions more", now-rows)
				}
			})
		}
	}
}

// again replaces the service by one with another configuration.
func (s *site) again(t *testing.T, change func(*pintle.Config)) {
	t.Helper()
	cfg := s.Config
	cfg.Providers = slices.Clone(cfg.Providers)
	change(&cfg)
	auth, err := pintle.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.serve(auth)
}

// AT-2: what is sealed for one cookie is nothing in any other.
func TestNoCookieStandsInForAnother(t *testing.T) {
	s, k := pendingSite(t, pintle.StrategyJWT)
	values := map[string]string{}
	keep := func(b *browser) {
		for _, c := range b.client.Jar.Cookies(b.address()) {
			values[c.Name] = c.Value
		}
	}
	leaving := s.browser()
	leaving.leave("acme")
	keep(leaving)
	ceremony := s.browser()
	ceremony.get("/auth/webauthn-options/passkey?action=authenticate").want(http.StatusOK)
	keep(ceremony)
	asked := s.browser()
	unproven := k.seedUser(t, pintle.User{Email: victimAddress})
	k.seedAccount(t, unproven, "acme", "elsewhere")
	asked.isAsked(asked.get(asked.mailTo(victimAddress).URL))
	keep(asked)
	b := s.browser()
	b.isHeld(b.byPassword())
	keep(b)
	form := b.cookie(csrfCookie)
	signedIn := s.browser()
	signedIn.isHeld(signedIn.byPassword())
	signedIn.completes(s.url, "user-ada", "otp")
	values[sessionCookie], values[csrfCookie] = signedIn.cookie(sessionCookie), form

	names := []string{sessionCookie, pendingCookie, csrfCookie, callbackURLCookie, stateCookie, pkceCookie, "authjs.challenge", "authjs.address-proof"}
	for _, from := range names {
		if values[from] == "" {
			t.Fatalf("there is no cookie %s", from)
		}
		for _, to := range names {
			if to == from {
				continue
			}
			other := s.browser()
			other.plant(csrfCookie, form)
			other.plant(to, values[from])
			if sub := other.sub(); sub != "" {
				t.Errorf("AT-2 %s as %s: %s is signed in", from, to, sub)
			}
			if p := other.pending(); p != nil {
				t.Errorf("AT-2 %s as %s: the sign-in of %s waits", from, to, p.User.ID)
			}
			if next, err := other.complete("otp"); err == nil {
				t.Errorf("AT-2 %s as %s: a sign-in is completed and goes to %s", from, to, next)
			}
		}
	}
	b.completes(s.url, "user-ada", "otp") // nothing was used up
}

func TestAPendingSignInExpires(t *testing.T) {
	for _, strategy := range strategies {
		for _, tt := range []struct {
			name   string
			maxAge time.Duration // of the configuration
			waits  time.Duration
			good   bool
		}{
			{"in time", 0, 9 * time.Minute, true},
			{"too late", 0, 10*time.Minute + 15*time.Second, false},
			{"a longer time", time.Hour, 59 * time.Minute, true},
			{"too late for a longer time", time.Hour, time.Hour + 15*time.Second, false},
		} {
			t.Run(fmt.Sprintf("%s, %s", tt.name, strategy), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, _ := pendingSite(t, strategy, func(s *site) { s.Cookies.PendingSignIn.MaxAge = tt.maxAge })
					b := s.browser()
					b.isHeld(b.byPassword())
					held, form := b.cookie(pendingCookie), b.cookie(csrfCookie)
					time.Sleep(tt.waits)
					b.plant(pendingCookie, held) // an attacker's browser keeps it
					b.plant(csrfCookie, form)
					if got := b.pending() != nil; got != tt.good {
						t.Errorf("the sign-in waits: %t, want %t", got, tt.good)
					}
					if tt.good {
						b.completes(s.url, "user-ada", "otp")
						return
					}
					b.isNotCompleted(pintle.CodeInvalidCheck, "otp")
				})
			})
		}
	}
}

// AT-8: a sign-in that was held before the sessions of its user ended, or its user was
// deleted or banned, does not outlive that.
func TestWhatEndsSessionsEndsPendingSignIns(t *testing.T) {
	banned := false
	ends := map[string]func(ctx context.Context, s *site) error{
		"SignOutEverywhere": func(ctx context.Context, s *site) error { return s.auth.SignOutEverywhere(ctx, "user-ada") },
		"DeleteUser":        func(ctx context.Context, s *site) error { return s.auth.DeleteUser(ctx, "user-ada") },
		"a ban": func(context.Context, *site) error {
			banned = true
			return nil
		},
	}
	for _, strategy := range strategies {
		for name, end := range ends {
			for _, moment := range []string{"while it waits", "while Hold is asked the first time", "while Hold is asked again", "in a further step"} {
				if name == "a ban" && moment != "while it waits" && moment != "in a further step" {
					continue // Hold itself decides
				}
				t.Run(fmt.Sprintf("%s %s, %s", name, moment, strategy), func(t *testing.T) {
					banned = false
					asked := 0
					var s *site
					s, k := pendingSite(t, strategy, func(s2 *site) {
						s2.Callbacks.Hold = func(ctx context.Context, p *pintle.PendingSignIn) (string, error) {
							asked++
							ending := moment == "while Hold is asked the first time" && asked == 1 || moment == "while Hold is asked again" && asked == 2
							if ending {
								if err := end(ctx, s); err != nil {
									return "", err
								}
							}
							switch {
							case banned:
								return "", pintle.CodeAccessDenied
							case moment == "while Hold is asked the first time":
								return "", nil
							case !slices.Contains(p.Authentication.Methods, "otp"):
								return "/second-factor", nil
							}
							return "", nil
						}
					})
					b := s.browser()
					b.byPassword().want(http.StatusFound)
					if moment == "in a further step" {
						if next, err := b.complete("pwd"); err != nil || next != s.url+"/second-factor" {
							t.Fatal(next, err)
						}
					}
					if moment == "while it waits" || moment == "in a further step" {
						if err := end(t.Context(), s); err != nil {
							t.Fatal(err)
						}
						if p := b.pending(); p != nil && !banned {
							t.Errorf("AT-8 the sign-in of %s still waits", p.User.ID)
						}
					}
					if moment != "while Hold is asked the first time" {
						if next, err := b.complete("otp"); err == nil {
							t.Errorf("AT-8 the sign-in is completed and goes to %s", next)
						}
					}
					if sub := b.sub(); sub != "" {
						t.Errorf("AT-8 %s is signed in", sub)
					}
					if rows := k.sessions(t, "user-ada"); rows != 0 {
						t.Errorf("AT-8 the user has %d sessions", rows)
					}
				})
			}
		}
	}
}

// AT-8: the end of all sessions between the writing of a session and its check.
func TestTheEndOfAllSessionsDuringACompletion(t *testing.T) {
	for _, operation := range []string{"useVerificationToken", "getUser", "createSession", "deleteSession"} {
		t.Run(operation, func(t *testing.T) {
			s, k := pendingSite(t, pintle.StrategyDatabase)
			b := s.browser()
			b.isHeld(b.byPassword())
			k.once(operation, func() {
				if _, err := k.Store.EndUserSessions(t.Context(), "user-ada", ""); err != nil {
					t.Error(err)
				}
			})
			b.isNotCompleted(pintle.CodeInvalidCheck, "otp")
			if rows := k.sessions(t, "user-ada"); rows != 0 {
				t.Errorf("AT-8 the user has %d sessions", rows)
			}
		})
	}
}

// AT-7: whatever operation of the store fails, the browser is not signed in. Until
// the sign-in is used up nothing is lost, and afterwards the user signs in once more.
func TestAStoreThatFailsDuringACompletion(t *testing.T) {
	for _, strategy := range strategies {
		for _, operation := range []string{"useVerificationToken", "getUser", "createSession", "deleteSession"} {
			if strategy == pintle.StrategyJWT && strings.HasSuffix(operation, "Session") {
				continue
			}
			t.Run(fmt.Sprintf("%s, %s", operation, strategy), func(t *testing.T) {
				s, k := pendingSite(t, strategy)
				b := s.browser()
				b.isHeld(b.byPassword())
				k.fail(operation)
				if next, err := b.complete("otp"); !errors.Is(err, pintle.CodeStore) || !errors.Is(err, errBroken) || next != "" {
					t.Errorf("CompleteSignIn: %q, %v", next, err)
				}
				b.isSignedOut()
				k.fail()
				if operation == "useVerificationToken" {
					b.completes(s.url, "user-ada", "otp")
					return
				}
				b.isNotCompleted(pintle.CodeInvalidCheck, "otp")
				b.isHeld(b.byPassword())
				b.completes(s.url, "user-ada", "otp")
			})
		}
	}
	t.Run("the revocation list", func(t *testing.T) {
		list := &silentList{}
		s, _ := pendingSite(t, pintle.StrategyJWT, func(s *site) { s.Session.Revocation = list })
		b := s.browser()
		b.isHeld(b.byPassword())
		list.failing = true
		if p, err := s.auth.PendingSignIn(b.request()); p != nil || !errors.Is(err, pintle.CodeStore) {
			t.Errorf("PendingSignIn: %+v, %v", p, err)
		}
		if _, err := b.complete("otp"); !errors.Is(err, pintle.CodeStore) {
			t.Errorf("CompleteSignIn: %v", err)
		}
		list.failing = false
		b.isSignedOut()
	})
}

// silentList is a list of ended sessions that may not answer.
type silentList struct {
	memstore.Revocations
	failing, mute bool
}

func (l *silentList) Revoke(ctx context.Context, s pintle.TokenSession, until time.Time) error {
	if l.mute {
		return errBroken
	}
	return l.Revocations.Revoke(ctx, s, until)
}

func (l *silentList) Revoked(ctx context.Context, s pintle.TokenSession) (bool, error) {
	if l.failing {
		return false, errBroken
	}
	return l.Revocations.Revoked(ctx, s)
}

// A new sign-in, a sign-out and the user's choice end what waits, also in a copy of the
// cookies.
func TestWhatEndsAPendingSignIn(t *testing.T) {
	for _, strategy := range strategies {
		for name, end := range map[string]func(t *testing.T, s *site, b *browser){
			"a new sign-in": func(_ *testing.T, _ *site, b *browser) { b.isHeld(b.byPassword()) },
			"a sign-out": func(t *testing.T, _ *site, b *browser) {
				if !b.post("/auth/signout").want(http.StatusFound).clears(pendingCookie) {
					t.Error("the cookie is left")
				}
			},
			"a sign-out by server code": func(t *testing.T, s *site, b *browser) {
				if _, err := s.auth.SignOut(httptest.NewRecorder(), b.request(), pintle.SignOutOptions{RedirectTo: "/"}); err != nil {
					t.Fatal(err)
				}
			},
			"CancelSignIn": func(t *testing.T, s *site, b *browser) {
				w := httptest.NewRecorder()
				if err := s.auth.CancelSignIn(w, b.request()); err != nil {
					t.Fatal(err)
				}
				b.takes(w)
				if b.cookie(pendingCookie) != "" {
					t.Error("the cookie is left")
				}
				if err := s.auth.CancelSignIn(w, b.request()); err != nil {
					t.Errorf("without a pending sign-in: %v", err)
				}
			},
		} {
			t.Run(fmt.Sprintf("%s, %s", name, strategy), func(t *testing.T) {
				s, k := pendingSite(t, strategy)
				b := s.browser()
				b.isHeld(b.byPassword())
				copied, rows := b.cookie(pendingCookie), k.sessions(t, "user-ada")
				end(t, s, b)
				if now := k.sessions(t, "user-ada"); name != "a new sign-in" && now != 0 || now > rows {
					t.Errorf("%d rows are left of %d", now, rows)
				}
				b.plant(pendingCookie, copied)
				b.isNotCompleted(pintle.CodeInvalidCheck, "otp")
			})
		}
	}
	t.Run("with a store that fails the user can try again", func(t *testing.T) {
		s, k := pendingSite(t, pintle.StrategyJWT)
		b := s.browser()
		b.isHeld(b.byPassword())
		k.fail("useVerificationToken")
		w := httptest.NewRecorder()
		if err := s.auth.CancelSignIn(w, b.request()); !errors.Is(err, pintle.CodeStore) || len(w.Result().Cookies()) > 0 {
			t.Errorf("CancelSignIn: %v, with the cookies %v", err, w.Result().Cookies())
		}
		b.post("/auth/signout").fails("/auth/error", "SignOutError")
		b.byPassword().fails("/auth/error", "Configuration")
		k.fail()
		b.completes(s.url, "user-ada", "otp")
	})
}

// A user who is signed in and links an account is not asked: the session goes on, and
// records no other sign-in than before. One that takes its place is asked for.
func TestHoldIsNotAskedWhileASessionGoesOn(t *testing.T) {
	for _, rotate := range []bool{false, true} {
		for _, strategy := range strategies {
			t.Run(fmt.Sprintf("%s, rotated at sign-in: %t", strategy, rotate), func(t *testing.T) {
				s, k := pendingSite(t, strategy, func(s *site) { s.Session.RotateAtSignIn, s.Session.RecordAuthentication = rotate, rotate })
				b := s.browser()
				b.isHeld(b.byPassword())
				b.completes(s.url, "user-ada", "otp")
				b.signInWith("acme").goesTo(s.url) // links the account
				b.passkey("register", "CCCC").goesTo(s.url)
				if b.sub() != "user-ada" || k.owner(t, "acme", attackerElsewhere.Subject) == nil {
					t.Error("the account is not linked to Ada")
				}
				session, err := s.auth.Session(b.request())
				if err != nil {
					t.Fatal(err)
				}
				if a := session.Authentication; rotate && (a.Provider != "credentials" || !slices.Equal(a.Methods, []string{"pwd", "otp"})) {
					t.Errorf("the session records %+v", a)
				}
				before := b.cookie(sessionCookie)
				if again := b.signInWith("acme"); strategy == pintle.StrategyDatabase && !rotate {
					again.goesTo(s.url) // the row goes on
				} else {
					again.goesTo(s.url + "/second-factor")
					b.completes(s.url, "user-ada", "otp")
				}
				b.isHeld(b.byPassword())
				b.isHeld(b.get(b.mailTo("ada@example.com").URL))
				b.completes(s.url, "user-ada", "otp")
				b.plant(sessionCookie, before)
				if sub := b.sub(); sub != "" {
					t.Errorf("the session of %s before has not ended", sub)
				}
			})
		}
	}
}

// A session records when the sign-in began, and every method: those of the provider and
// those of the pages.
func TestASessionRecordsThePagesThatCompletedIt(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := pendingSite(t, strategy, func(s *site) { s.Session.RecordAuthentication = true })
				b := s.browser()
				began := time.Now()
				b.isHeld(b.byPassword())
				time.Sleep(5 * time.Minute)
				for _, bad := range []string{"", strings.Repeat("x", 65)} {
					if _, err := b.complete("otp", bad); !errors.Is(err, pintle.CodeConfiguration) {
						t.Errorf("the method %q: %v", bad, err)
					}
				}
				many := []string{"otp", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"}
				b.completes(s.url, "user-ada", append([]string{"pwd"}, many...)...)
				session, err := s.auth.Session(b.request())
				if err != nil {
					t.Fatal(err)
				}
				a := session.Authentication
				if !a.Started.Equal(began) || !a.Time.Equal(time.Now()) || a.Provider != "credentials" || !slices.Equal(a.Methods, many) || len(a.Proofs) != len(many) {
					t.Errorf("the session records %+v", a)
				}
			})
		})
	}
}

// AC-101: the session that the browser holds goes on while the sign-in of another user waits,
// and ends when it is complete.
func TestTheSessionBeforeAPendingSignIn(t *testing.T) {
	for _, strategy := range strategies {
		for name, signIn := range map[string]func(b *browser) *reply{
			"a password": func(b *browser) *reply { return b.byPassword() },
			"a mail":     func(b *browser) *reply { return b.get(b.mailTo("ada@example.com").URL) },
		} {
			t.Run(fmt.Sprintf("%s, %s", name, strategy), func(t *testing.T) {
				s, k := pendingSite(t, strategy)
				k.seedUser(t, people["grace"].user)
				b := s.browser()
				b.isHeld(b.post("/auth/callback/credentials", "username", "grace", "password", people["grace"].password))
				b.completes(s.url, "user-grace", "otp")
				old := b.cookie(sessionCookie)

				signIn(b).goesTo(s.url + "/second-factor")
				if sub := b.sub(); sub != "user-grace" {
					t.Errorf("while Ada's sign-in waits, the user signed in is %q", sub)
				}
				if p := b.pending(); p == nil || p.User.ID != "user-ada" {
					t.Fatalf("the pending sign-in is %+v", p)
				}
				b.completes(s.url, "user-ada", "otp")
				b.plant(sessionCookie, old)
				if sub := b.sub(); sub != "" {
					t.Errorf("the session of %s has not ended", sub)
				}
			})
		}
	}
}

// SA-H1: two proofs of an address end the other sessions of its user, and not the
// sign-in that is the second proof.
func TestAPendingSignInThatConfirmsAnAddress(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s, k := pendingSite(t, strategy, recording)
			user := k.seedUser(t, pintle.User{ID: "victim", Email: victimAddress})
			k.seedAccount(t, user, "acme", attackerElsewhere.Subject)
			b := s.browser()
			b.isAsked(b.get(b.mailTo(victimAddress).URL))
			b.isHeld(b.signInWith("acme"))
			if k.byEmail(t, victimAddress).EmailVerified.IsZero() {
				t.Error("SA-H1 the address is not proven")
			}
			b.completes(s.url, "victim", "otp")
		})
	}
}

// AC-105: a session that a sign-in takes the place of is there until the new one is.
func TestASessionIsRotatedWhereHoldLetsIn(t *testing.T) {
	s, k := pendingSite(t, pintle.StrategyDatabase, func(s *site) {
		s.Session.RotateAtSignIn = true
		s.Callbacks.Hold = func(context.Context, *pintle.PendingSignIn) (string, error) { return "", nil }
	})
	b := s.browser()
	b.signInWith("careful").goesTo(s.url)
	before := b.cookie(sessionCookie)
	b.signInWith("careful").goesTo(s.url)
	if sub := b.sub(); sub != "user-ada" || b.cookie(sessionCookie) == before {
		t.Errorf("the user signed in is %q", sub)
	}
	if rows := k.sessions(t, "user-ada"); rows != 1 {
		t.Errorf("the user has %d sessions", rows)
	}
}

// Server code that starts a session has decided what Hold decides. What waited in the
// browser has ended.
func TestHoldIsNotAskedWhereServerCodeStartsASession(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s, k := pendingSite(t, strategy)
			b := s.browser()
			b.isHeld(b.byPassword())
			copied := b.cookie(pendingCookie)
			w := httptest.NewRecorder()
			user, err := k.Store.User(t.Context(), "user-ada")
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := s.auth.StartSession(w, b.request(), user, pintle.StartOptions{}); err != nil {
				t.Fatal(err)
			}
			b.takes(w)
			if sub := b.sub(); sub != "user-ada" || b.cookie(pendingCookie) != "" {
				t.Errorf("the user signed in is %q", sub)
			}
			b.plant(pendingCookie, copied)
			if _, err := b.complete("otp"); !errors.Is(err, pintle.CodeInvalidCheck) {
				t.Errorf("what waited before is completed: %v", err)
			}
		})
	}
}

// The row that marks a waiting sign-in of a database is no session, and no device.
func TestTheMarkOfAPendingSignInIsNoSession(t *testing.T) {
	t.Run("in a table with room for data", func(t *testing.T) { markIsNoSession(t, func(*recordingTxStore) {}) })
	t.Run("in a table without", func(t *testing.T) {
		markIsNoSession(t, func(k *recordingTxStore) { k.Store = withoutData{k.Store, &sync.Map{}} })
	})
}

// withoutData is a store with a table of sessions as that of Auth.js: it has tokens
// and no room for data.
type withoutData struct {
	pintle.Store
	tokens *sync.Map // by their handles
}

func (s withoutData) CreateSession(ctx context.Context, row *pintle.StoredSession) error {
	plain := *row
	plain.Data = nil
	hash := sha256.Sum256([]byte(row.Token))
	s.tokens.Store(base64.RawURLEncoding.EncodeToString(hash[:]), row.Token)
	return s.Store.CreateSession(ctx, &plain)
}

func (s withoutData) UserSessions(ctx context.Context, userID string) iter.Seq2[*pintle.StoredSession, error] {
	return func(yield func(*pintle.StoredSession, error) bool) {
		for row, err := range s.Store.UserSessions(ctx, userID) {
			if err == nil {
				token, _ := s.tokens.Load(row.Handle)
				row.Token, _ = token.(string)
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

func markIsNoSession(t *testing.T, change func(*recordingTxStore)) {
	t.Helper()
	s, k := pendingSite(t, pintle.StrategyDatabase, func(s *site) { s.Session.AllowBearer = true })
	change(k)
	b := s.browser()
	b.isHeld(b.byPassword())
	b.completes(s.url, "user-ada", "otp")
	other := s.browser()
	other.isHeld(other.byPassword())
	plain := unsealed(t, pendingCookie, other.cookie(pendingCookie))
	mark, _ := plain["marker"].(string)
	row, _, err := k.Store.SessionAndUser(t.Context(), mark)
	if mark == "" || err != nil {
		t.Fatalf("there is no mark %q: %v", mark, err)
	}
	if expires := other.pending().Expires; row.Expires.Before(expires) {
		t.Errorf("the mark is there until %v, and the sign-in waits until %v", row.Expires, expires)
	}
	other.plant(sessionCookie, mark)
	if sub := other.sub(); sub != "" || other.session() != nil {
		t.Errorf("the mark signs %s in", sub)
	}
	other.plant(sessionCookie, "")
	if page := other.get("/", "Authorization", "Bearer "+mark); page.body != "hello, anonymous" {
		t.Errorf("the mark in a header: %s", page.body)
	}
	session, err := s.auth.Session(b.request())
	if err != nil {
		t.Fatal(err)
	}
	devices := 0
	for _, err := range s.auth.Devices(t.Context(), session) {
		if err != nil {
			t.Fatal(err)
		}
		devices++
	}
	if devices != 1 {
		t.Errorf("%d devices are listed", devices)
	}
}

// Token sessions: the claims are made when the sign-in is held, with everything that the
// provider reported, and begin then. The token is written when it is complete.
func TestTheClaimsOfAPendingSignIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var changes []*pintle.TokenChange
		s, k := pendingSite(t, pintle.StrategyJWT, func(s *site) {
			s.Pages.NewUser = "/welcome"
			s.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
				if c.Trigger != "" {
					changes = append(changes, c)
					c.Claims["idp"] = strings.Repeat(c.Account.AccessToken, 1+5000/len(c.Account.AccessToken))
					c.Claims["picture"] = "/chosen.png"
				}
				return c.Claims, nil
			}
		})
		b := s.browser()
		began := time.Now().Unix()
		b.isHeld(b.signInWith("acme"))
		if b.cookie(pendingCookie) != "" || b.cookie(pendingCookie+".0") == "" || b.cookie(pendingCookie+".1") == "" {
			t.Error("long claims are not kept in several cookies")
		}
		p := b.pending()
		if p.NewUser == nil || !*p.NewUser {
			t.Error("the user is not new")
		}
		name, image := "Ada King", "/other.png"
		if _, err := k.Store.UpdateUser(t.Context(), p.User.ID, pintle.UserUpdate{Name: &name, Image: &image}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		b.completes("/welcome?callbackUrl="+url.QueryEscape(s.url), p.User.ID, "otp")
		if len(changes) != 1 || changes[0].Trigger != pintle.TriggerSignUp || changes[0].Profile == nil {
			t.Fatalf("Callbacks.JWT was called with %+v", changes)
		}
		codec, err := token.New(sessionCookie, secret)
		if err != nil {
			t.Fatal(err)
		}
		tok, err := codec.FromRequest(b.request())
		if err != nil {
			t.Fatal(err)
		}
		claims, err := tok.Claims()
		if err != nil {
			t.Fatal(err)
		}
		if claims["auth_time"] != float64(began) || tok.IssuedAt().Unix() != time.Now().Unix() || claims["sid"] == nil {
			t.Errorf("the session began at %v and its token was written at %v", claims["auth_time"], tok.IssuedAt())
		}
		if claims["name"] != name || claims["picture"] != "/chosen.png" || len(claims["idp"].(string)) < 5000 {
			t.Errorf("the name is %v, the image %v", claims["name"], claims["picture"])
		}
		if clear := b.cookie(pendingCookie + ".1"); clear != "" {
			t.Error("a part of the cookie is left")
		}
	})
}

// A sign-in for which JWT wants no session makes none when it is complete.
func TestAPendingSignInWithoutClaims(t *testing.T) {
	s, _ := pendingSite(t, pintle.StrategyJWT, func(s *site) {
		s.Callbacks.JWT = func(context.Context, *pintle.TokenChange) (pintle.Claims, error) { return nil, nil }
	})
	b := s.browser()
	b.isHeld(b.byPassword())
	if next, err := b.complete("otp"); err != nil || next != s.url {
		t.Errorf("CompleteSignIn: %q, %v", next, err)
	}
	b.isSignedOut()
}

// Claims that no browser keeps fail the sign-in at once, and not when it is complete.
func TestClaimsThatAreTooLongToWait(t *testing.T) {
	size := 200_000
	s, _ := pendingSite(t, pintle.StrategyJWT, func(s *site) { s.Callbacks.JWT = fill(&size, pintle.NewClaim[string]("data")) })
	b := s.browser()
	b.byPassword().fails("/auth/error", "Configuration")
	if entry := s.log.last(t, "CallbackRouteError"); !strings.Contains(fmt.Sprint(entry["error"]), "keep less in it") {
		t.Errorf("the record is %v", entry)
	}
}

// A user of Credentials who is not in the store waits as Authorize returned it.
func TestAPendingUserWhoIsNotStored(t *testing.T) {
	s := newSite(t, holdingAt("/second-factor"), func(s *site) {
		s.Store, s.Session.Strategy = memstore.New(), pintle.StrategyJWT
		s.Providers = []pintle.Provider{&pintle.Credentials{CanSignIn: knowsNoUser, Authorize: func(_ context.Context, c *pintle.Submission) (*pintle.User, error) {
			if err := c.SetCookie("device", "known", time.Hour); err != nil {
				return nil, err
			}
			return &pintle.User{ID: "of-ldap", Name: "Ada", Extra: map[string]any{"group": "staff"}}, nil
		}}}
	})
	b := s.browser()
	b.isHeld(b.post("/auth/callback/credentials", "callbackUrl", "/inbox"))
	if b.cookie("device") != "" {
		t.Error("a cookie of the submission is set before the sign-in is complete")
	}
	p := b.pending()
	if p == nil || p.User.ID != "of-ldap" || p.User.Extra["group"] != "staff" || p.NewUser != nil || p.RedirectTo != s.url+"/inbox" {
		t.Fatalf("the pending sign-in is %+v", p)
	}
	b.completes(s.url+"/inbox", "of-ldap", "otp")
	if b.cookie("device") == "" {
		t.Error("the cookie of the submission is not set")
	}
}

// A response that a provider's page posts comes without the form token, to which the
// sign-in is bound: the browser posts it again, and keeps its token.
func TestAHeldResponseByForm(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s := newSite(t, withRecordingStore(newRecordingStore(), strategy), withFormPost, holdingAt("/second-factor"))
			b := s.browser()
			action, fields := b.leaveFor("/inbox")
			before := b.csrf()
			page := b.postFromElsewhere(action, fields).want(http.StatusOK)
			b.postForm(page.action(), page.hidden()).goesTo(s.url + "/second-factor")
			if b.csrf() != before {
				t.Error("the form token was replaced")
			}
			if next, err := b.complete("otp"); err != nil || next != s.url+"/inbox" {
				t.Errorf("CompleteSignIn: %q, %v", next, err)
			}
			if session, err := s.auth.Session(b.request()); err != nil || session == nil {
				t.Errorf("the session is %v, %v", session, err)
			}
		})
	}
}

// The names of the cookies are the salts.
func TestTwoCookiesWithOneNameAreRefused(t *testing.T) {
	s := newSite(t)
	for name, change := range map[string]func(*pintle.Cookies){
		"two that are named":      func(c *pintle.Cookies) { c.PendingSignIn.Name, c.SessionToken.Name = "mine", "mine" },
		"one that has a default":  func(c *pintle.Cookies) { c.PendingSignIn.Name = sessionCookie },
		"two that are not for it": func(c *pintle.Cookies) { c.State.Name, c.SessionToken.Name = "mine", "mine" },
	} {
		cfg := s.Config
		cfg.URL = s.url
		change(&cfg.Cookies)
		if _, err := pintle.New(cfg); err == nil || !strings.Contains(err.Error(), "two cookies have the name") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Hold needs a store that notes what waits.
func TestHoldNeedsAStore(t *testing.T) {
	s := newSite(t, func(s *site) { s.Store, s.Session.Strategy = memstore.New(), pintle.StrategyJWT }, holdingAt("/second-factor"))
	for _, tt := range []struct {
		store pintle.Store
		code  pintle.Code
		says  string
	}{
		{nil, "MissingAdapter", "Callbacks.Hold needs Config.Store"},
		{withoutVerifications{memstore.New()}, "MissingAdapterMethods", "Callbacks.Hold needs pintle.Features.Verifications"},
	} {
		cfg := s.Config
		cfg.Store = tt.store
		if _, err := pintle.New(cfg); !errors.Is(err, tt.code) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("New: %v, want %q", err, tt.says)
		}
	}
}

type withoutVerifications struct{ pintle.Store }

func (s withoutVerifications) Features() pintle.Features {
	return lacking(s.Store, func(f *pintle.Features) { f.Verifications = false })
}

// A page of Hold on another site is as one of Callbacks.SignIn.
func TestThePageOfHoldIsOfThisSite(t *testing.T) {
	s, _ := pendingSite(t, pintle.StrategyJWT, holdingAt("https://evil.example/second-factor"))
	b := s.browser()
	b.byPassword().goesTo(s.url)
	b.isSignedOut()
	if entry := s.log.last(t, "RefusedTarget"); entry["callback"] != "Callbacks.Hold" || !strings.Contains(fmt.Sprint(entry["fix"]), "from Callbacks.Hold") {
		t.Errorf("the record is %v", entry)
	}
}

// FuzzPendingSignIn opens whatever a browser sends as a pending sign-in, sealed or not.
func FuzzPendingSignIn(f *testing.F) {
	f.Add(`{"secret":"s","browser":"b","provider":"credentials","by":2,"user":{"id":"user-ada"},"account":{},"exp":4102444800}`)
	f.Add(`{"user":null,"exp":"x","claims":{"sub":1}}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, plain string) {
		auth, err := pintle.New(pintle.Config{
			Providers: []pintle.Provider{&pintle.Credentials{Authorize: checkPassword, CanSignIn: knowsNoUser}}, Secrets: []string{secret},
			Store: memstore.New(), Session: pintle.SessionConfig{Strategy: pintle.StrategyJWT}, Getenv: noEnv, Logger: (&logBook{}).logger(), URL: "http://localhost:3000",
			Callbacks: pintle.Callbacks{Hold: func(context.Context, *pintle.PendingSignIn) (string, error) { return "", nil }},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range []string{plain, sealedText(t, pendingCookie, plain)} {
			r := httptest.NewRequest(http.MethodPost, "http://localhost:3000/second-factor", nil)
			r.Header.Set("Cookie", pendingCookie+"="+url.QueryEscape(value))
			if p, err := auth.PendingSignIn(r); p != nil || err != nil {
				t.Errorf("PendingSignIn: %+v, %v", p, err)
			}
			w := httptest.NewRecorder()
			if _, err := auth.CompleteSignIn(w, r, pintle.CompleteOptions{}); !errors.Is(err, pintle.CodeInvalidCheck) {
				t.Errorf("CompleteSignIn: %v", err)
			}
			if err := auth.CancelSignIn(w, r); err != nil {
				t.Errorf("CancelSignIn: %v", err)
			}
		}
	})
}

// sealedText seals a text as the application does under a salt.
func sealedText(t *testing.T, salt, plain string) string {
	t.Helper()
	keys, err := seal.New([]string{secret}, salt)
	if err != nil {
		t.Fatal(err)
	}
	return string(keys.AppendSeal(nil, []byte(plain)))
}

// A further step has its own time, and its mark is there as long.
func TestAFurtherStepHasItsOwnMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, k := pendingSite(t, pintle.StrategyDatabase)
		b := s.browser()
		b.isHeld(b.byPassword())
		time.Sleep(9 * time.Minute)
		if next, err := b.complete("pwd"); err != nil || next != s.url+"/second-factor" {
			t.Fatalf("CompleteSignIn: %q, %v", next, err)
		}
		mark, _ := unsealed(t, pendingCookie, b.cookie(pendingCookie))["marker"].(string)
		row, _, err := k.Store.SessionAndUser(t.Context(), mark)
		if err != nil {
			t.Fatal(err)
		}
		if expires := b.pending().Expires; row.Expires.Before(expires) || k.sessions(t, "user-ada") != 1 {
			t.Errorf("the mark is there until %v, and the sign-in waits until %v", row.Expires, expires)
		}
	})
}

// AT-8, AC-32: tokens are good for less time than a sign-in waits. The list of ended sessions
// remembers the end of all sessions until the sign-in has expired, too.
func TestAPendingSignInDoesNotOutliveTheListOfEndedSessions(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*site)
		wait   time.Duration
	}{
		"tokens of five minutes": {func(s *site) { s.JWT.MaxAge = 5 * time.Minute }, 8 * time.Minute},
		"a wait of an hour": {func(s *site) {
			s.Session.MaxAge = 30 * time.Minute
			s.Cookies.PendingSignIn.MaxAge = time.Hour
		}, time.Hour + 10*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				list := &memstore.Revocations{}
				s, _ := pendingSite(t, pintle.StrategyJWT, tt.change, func(s *site) { s.Session.Revocation = list })
				b, control := s.browser(), s.browser()
				b.isHeld(b.byPassword())
				control.isHeld(control.signInWith("acme")) // another user
				if err := s.auth.SignOutEverywhere(t.Context(), "user-ada"); err != nil {
					t.Fatal(err)
				}
				kept := map[*browser][2]string{}
				for _, b := range []*browser{b, control} {
					kept[b] = [2]string{b.cookie(pendingCookie), b.cookie(csrfCookie)}
				}
				time.Sleep(tt.wait)
				if _, err := list.Sweep(t.Context(), time.Now(), 100); err != nil {
					t.Fatal(err)
				}
				for b, cookies := range kept { // browsers have dropped those that expired
					b.plant(pendingCookie, cookies[0])
					b.plant(csrfCookie, cookies[1])
				}
				if _, err := control.complete("otp"); err != nil {
					t.Fatalf("a sign-in that is not ended is not completed: %v", err)
				}
				if p := b.pending(); p != nil {
					t.Errorf("AT-8 the sign-in of %s waits", p.User.ID)
				}
				if next, err := b.complete("otp"); err == nil {
					t.Errorf("AT-8 the sign-in is completed and goes to %s", next)
				}
				if sub := b.sub(); sub != "" {
					t.Errorf("AT-8 %s is signed in, by a sign-in from before the end of all sessions", sub)
				}
			})
		})
	}
}

// A copy of the cookies of a sign-in that was cancelled, signed out, replaced or
// completed shows a page no pending user. A page that sets a new password, or enrols
// a second factor, of PendingSignIn.User would act for the copy.
func TestAPendingSignInThatIsOverIsNotShown(t *testing.T) {
	for _, strategy := range strategies {
		for name, end := range map[string]func(s *site, b *browser) error{
			"cancelled": func(s *site, b *browser) error {
				return s.auth.CancelSignIn(httptest.NewRecorder(), b.request())
			},
			"signed out": func(_ *site, b *browser) error { b.post("/auth/signout"); return nil },
			"replaced":   func(_ *site, b *browser) error { b.isHeld(b.byPassword()); return nil },
			"completed":  func(_ *site, b *browser) error { _, err := b.complete("otp"); return err },
			"held again": func(_ *site, b *browser) error { _, err := b.complete(); return err },
			"denied": func(_ *site, b *browser) error {
				if _, err := b.complete("otp"); err == nil {
					return errors.New("Hold does not deny the sign-in")
				}
				return nil
			},
		} {
			for _, claims := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, %s, claims %t", name, strategy, claims), func(t *testing.T) {
					deny := false
					s, _ := pendingSite(t, strategy, func(s *site) {
						hold := s.Callbacks.Hold
						s.Callbacks.Hold = func(ctx context.Context, p *pintle.PendingSignIn) (string, error) {
							if deny {
								return "", pintle.CodeAccessDenied
							}
							return hold(ctx, p)
						}
						if !claims {
							s.Callbacks.JWT = func(context.Context, *pintle.TokenChange) (pintle.Claims, error) { return nil, nil }
						}
					})
					b, thief := s.browser(), s.browser()
					b.isHeld(b.byPassword())
					thief.plant(pendingCookie, b.cookie(pendingCookie))
					thief.plant(csrfCookie, b.cookie(csrfCookie))
					if p := thief.pending(); p == nil {
						t.Fatal("the copy shows nothing while the sign-in waits")
					}
					deny = name == "denied"
					if err := end(s, b); err != nil {
						t.Fatal(err)
					}
					if p := thief.pending(); p != nil {
						t.Errorf("the sign-in of %s is over, and PendingSignIn returns it", p.User.ID)
					}
				})
			}
		}
	}
}

// Where the list of ended sessions fails, a sign-in is not reported as cancelled,
// and the user can try again.
func TestAPendingSignInIsCancelledInTheListOfEndedSessions(t *testing.T) {
	list := &silentList{}
	s, _ := pendingSite(t, pintle.StrategyJWT, func(s *site) { s.Session.Revocation = list })
	b := s.browser()
	b.isHeld(b.byPassword())
	list.mute = true
	w := httptest.NewRecorder()
	if err := s.auth.CancelSignIn(w, b.request()); !errors.Is(err, pintle.CodeStore) || len(w.Result().Cookies()) > 0 {
		t.Errorf("CancelSignIn: %v, with the cookies %v", err, w.Result().Cookies())
	}
	list.mute = false
	if err := s.auth.CancelSignIn(w, b.request()); err != nil {
		t.Fatal(err)
	}
	if p := b.pending(); p != nil {
		t.Errorf("the sign-in of %s is cancelled, and PendingSignIn returns it", p.User.ID)
	}
}

// AT-8: a sign-in for which Callbacks.JWT wants no session ends with the sessions of its
// user, and not with those of before it.
func TestAPendingSignInWithoutClaimsEndsWithTheSessionsOfItsUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := pendingSite(t, pintle.StrategyJWT, func(s *site) {
			s.Callbacks.JWT = func(context.Context, *pintle.TokenChange) (pintle.Claims, error) { return nil, nil }
		})
		if err := s.auth.SignOutEverywhere(t.Context(), "user-ada"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		b := s.browser()
		b.isHeld(b.byPassword())
		if b.pending() == nil {
			t.Error("the sign-in began after the sessions ended, and is not shown")
		}
		if err := s.auth.SignOutEverywhere(t.Context(), "user-ada"); err != nil {
			t.Fatal(err)
		}
		if p := b.pending(); p != nil {
			t.Errorf("AT-8 the sign-in of %s is shown, and the sessions have ended since", p.User.ID)
		}
	})
}

// An attacker who has the first factor only does not keep it good: each completion that is
// held again, by a page that verifies nothing, gives ten minutes more, up to one hour.
func TestTheFirstFactorIsGoodForOneHour(t *testing.T) {
	for _, strategy := range strategies {
		for _, maxAge := range []time.Duration{0, 20 * time.Minute} {
			t.Run(fmt.Sprintf("%s, %v", strategy, maxAge), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, _ := pendingSite(t, strategy, func(s *site) { s.Cookies.PendingSignIn.MaxAge = maxAge })
					b := s.browser()
					b.isHeld(b.byPassword())
					began, limit := time.Now(), 6*max(maxAge, 10*time.Minute)
					for time.Since(began) < limit-9*time.Minute {
						time.Sleep(9 * time.Minute)
						if next, err := b.complete(); err != nil || next != s.url+"/second-factor" {
							t.Fatalf("after %v: %q, %v", time.Since(began), next, err)
						}
					}
					held, form := b.cookie(pendingCookie), b.cookie(csrfCookie)
					if p := b.pending(); p == nil || p.Expires.After(began.Add(limit)) {
						t.Fatalf("after %v the sign-in is shown as %+v", time.Since(began), p)
					}
					time.Sleep(time.Until(began.Add(limit + time.Second)))
					b.plant(pendingCookie, held)
					b.plant(csrfCookie, form)
					if p := b.pending(); p != nil {
						t.Errorf("after %v the sign-in of %s is shown", time.Since(began), p.User.ID)
					}
					b.isNotCompleted(pintle.CodeInvalidCheck, "otp")
				})
			})
		}
	}
}

// AT-8: a sign-in with an account or a passkey is not completed after the user has
// unlinked it, or after another user has linked it.
func TestASignInWithAnUnlinkedAccountIsNotCompleted(t *testing.T) {
	for _, strategy := range strategies {
		for name, way := range map[string]struct {
			provider, id string
			signIn       func(b *browser) *reply
		}{
			"an account": {"careful", "1", func(b *browser) *reply { return b.signInWith("careful") }},
			"a passkey":  {"passkey", "AAAA", func(b *browser) *reply { return b.passkey("authenticate", "AAAA") }},
		} {
			for _, moved := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, moved %t", name, strategy, moved), func(t *testing.T) {
					s, k := pendingSite(t, strategy)
					thief, ada := s.browser(), s.browser()
					thief.isHeld(way.signIn(thief))
					ada.isHeld(ada.byPassword())
					ada.completes(s.url, "user-ada", "otp")
					session, err := s.auth.Session(ada.request())
					if err != nil {
						t.Fatal(err)
					}
					if err := s.auth.Unlink(t.Context(), session, way.provider, way.id); err != nil {
						t.Fatal(err)
					}
					if moved {
						grace := people["grace"].user
						k.seedAccount(t, k.seedUser(t, grace), way.provider, way.id)
					}
					if p := thief.pending(); p != nil {
						t.Errorf("AT-8 a sign-in with an account that is unlinked is shown for %s", p.User.ID)
					}
					thief.isNotCompleted(pintle.CodeInvalidCheck, "otp")
				})
			}
		}
	}
}

// A neighbour plants cookies that come first and do not open. What the user then
// cancels, signs out of or replaces is over for a copy of the cookies too, or the user
// sees that it is not.
func TestAPendingSignInBehindPlantedCookiesEnds(t *testing.T) {
	many := ""
	for n := range 70 {
		many += fmt.Sprintf("%s=planted%d; ", pendingCookie, n)
	}
	for _, strategy := range strategies {
		for name, end := range map[string]func(s *site, w http.ResponseWriter, r *http.Request) error{
			"CancelSignIn": func(s *site, w http.ResponseWriter, r *http.Request) error { return s.auth.CancelSignIn(w, r) },
			"SignOut": func(s *site, w http.ResponseWriter, r *http.Request) error {
				_, err := s.auth.SignOut(w, r, pintle.SignOutOptions{RedirectTo: "/"})
				return err
			},
			"SignIn": func(s *site, w http.ResponseWriter, r *http.Request) error {
				_, err := s.auth.SignIn(w, r, "credentials", pintle.SignInOptions{RedirectTo: "/", Fields: map[string]any{"username": "ada", "password": people["ada"].password}})
				return err
			},
		} {
			for what, planted := range map[string]string{"one": pendingCookie + "=planted; ", "a part": pendingCookie + ".0=planted; ", "many": many} {
				t.Run(fmt.Sprintf("%s, %s, %s", name, what, strategy), func(t *testing.T) {
					s, _ := pendingSite(t, strategy)
					b := s.browser()
					b.isHeld(b.byPassword())
					r, w := b.request(), httptest.NewRecorder()
					r.Header.Set("Cookie", planted+r.Header.Get("Cookie"))
					err := end(s, w, r)
					if what == "many" {
						if name != "SignIn" && (!errors.Is(err, pintle.CodeSignOut) || len(w.Result().Cookies()) > 0) {
							t.Errorf("%s: %v, with the cookies %v", name, err, w.Result().Cookies())
						}
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					b.isNotCompleted(pintle.CodeInvalidCheck, "otp")
				})
			}
		}
	}
}

// AT-7: a completion that fails where the sessions that the browser holds should end
// leaves no session that no browser has.
func TestAFailedCompletionLeavesNoSession(t *testing.T) {
	s, k := pendingSite(t, pintle.StrategyDatabase)
	b := s.browser()
	b.isHeld(b.byPassword())
	b.completes(s.url, "user-ada", "otp")
	b.isHeld(b.byPassword())
	calls := 0
	k.before = func(op string) {
		k.fail()
		if op != "deleteSession" {
			return
		}
		if calls++; calls == 2 { // the first removes the mark
			k.fail("deleteSession")
		}
	}
	_, err := b.complete("otp")
	k.before = nil
	k.fail()
	if !errors.Is(err, pintle.CodeStore) {
		t.Fatal(err)
	}
	if rows := k.sessions(t, "user-ada"); rows != 1 {
		t.Errorf("AT-7 CompleteSignIn failed and the user has %d rows, want that of the session before", rows)
	}
	if sub := b.sub(); sub != "user-ada" {
		t.Errorf("the session before is that of %q", sub)
	}
}

// What is decided before Hold stays when the sign-in is given up, also an account that
// was linked by its address: it is a way in only together with the second factor.
func TestAnAccountThatIsLinkedByItsAddressIsHeldEachTime(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s, k := pendingSite(t, strategy, func(s *site) {
				trusting := s.idp.OIDC("acme")
				trusting.DangerouslyLinkByEmail = true
				s.Providers[0] = trusting
			})
			s.idp.SignInAs(adaElsewhere)
			for range 2 {
				b := s.browser()
				b.isHeld(b.signInWith("acme"))
				b.isSignedOut()
				if err := s.auth.CancelSignIn(httptest.NewRecorder(), b.request()); err != nil {
					t.Fatal(err)
				}
				if o := k.owner(t, "acme", adaElsewhere.Subject); o == nil || o.ID != "user-ada" {
					t.Errorf("the account is linked to %v; the documentation says to user-ada", o)
				}
			}
		})
	}
}

// AC-102: a ban that only Callbacks.SignIn knows does not end a sign-in that waits, and Hold is
// asked again: the documentation says where to check.
func TestHoldAndNotSignInIsAskedAtCompletion(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			var asked []string
			s, _ := pendingSite(t, strategy, func(s *site) {
				hold := s.Callbacks.Hold
				s.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) {
					asked = append(asked, "SignIn")
					return "", nil
				}
				s.Callbacks.Hold = func(ctx context.Context, p *pintle.PendingSignIn) (string, error) {
					asked = append(asked, "Hold")
					return hold(ctx, p)
				}
			})
			b := s.browser()
			b.isHeld(b.byPassword())
			b.completes(s.url, "user-ada", "otp")
			if !slices.Equal(asked, []string{"SignIn", "Hold", "Hold"}) {
				t.Errorf("the callbacks are asked in the order %v", asked)
			}
		})
	}
}

// The guesses of one sign-in can be counted, whatever pages it goes through.
func TestAPendingSignInHasOneNameOnAllItsPages(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			var asked []string
			s, _ := pendingSite(t, strategy, func(s *site) {
				s.Callbacks.Hold = func(_ context.Context, p *pintle.PendingSignIn) (string, error) {
					asked = append(asked, p.ID)
					for _, method := range []string{"otp", "terms"} {
						if !slices.Contains(p.Authentication.Methods, method) {
							return "/second-factor", nil
						}
					}
					return "", nil
				}
			})
			b := s.browser()
			b.isHeld(b.byPassword())
			names := []string{b.pending().ID, b.pending().ID}
			for range 2 { // the second of which finds that the code is missing
				if _, err := b.complete("otp"); err != nil {
					t.Fatal(err)
				}
				names = append(names, b.pending().ID)
			}
			b.completes(s.url, "user-ada", "terms")
			names = append(names, asked...)
			if len(names) != 8 || len(names[0]) != 36 || len(slices.Compact(names)) != 1 {
				t.Errorf("one sign-in has the names %q", names)
			}
			other := s.browser()
			other.isHeld(other.byPassword())
			if other.pending().ID == names[0] {
				t.Error("two sign-ins have one name")
			}
			// One without a name, from before there were names, could be guessed at for ever.
			text := unsealed(t, pendingCookie, other.cookie(pendingCookie))
			delete(text, "id")
			unnamed := s.browser()
			unnamed.plant(csrfCookie, other.cookie(csrfCookie))
			unnamed.plant(pendingCookie, sealed(t, pendingCookie, text))
			if p := unnamed.pending(); p != nil {
				t.Errorf("a sign-in without a name goes on: %+v", p)
			}
			// The name stands in for nothing.
			copied := s.browser()
			copied.csrf()
			copied.plant(pendingCookie, other.pending().ID)
			if p := copied.pending(); p != nil {
				t.Errorf("the name continues the sign-in of %s", p.User.ID)
			}
		})
	}
}
