package pintle_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
)

// guarded is a handler behind a guard that notes whether it was reached.
func guarded(s *site, reached *bool) http.Handler {
	return s.auth.Load(s.auth.Require(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		*reached = true
		_, _ = w.Write([]byte("inside"))
	})))
}

// SH-67: a stranger is refused in the way that suits who is asking.
func TestAGuardRefusesStrangersInTheWayTheyAsk(t *testing.T) {
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

func TestAGuardLetsThroughWhoIsSignedIn(t *testing.T) {
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

// SH-04: whatever is broken, a guard lets nobody through.
func TestAGuardRefusesWhenAnythingIsBroken(t *testing.T) {
	good := sealed(t, sessionCookie, claimsFor("ada"))
	tests := []struct {
		name   string
		change func(*site)
		status int
	}{
		{"a callback that fails", func(s *site) {
			s.Callbacks.Authorized = func(*http.Request, *pintle.Session) (bool, error) { return true, errBroken }
		}, 403},
		{"a callback that says no", func(s *site) {
			s.Callbacks.Authorized = func(*http.Request, *pintle.Session) (bool, error) { return false, nil }
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
			s.Callbacks.Authorized = func(*http.Request, *pintle.Session) (bool, error) { panic(errBroken) }
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
	t.Run("a handler that Load does not wrap", func(t *testing.T) {
		s := newSite(t)
		w, _ := ask(s.auth.Require(http.NotFoundHandler()), "GET", s.url+"/members", nil, "Cookie", sessionCookie+"="+good)
		if w.Code != http.StatusUnauthorized {
			t.Errorf("status %d, want 401", w.Code)
		}
	})
}

// SH-64: a decision is about the path, and nothing in the query makes it another.
func TestTheHostAuthorizesRequests(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.Callbacks.Authorized = func(r *http.Request, session *pintle.Session) (bool, error) {
			switch {
			case strings.HasPrefix(r.URL.Path, "/public"):
				return true, nil
			case strings.HasPrefix(r.URL.Path, "/staff"):
				return session != nil && session.User.Email == "grace@example.com", nil
			}
			return session != nil, nil
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

// W-7, W-8: the host's own sign-in page is asked for with what it needs.
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
