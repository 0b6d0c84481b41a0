package pintle_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
)

const (
	htmlType    = "text/html; charset=utf-8"
	badRequest  = `"Bad request."`
	serverFault = `{"message":"There was a problem with the server configuration. Check the server logs for more information."}`
)

func TestEveryRouteAnswersInItsWay(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	tests := []struct {
		method, path string
		status       int
		contentType  string
		location     string
	}{
		{"GET", "/auth/providers", 200, "application/json", ""},
		{"GET", "/auth/csrf", 200, "application/json", ""},
		{"GET", "/auth/session", 200, "application/json", ""},
		{"GET", "/auth/signin", 200, htmlType, ""},
		{"GET", "/auth/signout", 200, htmlType, ""},
		{"GET", "/auth/verify-request", 200, htmlType, ""},
		{"GET", "/auth/error", 200, htmlType, ""},
		{"GET", "/auth/error?error=Configuration", 500, htmlType, ""},
		{"GET", "/auth/error?error=AccessDenied", 403, htmlType, ""},
		{"GET", "/auth/error?error=Verification", 403, htmlType, ""},
		{"GET", "/auth/error?error=constructor", 200, htmlType, ""}, // W-5
		{"POST", "/auth/session", 200, "application/json", ""},
		{"POST", "/auth/signin", 302, "", s.url + "/auth/signin"},
		{"POST", "/auth/signin/undefined", 302, "", s.url + "/auth/signin"},
		{"POST", "/auth/signin/credentials", 302, "", s.url + "/auth/signin"},
		{"POST", "/auth/signout", 302, "", s.url},

		// A path that is not a route of the method is an error of the form's
		// author.
		{"GET", "/auth/signin/acme", 302, "", s.url + "/auth/error?error=Configuration"},
		{"POST", "/auth/providers", 302, "", s.url + "/auth/error?error=Configuration"},
		{"POST", "/auth/csrf", 302, "", s.url + "/auth/error?error=Configuration"},
		{"POST", "/auth/error", 302, "", s.url + "/auth/error?error=Configuration"},
		{"POST", "/auth/verify-request", 302, "", s.url + "/auth/error?error=Configuration"},
		{"GET", "/auth/callback", 302, "", s.url + "/auth/error?error=Configuration"},
		{"GET", "/auth/callback/credentials", 302, "", s.url + "/auth/error?error=Configuration"},
		{"POST", "/auth/signin/unknown", 302, "", s.url + "/auth/error?error=Configuration"},
		{"GET", "/auth/callback/unknown", 302, "", s.url + "/auth/error?error=Configuration"},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			var r *reply
			if tt.method == "POST" {
				r = b.post(tt.path)
			} else {
				r = b.get(tt.path)
			}
			if r.status != tt.status || r.header.Get("Content-Type") != tt.contentType || r.location() != tt.location {
				t.Errorf("status %d, Content-Type %q, Location %q; want %d, %q, %q",
					r.status, r.header.Get("Content-Type"), r.location(), tt.status, tt.contentType, tt.location)
			}
		})
	}
}

func TestOtherMethodsThanGetAndPostAreRefused(t *testing.T) {
	s := newSite(t)
	for _, method := range []string{"HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "get", "PROPFIND", "X"} {
		for _, path := range []string{"/auth/session", "/auth/signout", "/auth/callback/acme?code=1&state=2"} {
			w, _ := ask(s.auth, method, s.url+path, nil)
			if w.Code != http.StatusBadRequest || len(w.Header()["Set-Cookie"]) > 0 {
				t.Errorf("%s %s answers %d with cookies %q, want 400 and none", method, path, w.Code, w.Header()["Set-Cookie"])
			}
		}
	}
}

// SH-33, SH-48, SH-70, ASVS-6.3.4, W-3: a path is one route in one spelling, but
// for slashes that clients double; everything else is no route.
func TestPathsAreReadAsTheyAreSent(t *testing.T) {
	tests := []struct {
		name, base, path string
		status           int
	}{
		{"a route", "/auth", "/auth/session", 200},
		{"with a slash at the end", "/auth", "/auth/session/", 200},
		{"with doubled slashes", "/auth", "/auth//session", 200},
		{"W-3 without the boundary", "/auth", "/authsession", 400},
		{"W-3 with the base as a pattern", "/a.th", "/auth/session", 400},
		{"W-3 a base that looks like a pattern", "/a.th", "/a.th/session", 200},
		{"a prefix before the base", "/auth", "/x/auth/session", 400},
		{"SH-48 a doubled slash before the base", "/auth", "//auth/session", 400},
		{"SH-33 a dot segment", "/auth", "/auth/./session", 400},
		{"SH-33 two dots", "/auth", "/auth/../auth/session", 400},
		{"SH-33 an encoded letter", "/auth", "/auth/%73ession", 400},
		{"SH-70 an encoded slash", "/auth", "/auth%2Fsession", 400},
		{"SH-33 capitals", "/auth", "/auth/Session", 400},
		{"capitals in the base", "/auth", "/Auth/session", 400},
		{"SH-70 a parameter in the path", "/auth", "/auth/session;x", 400},
		{"a provider where none belongs", "/auth", "/auth/session/acme", 400},
		{"too many parts", "/auth", "/auth/callback/acme/x", 400},
		{"the base alone", "/auth", "/auth", 400},
		{"the base and a slash", "/auth", "/auth/", 400},
		{"no route", "/auth", "/auth/login", 400},
		{"an encoded provider", "/auth", "/auth/callback/%61cme", 302}, // which is not found
		{"a longer base", "/api/auth", "/api/auth/session", 200},
		{"the default base below another", "/api/auth", "/auth/session", 400},
		{"a base with a slash at the end", "/api/auth/", "/api/auth/session", 200},
		{"a base at the root", "/", "/session", 200},
		{"a base at the root, with doubled slashes", "/", "//session", 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, func(s *site) { s.BasePath = tt.base })
			r := &http.Request{Method: "GET", URL: &url.URL{}, Host: "localhost:3000", Header: http.Header{}}
			var err error
			if r.URL, err = url.ParseRequestURI("http://localhost:3000" + tt.path); err != nil {
				t.Fatal(err)
			}
			w := httptest.NewRecorder()
			s.auth.ServeHTTP(w, r)
			if w.Code != tt.status {
				t.Errorf("GET %s with base path %s answers %d, want %d", tt.path, tt.base, w.Code, tt.status)
			}
			if w.Code == http.StatusBadRequest && w.Body.String() != badRequest {
				t.Errorf("the body is %s, want %s", w.Body, badRequest)
			}
		})
	}
}

// FuzzPath requests arbitrary paths: only a path that is spelled like a route
// is treated as one.
func FuzzPath(f *testing.F) {
	for _, path := range []string{
		"/auth/session", "/auth//session/", "/authsession", "/auth/%73ession", "/auth/../auth/csrf", "/auth/callback/acme",
		"/auth/signin//acme", "/auth/signin/undefined", "//auth/session", "/auth/error;x", "/auth/\x00", "/auth/session%2f", "/auth\\session",
	} {
		f.Add(path)
	}
	route := regexp.MustCompile(`^/auth/+((providers|session|csrf|signout|verify-request|error)|(signin|callback|webauthn-options)(/+[^/]*)?)/*$`)
	auth := plainService(f)
	f.Fuzz(func(t *testing.T, path string) {
		target, err := url.ParseRequestURI(path)
		if err != nil || target.Host != "" {
			return
		}
		r := &http.Request{Method: "GET", URL: target, Host: "localhost", Header: http.Header{}}
		w := httptest.NewRecorder()
		auth.ServeHTTP(w, r)
		if taken, spelled := w.Code != http.StatusBadRequest, route.MatchString(target.EscapedPath()); taken != spelled {
			t.Errorf("GET %q answers %d; it is spelled like a route: %t", path, w.Code, spelled)
		}
	})
}

// plainService is a service with password sign-in and nothing else.
func plainService(tb testing.TB) *pintle.Auth {
	tb.Helper()
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}},
		Secrets:   []string{secret},
		Getenv:    noEnv,
		Logger:    slog.New(slog.DiscardHandler),
	})
	if err != nil {
		tb.Fatal(err)
	}
	return auth
}

func TestBodiesAreReadByTheirType(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	token := b.csrf()
	form := url.Values{"csrfToken": {token}, "username": {"ada"}, "password": {people["ada"].password}}.Encode()
	object, _ := json.Marshal(map[string]string{"csrfToken": token, "username": "ada", "password": people["ada"].password})
	tests := []struct {
		name, contentType, body string
		code                    string // of the error that the browser sees
	}{
		{"a form", "application/x-www-form-urlencoded", form, ""},
		{"a form with a charset", "application/x-www-form-urlencoded; charset=utf-8", form, ""},
		{"JSON", "application/json", string(object), ""},
		{"JSON with a charset", "application/json;charset=UTF-8", string(object), ""},
		{"a form as text, which any site may post", "text/plain", form, "MissingCSRF"},
		{"JSON as text, which any site may post", "text/plain", string(object), "MissingCSRF"},
		{"a form without a type", "", form, "MissingCSRF"},
		{"a form as multipart", "multipart/form-data; boundary=x", form, "MissingCSRF"},
		{"JSON null", "application/json", "null", "MissingCSRF"},
		{"a JSON array", "application/json", "[" + string(object) + "]", "MissingCSRF"},
		{"a JSON text", "application/json", `"csrfToken"`, "MissingCSRF"},
		{"an empty body", "application/json", "", "MissingCSRF"},
		{"a token that is no text", "application/json", `{"csrfToken":{"a":1}}`, "MissingCSRF"},
		{"a callback URL that is no text", "application/json", `{"csrfToken":"` + token + `","callbackUrl":7}`, "Configuration"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := b.do("POST", "/auth/callback/credentials", strings.NewReader(tt.body), "Content-Type", tt.contentType).want(http.StatusFound)
			if got := r.errorCode(); got != tt.code {
				t.Errorf("the browser is told %q, want %q", got, tt.code)
			}
		})
	}
	for _, body := range []string{"{", `{"csrfToken":`, "{'a':1}", "\x00", `{"a":1} x`} {
		r := b.do("POST", "/auth/signout", strings.NewReader(body), "Content-Type", "application/json").want(http.StatusBadRequest)
		if r.body != badRequest {
			t.Errorf("JSON %q is answered with %s", body, r.body)
		}
	}
}

// A client cannot decide how much memory a request takes.
func TestBodiesAreBounded(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	token := b.csrf()
	for _, tt := range []struct {
		name, contentType string
		size              int
		status            int
	}{
		{"a long form", "application/x-www-form-urlencoded", 200 << 10, http.StatusFound},
		{"a form beyond 256 KiB", "application/x-www-form-urlencoded", 257 << 10, http.StatusRequestEntityTooLarge},
		{"JSON beyond 256 KiB", "application/json", 257 << 10, http.StatusRequestEntityTooLarge},
		{"text of any length, which is not read", "text/plain", 8 << 20, http.StatusFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := "csrfToken=" + token + "&x=" + strings.Repeat("x", tt.size)
			if tt.contentType == "application/json" {
				body = `{"x":"` + strings.Repeat("x", tt.size) + `"}`
			}
			b.do("POST", "/auth/signout", strings.NewReader(body), "Content-Type", tt.contentType).want(tt.status)
		})
	}
	t.Run("a form of a hundred thousand fields", func(t *testing.T) {
		b.do("POST", "/auth/signout", strings.NewReader(strings.Repeat("a&", 100_000)), "Content-Type", "application/x-www-form-urlencoded").
			want(http.StatusRequestEntityTooLarge)
	})
	t.Run("deeply nested JSON", func(t *testing.T) {
		b.do("POST", "/auth/signout", strings.NewReader(strings.Repeat("[", 100_000)), "Content-Type", "application/json").want(http.StatusBadRequest)
	})
	t.Run("a query of a hundred thousand members", func(t *testing.T) {
		b.get("/auth/session?" + strings.Repeat("a&", 100_000)).want(http.StatusBadRequest)
	})
}

// X-Auth-Return-Redirect asks for the address of a redirect instead of the
// redirect, as scripts need it.
func TestScriptsAreToldWhereARedirectLeads(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	header := []string{"X-Auth-Return-Redirect", ""} // its presence counts
	read := func(t *testing.T, r *reply) string {
		t.Helper()
		var answer struct{ URL string }
		r.want(http.StatusOK).json(&answer)
		if got := r.header.Get("Content-Type"); got != "application/json" {
			t.Errorf("Content-Type is %q", got)
		}
		return answer.URL
	}
	form := func() url.Values { return url.Values{"csrfToken": {b.csrf()}, "callbackUrl": {"/next"}} }

	t.Run("a provider", func(t *testing.T) {
		r := b.postForm("/auth/signin/acme", form(), header...)
		if got := read(t, r); !strings.HasPrefix(got, "https://idp.example/authorize?") || r.location() != got {
			t.Errorf("url is %q and Location %q, want both at the provider", got, r.location())
		}
		if b.cookie(pkceCookie) == "" {
			t.Error("the answer does not set the cookies of the checks")
		}
	})
	t.Run("a sign-out", func(t *testing.T) {
		if got := read(t, b.postForm("/auth/signout", form(), header...)); got != s.url+"/next" {
			t.Errorf("url is %q", got)
		}
	})
	t.Run("an error", func(t *testing.T) {
		r := b.postForm("/auth/callback/credentials", form(), header...)
		want := s.url + "/auth/signin?error=CredentialsSignin&code=credentials"
		if got := read(t, r); got != want {
			t.Errorf("url is %q, want %q", got, want)
		}
		if r.location() != "" || len(r.header["Set-Cookie"]) > 0 {
			t.Errorf("the answer has Location %q and cookies %q", r.location(), r.header["Set-Cookie"])
		}
	})
	t.Run("but not after a bad request", func(t *testing.T) {
		if r := b.get("/auth/nowhere", header...).want(http.StatusBadRequest); r.body != badRequest {
			t.Errorf("the body is %s", r.body)
		}
	})
	t.Run("nor when an update of the session fails", func(t *testing.T) {
		if r := b.postForm("/auth/session", url.Values{}, header...).want(http.StatusBadRequest); r.body != "null" {
			t.Errorf("the body is %s", r.body)
		}
	})
	t.Run("a page stays a page", func(t *testing.T) {
		if r := b.get("/auth/signin", header...).want(http.StatusOK); r.header.Get("Content-Type") != htmlType {
			t.Errorf("Content-Type is %q", r.header.Get("Content-Type"))
		}
	})
}

// ASVS-3.5.1: a GET leaves everything as it was, whatever it asks for.
// ASVS-7.6.2: it makes no session either, unless it ends a flow of the browser.
func TestGetRequestsChangeNothing(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	b.signIn("ada")
	s.eventNames()
	token := b.csrf()
	for _, path := range []string{
		"/auth/signout", "/auth/signout?csrfToken=" + token, "/auth/signin?csrfToken=" + token, "/auth/signin/acme?csrfToken=" + token,
		"/auth/callback/credentials?username=grace&password=nanoseconds&csrfToken=" + token, "/auth/callback/acme?code=x&state=y",
		"/auth/error", "/auth/verify-request", "/auth/csrf", "/auth/providers",
	} {
		r := b.get(path)
		if set := r.cookies()[sessionCookie]; set != nil {
			t.Errorf("GET %s sets the session cookie", path)
		}
	}
	if who := b.who(); who != "Ada Lovelace" {
		t.Errorf("%s is signed in, want Ada", who)
	}
	if events := s.eventNames(); len(events) > 0 {
		t.Errorf("there were events: %q", events)
	}
}

// SH-32: members of a body that name a user, a role or a session change nothing.
func TestNoFieldOfABodyChangesTheUserOfARequest(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	b.signIn("ada")
	for _, path := range []string{"/auth/session", "/auth/signin/acme", "/auth/signin"} {
		b.postJSON(path, map[string]any{
			"csrfToken": b.csrf(), "user": map[string]any{"id": "user-grace"}, "userId": "user-grace", "id": "user-grace",
			"sub": "user-grace", "role": "admin", "emailVerified": true, "data": map[string]any{"sub": "user-grace", "name": "Grace Hopper"},
		})
		if who := b.who(); who != "Ada Lovelace" {
			t.Errorf("after POST %s %s is signed in", path, who)
		}
	}
}

func TestTheProvidersAreListedInOrder(t *testing.T) {
	s := newSite(t)
	r := s.browser().get("/auth/providers").want(http.StatusOK)
	want := `{"acme":{"id":"acme","name":"Test identity provider","type":"oidc","signinUrl":"http://localhost:3000/auth/signin/acme","callbackUrl":"http://localhost:3000/auth/callback/acme"},` +
		`"credentials":{"id":"credentials","name":"Credentials","type":"credentials","signinUrl":"http://localhost:3000/auth/signin/credentials","callbackUrl":"http://localhost:3000/auth/callback/credentials"}}`
	if r.body != want {
		t.Errorf("the providers are\n%s, want\n%s", r.body, want)
	}
	if len(r.header["Set-Cookie"]) > 0 {
		t.Errorf("the list sets cookies: %q", r.header["Set-Cookie"])
	}
}

// CK-9, W-35, BCP-13: what is one person's is not kept by caches and shown
// in no frame.
func TestPrivateAnswersStayPrivate(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	b.signIn("ada")
	for _, path := range []string{"/auth/session", "/auth/csrf", "/auth/signin", "/auth/signout", "/auth/error", "/auth/verify-request"} {
		h := b.get(path).want(http.StatusOK).header
		if !strings.Contains(h.Get("Cache-Control"), "no-store") && h.Get("Vary") != "*" {
			t.Errorf("GET %s may be cached: Cache-Control %q, Vary %q", path, h.Get("Cache-Control"), h.Get("Vary"))
		}
		if h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("GET %s may be sniffed", path)
		}
		if h.Get("Content-Type") == htmlType && !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
			t.Errorf("BCP-13 GET %s may be framed: %q", path, h.Get("Content-Security-Policy"))
		}
		if h.Get("Content-Type") == htmlType && h.Get("Referrer-Policy") == "" {
			t.Errorf("BCP-11 GET %s has no Referrer-Policy", path)
		}
		if h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("ASVS-3.5.8 GET %s may be read by other sites", path)
		}
	}
	if h := b.post("/auth/signout").header; h.Get("Vary") != "*" {
		t.Errorf("a redirect may be cached: %q", h)
	}
}

func TestAHandlerThatIsMountedElsewhereNeedsItsBasePath(t *testing.T) {
	s := newSite(t)
	mux := http.NewServeMux()
	mux.Handle("/app/", http.StripPrefix("/app", s.auth))
	mux.Handle("/auth/", s.auth)
	for path, want := range map[string]int{"/auth/session": 200, "/app/auth/session": 200} {
		if w, _ := ask(mux, "GET", s.url+path, nil); w.Code != want {
			t.Errorf("GET %s answers %d, want %d", path, w.Code, want)
		}
	}
}

// A request whose context ended is answered without work, and without a panic.
func TestACancelledRequestIsAnswered(t *testing.T) {
	s := newSite(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, path := range []string{"/auth/session", "/auth/signin", "/auth/callback/acme?code=x&state=y"} {
		w := httptest.NewRecorder()
		s.auth.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", s.url+path, nil))
		if w.Code < 200 || w.Code > 500 {
			t.Errorf("GET %s answers %d", path, w.Code)
		}
	}
}
