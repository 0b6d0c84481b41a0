package pintle_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

// A form of the host's own sign-in page leads to the page that the user wanted.
func TestASignInPageOfTheHostLeadsToThePageThatWasWanted(t *testing.T) {
	s := newSite(t, func(s *site) { s.Pages.SignIn = "/login" })
	kept := func(target string) *http.Cookie {
		return &http.Cookie{Name: callbackURLCookie, Value: url.QueryEscape(target)}
	}
	for _, tt := range []struct {
		name, referer, kept, next string
	}{
		{"by its parameter", s.url + "/login?callbackUrl=%2Fwanted", "/before", "/wanted"},
		{"after a failure at a provider", s.url + "/login?error=OAuthCallbackError", "/before", "/before"},
		{"without a Referer", "", "/before", "/before"},
		{"with nothing to go by", s.url + "/login", "", "/"},
		{"SH-12 but not of another site", s.url + "/login?callbackUrl=https%3A%2F%2Fevil.example%2F", "", ""},
		{"SH-12 nor by a cookie", s.url + "/login", "https://evil.example/", ""},
		{"unless the form is on another page", s.url + "/prices?callbackUrl=%2Fwanted", "/before", "/prices?callbackUrl=%2Fwanted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, s.url+"/login", nil)
			if tt.referer != "" {
				r.Header.Set("Referer", tt.referer)
			}
			if tt.kept != "" {
				r.AddCookie(kept(tt.kept))
			}
			next, err := s.auth.SignIn(httptest.NewRecorder(), r, "credentials", pintle.SignInOptions{
				Fields: map[string]any{"username": "ada", "password": people["ada"].password},
			})
			if err != nil || next != s.url+tt.next {
				t.Errorf("the browser goes to %q, want %q; %v", next, s.url+tt.next, err)
			}
		})
	}
}

// A host's own form does what the sign-in page does: S-23, S-22.
func TestServerCodeSignsInAndOut(t *testing.T) {
	s := newSite(t)
	post := func(headers ...string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, s.url+"/login", nil)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		return r
	}
	right := map[string]any{"username": "ada", "password": people["ada"].password}
	tests := []struct {
		name     string
		provider string
		options  pintle.SignInOptions
		headers  []string
		next     string // a prefix
		cookies  []string
		code     error
	}{
		{
			"with a password", "credentials",
			pintle.SignInOptions{Fields: right, RedirectTo: "/home"},
			nil,
			s.url + "/home",
			[]string{callbackURLCookie, sessionCookie},
			nil,
		},
		{"with a wrong password", "credentials", pintle.SignInOptions{Fields: map[string]any{"username": "ada"}}, nil, "", nil, pintle.CodeCredentials},
		{
			"back to where the form was", "credentials",
			pintle.SignInOptions{Fields: right},
			[]string{"Referer", s.url + "/form?x=1"},
			s.url + "/form?x=1",
			[]string{callbackURLCookie, sessionCookie},
			nil,
		},
		{
			"SH-12 but not to another site", "credentials",
			pintle.SignInOptions{Fields: right},
			[]string{"Referer", "https://evil.example/form"},
			s.url,
			[]string{callbackURLCookie, sessionCookie},
			nil,
		},
		{
			"SH-12 nor where a caller passes a wish on", "credentials",
			pintle.SignInOptions{Fields: right, RedirectTo: "//evil.example"},
			nil,
			s.url + "//evil.example",
			[]string{callbackURLCookie, sessionCookie},
			nil,
		},
		{
			"with a provider", "acme",
			pintle.SignInOptions{Params: url.Values{"prompt": {"login"}, "client_id": {"evil"}}},
			nil,
			"https://idp.example/authorize?",
			[]string{callbackURLCookie, stateCookie, pkceCookie, nonceCookie},
			nil,
		},
		{"with no provider", "", pintle.SignInOptions{RedirectTo: "/home"}, nil, s.url + "/auth/signin?callbackUrl=http%3A%2F%2Flocalhost%3A3000%2Fhome", nil, nil},
		{"with an unknown one", "unknown", pintle.SignInOptions{}, nil, s.url + "/auth/signin?callbackUrl=", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			next, err := s.auth.SignIn(w, post(tt.headers...), tt.provider, tt.options)
			if !errors.Is(err, tt.code) || (err == nil) != (tt.code == nil) {
				t.Fatalf("SignIn fails with %v, want %v", err, tt.code)
			}
			if !strings.HasPrefix(next, tt.next) || tt.next == "" && next != "" {
				t.Errorf("the browser is to go to %q, want %q", next, tt.next)
			}
			var names []string
			for _, c := range w.Result().Cookies() {
				names = append(names, c.Name)
			}
			if !slices.Equal(names, tt.cookies) {
				t.Errorf("the cookies are %q, want %q", names, tt.cookies)
			}
			if q := mustParse(t, next).Query(); tt.provider == "acme" && (q.Get("client_id") != "acme" || q.Get("prompt") != "login") {
				t.Errorf("the provider is asked %v", q)
			}
			if tt.cookies != nil && w.Header().Get("Cache-Control") != "private" {
				t.Errorf("CK-9 the answer may be cached: %q", w.Header())
			}
			if tt.code != nil {
				if e, ok := errors.AsType[*pintle.Error](err); !ok || e.Provider != tt.provider {
					t.Errorf("the error is %+v", err)
				}
			}
		})
	}
}

// A flow that server code begins ends at the callback route as any other.
func TestAFlowThatServerCodeBeginsComesBack(t *testing.T) {
	s := newSite(t)
	s.net["localhost:3000"] = mountedAt(s, "/login", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next, err := s.auth.SignIn(w, r, "acme", pintle.SignInOptions{RedirectTo: "/home"})
		if err != nil {
			t.Error(err)
		}
		http.Redirect(w, r, next, http.StatusSeeOther)
	}))
	b := s.browser()
	to := b.get("/login").want(http.StatusSeeOther).location()
	b.get(b.consent(mustParse(t, to))).goesTo(s.url + "/home")
	if who := b.who(); who != "Ada Lovelace" {
		t.Errorf("%s is signed in", who)
	}
}

func TestServerCodeSignsOut(t *testing.T) {
	s := newSite(t)
	s.net["localhost:3000"] = mountedAt(s, "/logout", s.auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next, err := s.auth.SignOut(w, r, pintle.SignOutOptions{})
		if err != nil {
			t.Error(err)
		}
		http.Redirect(w, r, next, http.StatusSeeOther)
	})))
	b := s.browser()
	b.signIn("ada")
	s.eventNames()
	r := b.get("/logout", "Referer", s.url+"/page").want(http.StatusSeeOther)
	if r.location() != s.url+"/page" || !r.clears(sessionCookie) {
		t.Errorf("the browser is sent to %q with %q", r.location(), r.header["Set-Cookie"])
	}
	if names := s.eventNames(); !slices.Equal(names, []string{"signOut"}) {
		t.Errorf("the events are %q", names)
	}
	if who := b.who(); who != "anonymous" {
		t.Errorf("%s is signed in", who)
	}
	if r := b.get("/logout", "Referer", "https://evil.example/").want(http.StatusSeeOther); r.location() != s.url {
		t.Errorf("SH-12 the browser is sent to %q", r.location())
	}
}

// CK-8: what server code changes twice in one request is set once.
func TestCookiesOfServerCodeReplaceThoseOfBefore(t *testing.T) {
	s := newSite(t, func(s *site) { s.Session.UpdateAge = -1 })
	s.net["localhost:3000"] = mountedAt(s, "/switch", s.auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Load has renewed the token by now.
		if _, err := s.auth.UpdateSession(w, r, nil); err != nil {
			t.Error(err)
		}
		if _, err := s.auth.SignIn(w, r, "credentials", pintle.SignInOptions{Fields: map[string]any{"username": "grace", "password": people["grace"].password}}); err != nil {
			t.Error(err)
		}
	})))
	b := s.browser()
	b.signIn("ada")
	r := b.get("/switch").want(http.StatusOK)
	if lines := r.header["Set-Cookie"]; len(setCookies(r.header)) != len(lines) {
		t.Errorf("a cookie is set twice: %q", lines)
	}
	if who := b.who(); who != "Grace Hopper" {
		t.Errorf("%s is signed in, want Grace", who)
	}
}

// A browser of Grace registers Ada. What the handler updates afterwards is the session
// of Ada, which the response begins, and not that of Grace, whose cookie came along. A
// sign-out by the handler is not undone either.
func TestUpdateSessionSeesWhatTheResponseSets(t *testing.T) {
	language := pintle.NewClaim[string]("language")
	for _, strategy := range strategies {
		for _, size := range []int{0, 6000} { // of the token, whole and in parts
			for name, tt := range map[string]struct {
				act   func(s *site, w http.ResponseWriter, r *http.Request) error
				user  string
				saved bool
			}{
				"StartSession of another user": {func(s *site, w http.ResponseWriter, r *http.Request) error {
					ada := people["ada"].user
					_, _, err := s.auth.StartSession(w, r, &ada, pintle.StartOptions{})
					return err
				}, "user-ada", false},
				"StartSession of the same user": {func(s *site, w http.ResponseWriter, r *http.Request) error {
					grace := people["grace"].user
					_, _, err := s.auth.StartSession(w, r, &grace, pintle.StartOptions{})
					return err
				}, "user-grace", true},
				"SignIn": {func(s *site, w http.ResponseWriter, r *http.Request) error {
					_, err := s.auth.SignIn(w, r, "credentials", pintle.SignInOptions{RedirectTo: "/", Fields: map[string]any{"username": "ada", "password": people["ada"].password}})
					return err
				}, "user-ada", false},
				"SignOut": {func(s *site, w http.ResponseWriter, r *http.Request) error {
					_, err := s.auth.SignOut(w, r, pintle.SignOutOptions{RedirectTo: "/"})
					return err
				}, "", false},
				"Load":    {func(*site, http.ResponseWriter, *http.Request) error { return nil }, "user-grace", true},
				"no Load": {nil, "user-grace", false},
			} {
				t.Run(fmt.Sprintf("%s, %s, %d bytes", name, strategy, size), func(t *testing.T) {
					s, k := hijackSite(t, strategy, func(s *site) {
						s.Session.Revocation = nil
						s.Session.UpdateAge = -1 // Load sets a cookie, too
						s.Session.Describe = func(r *http.Request) map[string]any {
							if r.Header.Get("X-Long") == "" {
								return nil
							}
							return map[string]any{"pad": strings.Repeat("x", size)}
						}
					})
					for _, person := range []string{"ada", "grace"} {
						k.seedUser(t, people[person].user)
					}
					b := s.browser()
					w, r := httptest.NewRecorder(), b.request()
					r.Header.Set("X-Long", "1")
					grace := people["grace"].user
					if _, _, err := s.auth.StartSession(w, r, &grace, pintle.StartOptions{}); err != nil {
						t.Fatal(err)
					}
					b.takes(w)

					update := func(w http.ResponseWriter, r *http.Request) {
						if before := pintle.SessionFrom(r.Context()); before != nil {
							language.Set(before, "en")
						}
						if tt.act != nil {
							if err := tt.act(s, w, r); err != nil {
								t.Fatal(err)
							}
						}
						session, err := s.auth.UpdateSession(w, r, nil)
						if err != nil || (session == nil) != (tt.user == "") || session != nil && session.User.ID != tt.user {
							t.Errorf("UpdateSession returns %+v, %v", session, err)
						}
						before := pintle.SessionFrom(r.Context())
						if before != nil && before.User.ID != "user-grace" {
							t.Errorf("the session of the request is that of %s now", before.User.ID)
						}
					}
					w, r = httptest.NewRecorder(), b.request()
					if tt.act == nil {
						update(w, r)
					} else {
						s.auth.Load(http.HandlerFunc(update)).ServeHTTP(w, r)
					}
					b.takes(w)
					if sub := b.sub(); sub != tt.user {
						t.Errorf("the browser is that of %q, want %q", sub, tt.user)
					}
					if tt.user == "" {
						return
					}
					if value, saved := language.Get(b.held()); saved != tt.saved {
						t.Errorf("the session has the language %q, %t", value, saved)
					}
				})
			}
		}
	}
}

func TestUpdateSessionWithoutASessionDoesNothing(t *testing.T) {
	s := newSite(t)
	w := httptest.NewRecorder()
	session, err := s.auth.UpdateSession(w, httptest.NewRequest("GET", s.url+"/", nil), map[string]any{"x": 1})
	if session != nil || err != nil || len(w.Header()["Set-Cookie"]) > 0 {
		t.Errorf("UpdateSession returns %v, %v and sets %q", session, err, w.Header()["Set-Cookie"])
	}
}

// Only the tests of a host act as a signed-in user without a cookie.
func TestATestOfTheHostSignsInWithWithSession(t *testing.T) {
	s := newSite(t)
	reached := false
	r := httptest.NewRequest("GET", s.url+"/members", nil)
	r = r.WithContext(pintle.WithSession(r.Context(), &pintle.Session{User: pintle.User{Name: "Kim"}}))
	s.auth.Require(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		reached = pintle.SessionFrom(r.Context()).User.Name == "Kim"
	})).ServeHTTP(httptest.NewRecorder(), r)
	if !reached {
		t.Error("the handler is not reached")
	}
}

// A native application has no cookie that could be cleared: its session has to
// end at the server.
func TestServerCodeEndsTheSessionOfANativeApplication(t *testing.T) {
	strategies := map[string]func(*site){
		"a session in the database": inDatabase(memstore.New()),
		"a token that can be revoked": func(s *site) {
			s.Session.Revocation = &memstore.Revocations{}
		},
	}
	for name, strategy := range strategies {
		t.Run(name, func(t *testing.T) {
			for _, allowed := range []bool{true, false} {
				s := newSite(t, strategy, func(s *site) { s.Session.AllowBearer = allowed })
				b := s.browser()
				b.signInWith("acme")
				authorization := "Bearer " + b.cookie(sessionCookie)

				// The route ends the session of a cookie only.
				anonymous := s.browser()
				anonymous.postForm("/auth/signout", url.Values{"csrfToken": {anonymous.csrf()}}, "Authorization", authorization)
				if who := b.who(); who != "Ada Lovelace" {
					t.Fatalf("allowed %t: after the sign-out route %s is signed in", allowed, who)
				}
				r := httptest.NewRequest(http.MethodDelete, s.url+"/session", nil)
				r.Header.Set("Authorization", authorization)
				w := httptest.NewRecorder()
				if _, err := s.auth.SignOut(w, r, pintle.SignOutOptions{RedirectTo: "/"}); err != nil {
					t.Fatal(err)
				}
				if still := b.who() == "Ada Lovelace"; still == allowed {
					t.Errorf("allowed %t: after SignOut still signed in: %t", allowed, still)
				}
				for _, line := range w.Header()["Set-Cookie"] {
					if strings.HasPrefix(line, sessionCookie) {
						t.Errorf("SignOut sets %s", line)
					}
				}
			}
		})
	}
}
