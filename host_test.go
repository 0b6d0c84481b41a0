package pintle_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
)

// SH-44, SH-65, SH-66, W-27: a header that any client can set decides nothing,
// unless the configuration states that a proxy sets it.
func TestTheOriginComesFromWhereTheHostTrustsIt(t *testing.T) {
	tests := []struct {
		name    string
		config  pintle.Config
		target  string
		headers []string
		origin  string // where the providers are said to be, empty for a refusal
	}{
		{"a loopback host", pintle.Config{}, "http://localhost:3000", nil, "http://localhost:3000"},
		{"a loopback address", pintle.Config{}, "http://127.0.0.1:3000", nil, "http://127.0.0.1:3000"},
		{"another loopback address", pintle.Config{}, "http://127.8.9.10", nil, "http://127.8.9.10"},
		{"the loopback address of IPv6", pintle.Config{}, "http://[::1]:3000", nil, "http://[::1]:3000"},
		{"a name below localhost", pintle.Config{}, "https://app.localhost", nil, "https://app.localhost"},
		{"a name below localhost in capitals", pintle.Config{}, "http://APP.LocalHost:3000", nil, "http://app.localhost:3000"},
		{"any other name", pintle.Config{}, "http://app.example", nil, ""},
		{"a name that begins like a loopback one", pintle.Config{}, "http://localhost.evil.example", nil, ""},
		{"a name that ends like a loopback one", pintle.Config{}, "http://evillocalhost", nil, ""},
		{"an address of the network", pintle.Config{}, "http://10.0.0.7", nil, ""},
		{"every address", pintle.Config{}, "http://0.0.0.0", nil, ""},
		{"SH-66 a forwarded host that is not trusted", pintle.Config{}, "http://localhost", []string{"X-Forwarded-Host", "app.example", "X-Forwarded-Proto", "https"}, ""},
		{"a forwarded host that is the loopback host", pintle.Config{}, "http://localhost:3000", []string{"X-Forwarded-Host", "localhost:3000", "X-Forwarded-Proto", "http"}, "http://localhost:3000"},
		{"SH-66 a client elsewhere, at a loopback host", pintle.Config{}, "http://127.0.0.1:3000", []string{"X-Forwarded-For", "203.0.113.5"}, ""},

		{"a trusted host", pintle.Config{TrustHost: true}, "http://app.example", nil, "http://app.example"},
		{"a trusted host with TLS", pintle.Config{TrustHost: true}, "https://app.example", nil, "https://app.example"},
		{"a trusted proxy", pintle.Config{TrustHost: true}, "http://10.0.0.7:8080", []string{"X-Forwarded-Host", "app.example", "X-Forwarded-Proto", "https"}, "https://app.example"},
		{"W-27 a chain of proxies", pintle.Config{TrustHost: true}, "http://10.0.0.7:8080", []string{"X-Forwarded-Host", "app.example, 10.0.0.2", "X-Forwarded-Proto", "https, http"}, "https://app.example"},
		{"an unknown scheme", pintle.Config{TrustHost: true}, "http://app.example", []string{"X-Forwarded-Proto", "gopher"}, ""},
		{"an invalid host", pintle.Config{TrustHost: true}, "http://app.example", []string{"X-Forwarded-Host", "evil.example/path"}, ""},
		{"a host with a user name", pintle.Config{TrustHost: true}, "http://app.example", []string{"X-Forwarded-Host", "app.example@evil.example"}, ""},
		{"SH-65 a header that a gateway takes for another", pintle.Config{TrustHost: true}, "http://app.example", []string{"X_Forwarded_Host", "evil.example"}, "http://app.example"},
		{"headers that are not configured", pintle.Config{TrustHost: true}, "http://app.example", []string{"Forwarded", "host=evil.example", "X-Forwarded-Port", "8443", "X-Original-Host", "evil.example", "X-Forwarded-Server", "evil.example"}, "http://app.example"},

		{"a fixed URL", pintle.Config{URL: "https://app.example"}, "http://10.0.0.7:8080", nil, "https://app.example"},
		{"a fixed URL and another host", pintle.Config{URL: "https://app.example"}, "http://evil.example", nil, "https://app.example"},
		{"a fixed URL and a forwarded host", pintle.Config{URL: "https://app.example", TrustHost: true}, "http://x", []string{"X-Forwarded-Host", "evil.example"}, "https://app.example"},
		{"a fixed URL in capitals, with the default port", pintle.Config{URL: "HTTPS://App.Example:443"}, "http://x", nil, "https://app.example"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, func(s *site) { s.URL, s.TrustHost = tt.config.URL, tt.config.TrustHost })
			w, _ := ask(s.auth, "GET", tt.target+"/auth/providers", nil, tt.headers...)
			if tt.origin == "" {
				if w.Code != http.StatusInternalServerError || !s.log.has("UntrustedHost") {
					t.Errorf("status %d, want 500 and UntrustedHost in the log", w.Code)
				}
				return
			}
			if want := `"callbackUrl":"` + tt.origin + `/auth/callback/acme"`; !strings.Contains(w.Body.String(), want) {
				t.Errorf("the providers are %s, want %s", w.Body, want)
			}
		})
	}
}

// Everything that asks who is signed in refuses an untrusted host alike, and the
// cookie of a site is looked for under the name that its scheme has (W-27).
func TestEveryEntranceAgreesAboutTheOrigin(t *testing.T) {
	s := newSite(t, func(s *site) { s.TrustHost = true })
	proxied := []string{"X-Forwarded-Host", "app.example", "X-Forwarded-Proto", "https"}
	cookie := "__Secure-" + sessionCookie + "=" + sealed(t, "__Secure-"+sessionCookie, claimsFor("ada"))
	headers := append([]string{"Cookie", cookie}, proxied...)
	w, r := ask(s.handler(), "GET", "http://10.0.0.7:8080/", nil, headers...)
	if w.Body.String() != "hello, Ada Lovelace" {
		t.Errorf("Load says %q", w.Body)
	}
	if session, err := s.auth.Session(r); err != nil || session == nil {
		t.Errorf("Session returns %v, %v", session, err)
	}
	if w, _ := ask(s.auth, "GET", "http://10.0.0.7:8080/auth/session", nil, headers...); !strings.Contains(w.Body.String(), "Ada") {
		t.Errorf("the session route answers %s", w.Body)
	}

	strict := newSite(t)
	r = httptest.NewRequest("GET", "http://app.example/", nil)
	r.Header.Set("Cookie", sessionCookie+"="+sealed(t, sessionCookie, claimsFor("ada")))
	w = httptest.NewRecorder()
	strict.handler().ServeHTTP(w, r)
	if w.Body.String() != "hello, anonymous" {
		t.Errorf("at an untrusted host Load says %q", w.Body)
	}
	if session, err := strict.auth.Session(r); err == nil || session != nil {
		t.Errorf("at an untrusted host Session returns %v, %v", session, err)
	}
	if _, err := strict.auth.SignIn(httptest.NewRecorder(), r, "acme", pintle.SignInOptions{}); err == nil {
		t.Error("at an untrusted host SignIn succeeds")
	}
	if _, err := strict.auth.SignOut(httptest.NewRecorder(), r, pintle.SignOutOptions{RedirectTo: "/"}); err == nil {
		t.Error("at an untrusted host SignOut succeeds")
	}
	if _, err := strict.auth.UpdateSession(httptest.NewRecorder(), r, nil); err == nil {
		t.Error("at an untrusted host UpdateSession succeeds")
	}
}

// The answer to an untrusted host reveals nothing of the configuration; the log
// tells the operator what to do.
func TestAnUntrustedHostIsToldNothing(t *testing.T) {
	s := newSite(t)
	w, _ := ask(s.auth, "GET", "http://app.example/auth/session", nil)
	if w.Body.String() != serverFault {
		t.Errorf("the body is %s", w.Body)
	}
	for _, text := range []string{"http://app.example", "Config.URL", "AUTH_URL", "AUTH_TRUST_HOST=true"} {
		if !strings.Contains(s.log.String(), text) {
			t.Errorf("the log does not say %q", text)
		}
	}
	page, _ := ask(s.auth, "GET", "http://app.example/auth/signin", nil)
	if page.Code != http.StatusInternalServerError || strings.Contains(page.Body.String(), "app.example") {
		t.Errorf("status %d, the page says %s", page.Code, page.Body)
	}
}

// BCP-1: the callback URL for a provider is made from the fixed URL, whatever
// the headers of the request.
func TestTheCallbackURLIsNotMadeFromUntrustedHeaders(t *testing.T) {
	s := newSite(t, func(s *site) { s.URL = "http://localhost:3000" })
	w, _ := ask(s.auth, "POST", "http://evil.example/auth/signin/acme", strings.NewReader("csrfToken=abc"),
		"Content-Type", "application/x-www-form-urlencoded", "Cookie", csrfCookie+"="+formCookie("abc", secret), "X-Forwarded-Host", "evil.example")
	if got := mustParse(t, w.Header().Get("Location")).Query().Get("redirect_uri"); got != "http://localhost:3000/auth/callback/acme" {
		t.Errorf("the redirect URI is %q", got)
	}
}
