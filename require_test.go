package pintle_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

// guarded is a handler behind a guard that notes whether it was reached.
func guarded(s *site, reached *bool) http.Handler {
	return s.auth.Load(s.auth.Require(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		*reached = true
		_, _ = w.Write([]byte("inside"))
	})))
}

// SH-67: an anonymous request is rejected in the form that suits its client.
func TestAGuardRefusesAnonymousRequestsInTheirFormat(t *testing.T) {
	const signIn = "/auth/signin?callbackUrl=%2Fmembers%3Fa%3D1"
	tests := []struct {
		name, method string
		headers      []string
		status       int
		location     string
	}{
		{"a browser that navigates", "GET", []string{"Sec-Fetch-Mode", "navigate", "Accept", "*/*"}, 302, signIn},
		{"an old browser", "GET", []string{"Accept", "text/html,*/*;q=0.8"}, 302, signIn},
		{"a browser that looks ahead", "HEAD", []string{"Accept", "text/html"}, 302, signIn},
		{"a script of a page", "GET", []string{"Sec-Fetch-Mode", "cors", "Accept", "text/html"}, 401, ""},
		{"a script that wants JSON", "GET", []string{"Accept", "application/json"}, 401, ""},
		{"a program", "GET", nil, 401, ""},
		{"a form that is posted", "POST", []string{"Accept", "text/html", "Sec-Fetch-Mode", "navigate"}, 401, ""},
		{"a method that changes something", "DELETE", []string{"Accept", "text/html"}, 401, ""},
		{"SH-67 a health check", "GET", []string{"User-Agent", "GoogleHC/1.0"}, 401, ""},
		{"a header that says who it is", "GET", []string{"X-Forwarded-User", "ada", "X-Auth-Request-User", "ada", "Remote-User", "ada"}, 401, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t)
			reached := false
			w, _ := ask(guarded(s, &reached), tt.method, s.url+"/members?a=1", nil, tt.headers...)
			if w.Code != tt.status || w.Header().Get("Location") != tt.location || reached {
				t.Errorf("status %d, Location %q, reached %t; want %d, %q", w.Code, w.Header().Get("Location"), reached, tt.status, tt.location)
			}
			if w.Header().Get("Cache-Control") != "private, no-cache, no-store" || w.Header().Get("Vary") != "Cookie" {
				t.Errorf("CK-9 the refusal may be cached: %q", w.Header())
			}
		})
	}
}

// A browser that has sent a form shows a page for each refusal, with its status. Others get the text
// of the status.
func TestABrowserThatSentAFormGetsAPage(t *testing.T) {
	good := []string{"Cookie", sessionCookie + "=" + sealed(t, sessionCookie, claimsFor("ada"))}
	for name, tt := range map[string]struct {
		change  func(*site)
		headers []string
		status  int
		says    string
	}{
		"signed out": {func(*site) {}, nil, 401, `<a class="button primary" href="http://localhost:3000/auth/signin?callbackUrl=http%3A%2F%2Flocalhost%3A3000">Sign in</a>`},
		"not for this user": {func(s *site) {
			s.Callbacks.Authorized = func(*http.Request, *pintle.Session) (pintle.Access, error) { return pintle.Access{}, nil }
		}, good, 403, "Not for this account"},
		"the store is away": {func(s *site) { s.Session.Revocation = brokenList{} }, good, 503, "Try again in a moment"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, tt.change)
			reached := false
			w, _ := ask(guarded(s, &reached), "POST", s.url+"/members", nil, append([]string{"Sec-Fetch-Mode", "navigate"}, tt.headers...)...)
			if w.Code != tt.status || reached || w.Header().Get("Content-Type") != htmlType || !strings.Contains(w.Body.String(), tt.says) || w.Header().Get("Location") != "" {
				t.Errorf("status %d, reached %t, %s: %s", w.Code, reached, w.Header(), w.Body)
			}
			script, _ := ask(guarded(s, &reached), "POST", s.url+"/members", nil, append([]string{"Sec-Fetch-Mode", "cors"}, tt.headers...)...)
			if script.Code != tt.status || script.Body.String() != http.StatusText(tt.status)+"\n" {
				t.Errorf("a script gets status %d: %s", script.Code, script.Body)
			}
			want := ""
			if tt.status == http.StatusServiceUnavailable {
				want = "5"
			}
			if a, b := w.Header().Get("Retry-After"), script.Header().Get("Retry-After"); a != want || b != want {
				t.Errorf("Retry-After is %q and %q, want %q", a, b, want)
			}
		})
	}
}

func TestAGuardTellsNativeApplicationsHowToAskAgain(t *testing.T) {
	for allowed, want := range map[bool]string{true: "Bearer", false: ""} {
		s := newSite(t, func(s *site) { s.Session.AllowBearer = allowed })
		reached := false
		w, _ := ask(guarded(s, &reached), "GET", s.url+"/members", nil, "Authorization", "Bearer x")
		if got := w.Header().Get("WWW-Authenticate"); w.Code != http.StatusUnauthorized || got != want {
			t.Errorf("allowed %t: status %d, WWW-Authenticate %q, want %q", allowed, w.Code, got, want)
		}
	}
}

func TestAGuardLetsSignedInUsersThrough(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	r := b.get("/members/secret?x=1").want(http.StatusFound)
	page := b.get(r.location()).want(http.StatusOK)
	// The form of the sign-in page leads back to where the browser came from.
	b.get(b.consent(mustParse(t, b.postForm("/auth/signin/acme", page.hidden()).location()))).goesTo(s.url + "/members/secret?x=1")
	if r := b.get("/members/secret?x=1").want(http.StatusOK); r.body != "hello, Ada Lovelace" {
		t.Errorf("the page says %q", r.body)
	}
}

// SH-04: whatever is broken, a guard lets no request pass.
func TestAGuardRefusesWhenAnythingIsBroken(t *testing.T) {
	good := sealed(t, sessionCookie, claimsFor("ada"))
	tests := []struct {
		name   string
		change func(*site)
		status int
	}{
		{"a callback that fails", func(s *site) {
			s.Callbacks.Authorized = func(*http.Request, *pintle.Session) (pintle.Access, error) {
				return pintle.Access{Allowed: true}, errBroken
			}
		}, 403},
		{"a callback that says no", func(s *site) {
			s.Callbacks.Authorized = func(*http.Request, *pintle.Session) (pintle.Access, error) { return pintle.Access{}, nil }
		}, 403},
		{"a token callback that fails", func(s *site) {
			s.Callbacks.JWT = func(context.Context, *pintle.TokenChange) (pintle.Claims, error) { return nil, errBroken }
		}, 302},
		{"a revocation list that fails", func(s *site) { s.Session.Revocation = brokenList{} }, 503},
		{"a host that is not trusted", func(s *site) { s.url = "http://app.example" }, 302},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, tt.change)
			reached := false
			w, _ := ask(guarded(s, &reached), "GET", s.url+"/members", nil, "Accept", "text/html", "Cookie", sessionCookie+"="+good)
			if w.Code != tt.status || reached {
				t.Errorf("status %d, reached %t; want %d", w.Code, reached, tt.status)
			}
		})
	}
	t.Run("a callback that panics", func(t *testing.T) {
		s := newSite(t, func(s *site) {
			s.Callbacks.Authorized = func(*http.Request, *pintle.Session) (pintle.Access, error) { panic(errBroken) }
		})
		reached := false
		func() {
			defer func() { _ = recover() }() // as net/http does
			ask(guarded(s, &reached), "GET", s.url+"/members", nil, "Cookie", sessionCookie+"="+good)
		}()
		if reached {
			t.Error("the handler was reached")
		}
	})
	broken := map[string]func(context.Context, string) (pintle.Config, error){
		"a configuration that cannot be had": func(context.Context, string) (pintle.Config, error) { return pintle.Config{}, errBroken },
		"a configuration without a secret": func(context.Context, string) (pintle.Config, error) {
			return pintle.Config{Providers: []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}}, Getenv: noEnv}, nil
		},
		"a configuration without providers": func(context.Context, string) (pintle.Config, error) {
			return pintle.Config{Providers: []pintle.Provider{nil}, Secrets: []string{secret}, Getenv: noEnv}, nil
		},
	}
	for name, config := range broken {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.auth = pintle.NewFunc(func(*http.Request) string { return "" }, config)
			reached := false
			w, _ := ask(guarded(s, &reached), "GET", s.url+"/members", nil, "Accept", "text/html", "Cookie", sessionCookie+"="+good)
			if w.Code != http.StatusInternalServerError || reached {
				t.Errorf("status %d, reached %t; want 500", w.Code, reached)
			}
		})
	}
}

// SH-64: a decision is about the path, and nothing in the query makes it another.
func TestTheHostAuthorizesRequests(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.Callbacks.Authorized = func(r *http.Request, session *pintle.Session) (pintle.Access, error) {
			switch {
			case strings.HasPrefix(r.URL.Path, "/public"):
				return pintle.Access{Allowed: true}, nil
			case strings.HasPrefix(r.URL.Path, "/staff"):
				return pintle.Access{Allowed: session != nil && session.User.Email == "grace@example.com"}, nil
			}
			return pintle.Access{Allowed: session != nil}, nil
		}
	})
	tests := []struct {
		path, as string
		status   int
	}{
		{"/public", "", 200},
		{"/public/x", "ada", 200},
		{"/home", "", 302},
		{"/home?x=/public", "", 302},
		{"/home#/public", "", 302},
		{"/home", "ada", 200},
		{"/staff", "", 302},
		{"/staff", "ada", 403},
		{"/staff", "grace", 200},
	}
	for _, tt := range tests {
		t.Run(tt.path+" as "+tt.as, func(t *testing.T) {
			headers := []string{"Accept", "text/html"}
			if tt.as != "" {
				headers = append(headers, "Cookie", sessionCookie+"="+sealed(t, sessionCookie, claimsFor(tt.as)))
			}
			reached := false
			w, _ := ask(guarded(s, &reached), "GET", s.url+tt.path, nil, headers...)
			if w.Code != tt.status || reached != (tt.status == 200) {
				t.Errorf("status %d, reached %t; want %d", w.Code, reached, tt.status)
			}
		})
	}
}

// SH-12, SH-48, SH-70, W-30: the way back is a path of this site, whatever the
// request was for.
func TestTheWayBackStaysOnTheSite(t *testing.T) {
	s := newSite(t)
	for path, back := range map[string]string{
		"/a/b?c=d&e=%2F":            "/a/b?c=d&e=%2F",
		"//evil.example/x":          "/",
		"///evil.example":           "/",
		"/\\evil.example":           "/%5Cevil.example",
		"/%2f%2fevil.example":       "/%2f%2fevil.example",
		"/x?callbackUrl=//evil":     "/x?callbackUrl=//evil",
		"/a%0d%0aSet-Cookie:%20a=b": "/a%0d%0aSet-Cookie:%20a=b",
		"/a%00":                     "/a%00",
		"/é":                        "/%C3%A9",
		"/a;b/../c":                 "/a;b/../c",
	} {
		t.Run(path, func(t *testing.T) {
			target, err := url.ParseRequestURI(path)
			if err != nil {
				t.Fatal(err)
			}
			r := &http.Request{Method: "GET", URL: target, Host: "localhost:3000", Header: http.Header{"Accept": {"text/html"}}}
			reached := false
			w := httptest.NewRecorder()
			guarded(s, &reached).ServeHTTP(w, r)
			location := w.Header().Get("Location")
			if !staysOn(s.url, location) || !strings.HasPrefix(location, "/auth/signin?") {
				t.Fatalf("the browser is sent to %q", location)
			}
			if got := mustParse(t, location).Query().Get("callbackUrl"); got != back || !staysOn(s.url, got) {
				t.Errorf("the way back is %q, want %q", got, back)
			}
		})
	}
}

// A guard around everything does not send a browser in circles.
func TestAGuardDoesNotSendBrowsersInCircles(t *testing.T) {
	for _, page := range []string{"", "/login", "/login?theme=dark", "http://localhost:3000/login"} {
		t.Run(page, func(t *testing.T) {
			s := newSite(t, func(s *site) { s.Pages.SignIn = page })
			reached := false
			s.net["localhost:3000"] = guarded(s, &reached)
			b := s.browser()
			r := b.get("/members").want(http.StatusFound)
			for range 3 {
				if r = b.get(r.location()); r.status != http.StatusFound {
					break
				}
			}
			if r.status != http.StatusForbidden {
				t.Errorf("the sign-in page behind the guard answers %d, Location %q", r.status, r.location())
			}
		})
	}
}

// W-7, W-8: the redirect to the host's own sign-in page has the parameters it
// needs.
func TestAGuardLeadsToTheSignInPageOfTheHost(t *testing.T) {
	for page, want := range map[string]string{
		"/login":                            "/login?callbackUrl=%2Fmembers",
		"/login?theme=dark":                 "/login?theme=dark&callbackUrl=%2Fmembers",
		"https://accounts.example.com/":     "https://accounts.example.com/?callbackUrl=%2Fmembers",
		"https://accounts.example.com/?x=1": "https://accounts.example.com/?x=1&callbackUrl=%2Fmembers",
	} {
		s := newSite(t, func(s *site) { s.Pages.SignIn = page })
		s.browser().get("/members").goesTo(want)
	}
}

// A guard reads the session where nothing else has, and once.
func TestAGuardWorksWithAndWithoutLoadInAnyOrder(t *testing.T) {
	inside := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("hello, " + pintle.SessionFrom(r.Context()).User.Name))
	})
	for name, wrap := range map[string]func(*pintle.Auth) http.Handler{
		"Require alone":       func(a *pintle.Auth) http.Handler { return a.Require(inside) },
		"Require inside Load": func(a *pintle.Auth) http.Handler { return a.Load(a.Require(inside)) },
		"Load inside Require": func(a *pintle.Auth) http.Handler { return a.Require(a.Load(inside)) },
	} {
		t.Run(name, func(t *testing.T) {
			read := 0
			s := newSite(t, func(s *site) {
				s.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
					read++
					return c.Claims, nil
				}
			})
			good := sealed(t, sessionCookie, claimsFor("ada"))
			w, _ := ask(wrap(s.auth), "GET", s.url+"/members", nil, "Cookie", sessionCookie+"="+good)
			if w.Code != http.StatusOK || w.Body.String() != "hello, Ada Lovelace" || read != 1 {
				t.Errorf("status %d, %q, the session was read %d times", w.Code, w.Body, read)
			}
			w, _ = ask(wrap(s.auth), "GET", s.url+"/members", nil, "Cookie", sessionCookie+"=forged")
			if w.Code != http.StatusUnauthorized {
				t.Errorf("a forged cookie gets status %d", w.Code)
			}
		})
	}
}

// The session of one Auth is not valid for another, which may have other rules
// for its users.
func TestAGuardTakesNoSessionOfAnotherAuth(t *testing.T) {
	s := newSite(t)
	staff := newSite(t, func(s *site) { s.Secrets = []string{"the secret of the staff, 32 characters"} })
	reached := false
	page := s.auth.Load(staff.auth.Require(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true })))
	good := sealed(t, sessionCookie, claimsFor("ada"))
	if w, _ := ask(page, "GET", s.url+"/staff", nil, "Cookie", sessionCookie+"="+good); w.Code != http.StatusUnauthorized || reached {
		t.Errorf("status %d, reached %t", w.Code, reached)
	}
	// A test of the host signs in to all of them.
	r := httptest.NewRequest("GET", s.url+"/staff", nil)
	r = r.WithContext(pintle.WithSession(r.Context(), &pintle.Session{User: pintle.User{ID: "1"}}))
	page.ServeHTTP(httptest.NewRecorder(), r)
	if !reached {
		t.Error("WithSession does not sign in")
	}
}

// twoAuths are those of customers and of staff in one program, with a store, a
// cookie and a path for each, and the request of a customer who is signed in. The
// one of the staff lets requests without a session pass.
func twoAuths(t *testing.T) (customers, staff *pintle.Auth, r *http.Request) {
	t.Helper()
	make := func(name string) *pintle.Auth {
		auth, err := pintle.New(pintle.Config{
			Providers: []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}}, Secrets: []string{secret}, Getenv: noEnv,
			Cookies: pintle.Cookies{SessionToken: pintle.Cookie{Name: name}}, BasePath: "/" + name, Store: memstore.New(),
			Session: pintle.SessionConfig{Strategy: pintle.StrategyJWT}, Logger: new(logBook).logger(),
			Callbacks: pintle.Callbacks{Authorized: func(_ *http.Request, s *pintle.Session) (pintle.Access, error) {
				return pintle.Access{Allowed: s != nil || name == "staff"}, nil
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return auth
	}
	customers, staff = make("customers"), make("staff")
	r = httptest.NewRequest("GET", "http://localhost:3000/", nil)
	r.Header.Set("Cookie", "customers="+sealed(t, "customers", claimsFor("ada")))
	return customers, staff, r
}

// SA-M3: Inside the Load of one Auth, SessionFrom returns no session of another,
// whose users may have the ids of administrators here.
func TestTheSessionOfAnotherAuthEndsAtLoad(t *testing.T) {
	customers, staff, request := twoAuths(t)
	unknown := pintle.NewFunc(func(*http.Request) string { return "" }, func(context.Context, string) (pintle.Config, error) { return pintle.Config{}, pintle.ErrNotFound })
	forget := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("Cookie")
			next.ServeHTTP(w, r)
		})
	}
	for name, tt := range map[string]struct {
		wrap func(http.Handler) http.Handler
		want string
	}{
		"the Load of the staff":                   {func(h http.Handler) http.Handler { return customers.Load(staff.Load(h)) }, "anonymous"},
		"the guard of the staff":                  {func(h http.Handler) http.Handler { return customers.Load(staff.Require(h)) }, "anonymous"},
		"the Load inside the guard":               {func(h http.Handler) http.Handler { return customers.Require(staff.Load(h)) }, "anonymous"},
		"where the cookies were removed":          {func(h http.Handler) http.Handler { return customers.Load(forget(staff.Load(h))) }, "anonymous"},
		"where the guard gets no cookies":         {func(h http.Handler) http.Handler { return customers.Load(forget(staff.Require(h))) }, "anonymous"},
		"where there is no configuration":         {func(h http.Handler) http.Handler { return customers.Load(unknown.Load(h)) }, "anonymous"},
		"the Load of the customers":               {customers.Load, "Ada Lovelace"},
		"the Load of the customers, further in":   {func(h http.Handler) http.Handler { return customers.Load(staff.Load(customers.Load(h))) }, "Ada Lovelace"},
		"the guard of the customers, further in":  {func(h http.Handler) http.Handler { return customers.Load(staff.Load(customers.Require(h))) }, "Ada Lovelace"},
		"the Load of the staff on the other side": {func(h http.Handler) http.Handler { return staff.Load(customers.Load(h)) }, "Ada Lovelace"},
	} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			tt.wrap(http.HandlerFunc(sayWho)).ServeHTTP(w, request.Clone(t.Context()))
			if got := w.Body.String(); w.Code != http.StatusOK || got != "hello, "+tt.want {
				t.Errorf("status %d, %q, want %q", w.Code, got, "hello, "+tt.want)
			}
		})
	}
}

// A test of the host that signs in by WithSession stays signed in whatever cookies
// its request has.
func TestAGivenSessionIsOneOfEveryAuth(t *testing.T) {
	customers, staff, r := twoAuths(t)
	given := &pintle.Session{User: pintle.User{ID: "1", Name: "Grace Hopper"}}
	r = r.WithContext(pintle.WithSession(r.Context(), given))
	r.Header.Set("Cookie", "theme=dark")
	w := httptest.NewRecorder()
	staff.Load(customers.Load(staff.Load(customers.Require(http.HandlerFunc(sayWho))))).ServeHTTP(w, r)
	if got := w.Body.String(); got != "hello, Grace Hopper" {
		t.Errorf("status %d, %q", w.Code, got)
	}
}

func TestASessionWithoutAUserPassesNoGuard(t *testing.T) {
	given := &pintle.Session{}
	s := newSite(t, func(s *site) {
		s.Callbacks.Authorized = func(_ *http.Request, session *pintle.Session) (pintle.Access, error) {
			given = session
			return pintle.Access{Allowed: session != nil}, nil
		}
	})
	reached := false
	empty := sealed(t, sessionCookie, map[string]any{"role": "admin"})
	w, _ := ask(guarded(s, &reached), "GET", s.url+"/members", nil, "Cookie", sessionCookie+"="+empty)
	if w.Code != http.StatusUnauthorized || reached || given != nil {
		t.Errorf("status %d, reached %t, Authorized was given %+v", w.Code, reached, given)
	}
}

// S-50: a response of the host takes the place of the refusal.
func TestTheHostAnswersARequestItDoesNotAuthorize(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.Callbacks.Authorized = func(r *http.Request, _ *pintle.Session) (pintle.Access, error) {
			if r.URL.Path == "/teapot" {
				return pintle.Access{Allowed: true, Response: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.WriteHeader(http.StatusTeapot)
				})}, nil
			}
			return pintle.Access{Response: http.RedirectHandler("/upgrade", http.StatusSeeOther)}, nil
		}
	})
	reached := false
	w, _ := ask(guarded(s, &reached), "GET", s.url+"/members", nil, "Accept", "text/html")
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/upgrade" || w.Header().Get("Cache-Control") != "private, no-cache, no-store" {
		t.Errorf("status %d, %q", w.Code, w.Header())
	}
	if w, _ = ask(guarded(s, &reached), "GET", s.url+"/teapot", nil); w.Code != http.StatusTeapot || reached {
		t.Errorf("status %d, reached %t", w.Code, reached)
	}
}

func TestTheHostWritesEveryRefusal(t *testing.T) {
	var got pintle.Refusal
	s := newSite(t, func(s *site) {
		s.Refuse = func(w http.ResponseWriter, r *http.Request, f pintle.Refusal) {
			got = f
			if f.Navigation {
				f.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(f.Status)
			_, _ = fmt.Fprintf(w, `{"status":%d,"signIn":%q}`, f.Status, f.SignIn)
		}
		s.Callbacks.Authorized = func(r *http.Request, session *pintle.Session) (pintle.Access, error) {
			return pintle.Access{Allowed: session != nil && r.URL.Path != "/staff"}, nil
		}
	})
	good := sealed(t, sessionCookie, claimsFor("ada"))
	tests := []struct {
		name, path string
		headers    []string
		status     int
		body       string
		signedIn   bool
	}{
		{"a script that is signed out", "/members", nil, 401, `{"status":401,"signIn":"/auth/signin?callbackUrl=%2Fmembers"}`, false},
		{"a script of another user", "/staff", []string{"Cookie", sessionCookie + "=" + good}, 403, `{"status":403,"signIn":""}`, true},
		{"a browser", "/members", []string{"Accept", "text/html"}, 302, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reached := false
			w, _ := ask(guarded(s, &reached), "GET", s.url+tt.path, nil, tt.headers...)
			if w.Code != tt.status || w.Body.String() != tt.body || reached || (got.Session != nil) != tt.signedIn {
				t.Errorf("status %d, %s, reached %t, session %v", w.Code, w.Body, reached, got.Session)
			}
		})
	}
	t.Run("while the revocation list does not answer", func(t *testing.T) {
		s.Session.Revocation = brokenList{}
		again := newSite(t, func(a *site) { a.Refuse, a.Session.Revocation = s.Refuse, brokenList{} })
		reached := false
		if w, _ := ask(guarded(again, &reached), "GET", s.url+"/members", nil, "Cookie", sessionCookie+"="+good); w.Code != http.StatusServiceUnavailable || got.Status != 503 {
			t.Errorf("status %d", w.Code)
		}
	})
}

// A sign-in page that no user can reach is the operator's to repair, so the log
// names the mistake and the fix, once.
func TestAGuardedSignInPageIsLoggedOnceWithItsFix(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*site)
		page   string
		fix    string
	}{
		"the routes are behind the guard":     {func(*site) {}, "/auth/signin", "mount the Auth at /auth/"},
		"the base path is not the mount path": {func(s *site) { s.BasePath = "/api/auth" }, "/api/auth/signin", "mount the Auth at /api/auth/"},
		"the host's page is behind the guard": {func(s *site) { s.Pages.SignIn = "/login" }, "/login", "Config.Pages.SignIn"},
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			s := newSite(t, tt.change, func(s *site) { s.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
			reached := false
			for range 3 {
				if w, _ := ask(guarded(s, &reached), "GET", s.url+tt.page, nil, "Accept", "text/html"); w.Code != http.StatusForbidden {
					t.Fatalf("status %d", w.Code)
				}
			}
			if strings.Count(log.String(), "SignInPageLoop") != 1 || !strings.Contains(log.String(), tt.fix) || !strings.Contains(log.String(), "level=ERROR") {
				t.Errorf("the log:\n%s", log.String())
			}
		})
	}
}
