package pintle_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/testsite"
	"github.com/pintleauth/pintle/oauth"
)

// setCookies returns the Set-Cookie lines of an answer by the names.
func setCookies(h http.Header) map[string]string {
	lines := map[string]string{}
	for _, line := range h["Set-Cookie"] {
		name, _, _ := strings.Cut(line, "=")
		lines[name] = line
	}
	return lines
}

// CK-1, CK-4, ASVS-3.3.1: names, prefixes and attributes are those of Auth.js.
func TestCookiesAreSetAsAuthJSSetsThem(t *testing.T) {
	const date = `Expires=[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT; `
	tests := []struct {
		name, url string
		lines     map[string]string // patterns, by names
	}{
		{"without TLS", "http://localhost:3000", map[string]string{
			"authjs.csrf-token":         `^authjs.csrf-token=[0-9a-f]{64}%7C[0-9a-f]{64}; Path=/; HttpOnly; SameSite=Lax$`,
			"authjs.callback-url":       `^authjs.callback-url=http%3A%2F%2Flocalhost%3A3000; Path=/; HttpOnly; SameSite=Lax$`,
			"authjs.state":              `^authjs.state=[\w.-]+; Max-Age=900; Path=/; ` + date + `HttpOnly; SameSite=Lax$`,
			"authjs.pkce.code_verifier": `^authjs.pkce.code_verifier=[\w.-]+; Max-Age=900; Path=/; ` + date + `HttpOnly; SameSite=Lax$`,
			"authjs.session-token":      `^authjs.session-token=[\w.-]+; Path=/; ` + date + `HttpOnly; SameSite=Lax$`,
		}},
		{"with TLS", "https://app.localhost", map[string]string{
			"__Host-authjs.csrf-token":           `^__Host-authjs.csrf-token=[0-9a-f]{64}%7C[0-9a-f]{64}; Path=/; HttpOnly; Secure; SameSite=Lax$`,
			"__Secure-authjs.callback-url":       `^__Secure-authjs.callback-url=https%3A%2F%2Fapp.localhost; Path=/; HttpOnly; Secure; SameSite=Lax$`,
			"__Secure-authjs.state":              `^__Secure-authjs.state=[\w.-]+; Max-Age=900; Path=/; ` + date + `HttpOnly; Secure; SameSite=Lax$`,
			"__Secure-authjs.pkce.code_verifier": `^__Secure-authjs.pkce.code_verifier=[\w.-]+; Max-Age=900; Path=/; ` + date + `HttpOnly; Secure; SameSite=Lax$`,
			"__Secure-authjs.session-token":      `^__Secure-authjs.session-token=[\w.-]+; Path=/; ` + date + `HttpOnly; Secure; SameSite=Lax$`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, func(s *site) { s.url = tt.url })
			b := s.browser()
			seen := map[string]string{}
			page := b.get("/auth/signin")
			leaving := b.post("/auth/signin/acme")
			back := b.get(b.consent(mustParse(t, leaving.location())))
			for _, r := range []*reply{page, leaving, back} {
				for name, line := range setCookies(r.header) {
					if _, before := seen[name]; !before {
						seen[name] = line
					}
				}
			}
			for name, pattern := range tt.lines {
				if !regexp.MustCompile(pattern).MatchString(seen[name]) {
					t.Errorf("%s is set as\n%s, want\n%s", name, seen[name], pattern)
				}
			}
		})
	}
}

// CK-8: an answer sets a cookie once.
func TestNoAnswerSetsACookieTwice(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	b.get("/auth/signin")
	replies := []*reply{b.post("/auth/signin/acme"), b.signInWith("acme"), b.get("/auth/session"), b.signIn("ada"), b.get("/"), b.post("/auth/signout")}
	for i, r := range replies {
		if lines := r.header["Set-Cookie"]; len(setCookies(r.header)) != len(lines) {
			t.Errorf("answer %d sets a cookie twice: %q", i, lines)
		}
	}
}

// CK-2, CK-7, ASVS-3.3.5: a long session is kept in parts that browsers accept,
// and the parts of a longer one are removed.
func TestALongSessionIsKeptInParts(t *testing.T) {
	size := 0
	role := pintle.NewClaim[string]("filling")
	s := newSite(t, func(s *site) {
		s.Callbacks.JWT = fill(&size, role)
	})
	b := s.browser()
	held := func() []string {
		var names []string
		for _, c := range b.client.Jar.Cookies(b.address()) {
			if after, ok := strings.CutPrefix(c.Name, sessionCookie); ok {
				names = append(names, after)
			}
		}
		slices.Sort(names)
		return names
	}
	for _, tt := range []struct {
		size  int
		parts []string
	}{
		{0, []string{""}},
		{4000, []string{".0", ".1"}},
		{9000, []string{".0", ".1", ".2", ".3"}},
		{4000, []string{".0", ".1"}},
		{0, []string{""}},
		{12_000, []string{".0", ".1", ".2", ".3", ".4"}},
	} {
		size = tt.size
		r := b.signIn("ada")
		for _, line := range r.header["Set-Cookie"] {
			pair, _, _ := strings.Cut(line, ";")
			if len(pair) > 4096 {
				t.Errorf("with %d bytes of data a cookie has %d bytes", tt.size, len(pair))
			}
		}
		if got := held(); !slices.Equal(got, tt.parts) {
			t.Errorf("with %d bytes of data the parts are %q, want %q", tt.size, got, tt.parts)
		}
		if who := b.who(); who != "Ada Lovelace" {
			t.Errorf("with %d bytes of data %s is signed in", tt.size, who)
		}
		b.get("/auth/session")
		if got := held(); !slices.Equal(got, tt.parts) {
			t.Errorf("with %d bytes of data a renewal leaves the parts %q, want %q", tt.size, got, tt.parts)
		}
	}
	b.post("/auth/signout")
	if got := held(); len(got) > 0 {
		t.Errorf("a sign-out leaves the parts %q", got)
	}
}

// W-10, CK-5, CK-7: cookies beside the session's neither join nor end it.
func TestStrayCookiesDoNotDisturbASession(t *testing.T) {
	s := newSite(t)
	good := sessionCookie + "=" + sealed(t, sessionCookie, claimsFor("ada"))
	for _, tt := range []struct{ name, cookies, who string }{
		{"alone", good, "Ada Lovelace"},
		{"before a stray name", good + "; " + sessionCookie + "X=junk", "Ada Lovelace"},
		{"after a stray name", sessionCookie + "X=junk; " + good, "Ada Lovelace"},
		{"with a stray word", sessionCookie + ".legacy=junk; " + good, "Ada Lovelace"},
		{"with two numbers", sessionCookie + ".0.1=junk; " + good, "Ada Lovelace"},
		{"with a left-over part", good + "; " + sessionCookie + ".0=junk", "Ada Lovelace"},
		{"with a negative part", good + "; " + sessionCookie + ".-1=junk", "Ada Lovelace"},
		{"after an empty one, since the first counts", sessionCookie + "=; " + good, "anonymous"},
		{"with a nameless one", "=" + sessionCookie + "=x; " + good, "Ada Lovelace"},
		{"with one that is no pair", "junk; " + good, "Ada Lovelace"},
		{"the first of two", good + "; " + sessionCookie + "=junk", "Ada Lovelace"},
		{"SH-47 the second of two", sessionCookie + "=junk; " + good, "anonymous"},
		{"in capitals", strings.ToUpper(sessionCookie) + good[len(sessionCookie):], "anonymous"},
		{"under the secure name", "__Secure-" + good, "anonymous"},
		{"in quotes", sessionCookie + `="` + good[len(sessionCookie)+1:] + `"`, "anonymous"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, _ := ask(s.net["localhost:3000"], "GET", s.url+"/", nil, "Cookie", tt.cookies)
			if got := strings.TrimPrefix(w.Body.String(), "hello, "); got != tt.who {
				t.Errorf("%s is signed in, want %s", got, tt.who)
			}
		})
	}
}

// SH-05, SH-53, ASVS-9.2.2: what is sealed for one purpose does not serve another.
func TestNoOtherSealedValueIsASession(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	b.leave("acme")
	for _, name := range []string{stateCookie, pkceCookie, nonceCookie, csrfCookie, callbackURLCookie} {
		value := b.cookie(name)
		if value == "" {
			t.Fatalf("there is no cookie %s", name)
		}
		thief := s.browser()
		thief.plant(sessionCookie, value)
		if who := thief.who(); who != "anonymous" {
			t.Errorf("with the value of %s %s is signed in", name, who)
		}
		if session := thief.session(); session != nil {
			t.Errorf("with the value of %s the session is %v", name, session)
		}
	}
	for _, salt := range []string{"__Secure-" + sessionCookie, stateCookie, "encodedState", "next-auth.session-token"} {
		thief := s.browser()
		thief.plant(sessionCookie, sealed(t, salt, claimsFor("ada")))
		if who := thief.who(); who != "anonymous" {
			t.Errorf("with a token for %q %s is signed in", salt, who)
		}
	}
}

// hostileCookies are values that no server of ours writes.
var hostileCookies = []string{
	"%", "%zz", "%2", "%00", "\x00", "..", "....", strings.Repeat(".", 5), strings.Repeat("a.", 4) + "a", "null", "undefined", "{}", "[]", `""`,
	"eyJhbGciOiJub25lIn0..x.y.z", "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2Q0JDLUhTNTEyIn0....", strings.Repeat("A", 4000), strings.Repeat(".", 4000),
	"é", "\xff\xfe", "a b", "a,b", "\"", "\\", "<script>", "' OR 1=1 --",
}

// SH-02, SH-47, SH-49, SH-58, SH-59, ASVS-9.1.2, CK-5, CK-10: whatever a cookie
// holds, such as a token that names no algorithm or no key, the answer is that of
// a client without a session.
func TestHostileCookiesCountAsSignedOut(t *testing.T) {
	s := newSite(t)
	app := s.net["localhost:3000"]
	for _, name := range []string{sessionCookie, sessionCookie + ".0", csrfCookie, callbackURLCookie, stateCookie, pkceCookie, nonceCookie} {
		for _, value := range hostileCookies {
			for path, want := range map[string]int{"/auth/session": 200, "/auth/signin": 200, "/": 200, "/members": 302, "/auth/callback/acme?code=x&state=y": 302} {
				w, _ := ask(app, "GET", s.url+path, nil, "Cookie", name+"="+value, "Accept", "text/html")
				if w.Code != want {
					t.Errorf("GET %s with %s=%.30q answers %d, want %d", path, name, value, w.Code, want)
				}
				if path == "/auth/session" && w.Body.String() != "null" {
					t.Errorf("with %s=%.30q the session is %s", name, value, w.Body)
				}
			}
		}
	}
	t.Run("CK-10 many cookies", func(t *testing.T) {
		var junk strings.Builder
		for i := range 300 {
			fmt.Fprintf(&junk, "%s.%d=junk; ", sessionCookie, i)
		}
		w, _ := ask(app, "GET", s.url+"/auth/session", nil, "Cookie", junk.String())
		if w.Code != 200 || len(w.Header()["Set-Cookie"]) > 70 {
			t.Errorf("status %d with %d cookies", w.Code, len(w.Header()["Set-Cookie"]))
		}
	})
	t.Run("several headers", func(t *testing.T) {
		r := httptest.NewRequest("GET", s.url+"/", nil)
		r.Header["Cookie"] = []string{"a=b", sessionCookie + "=" + sealed(t, sessionCookie, claimsFor("ada")), "c"}
		w := httptest.NewRecorder()
		app.ServeHTTP(w, r)
		if w.Body.String() != "hello, Ada Lovelace" {
			t.Errorf("the page says %q", w.Body)
		}
	})
}

// FuzzCookieHeader sends arbitrary Cookie headers to every kind of route: no
// request is signed in, and nothing breaks.
func FuzzCookieHeader(f *testing.F) {
	for _, value := range hostileCookies {
		f.Add(sessionCookie + "=" + value)
		f.Add(csrfCookie + "=" + value + "; " + callbackURLCookie + "=" + value)
	}
	f.Add("=; ;;; =x; " + sessionCookie + ".0=a; " + sessionCookie + ".1=b; " + stateCookie + "=%7C")
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{
			&pintle.Credentials{Authorize: checkPassword},
			&pintle.OAuth{ID: "acme", Protocol: oauth.OIDC, Issuer: "https://idp.example", ClientID: "x", ClientSecret: "y", Checks: []oauth.Check{oauth.CheckPKCE, oauth.CheckState, oauth.CheckNonce}},
		},
		Secrets:    []string{secret},
		Getenv:     noEnv,
		Logger:     slog.New(slog.DiscardHandler),
		HTTPClient: &http.Client{Transport: testsite.Network{}},
	})
	if err != nil {
		f.Fatal(err)
	}
	page := auth.Load(http.HandlerFunc(sayWho))
	f.Fuzz(func(t *testing.T, header string) {
		for _, path := range []string{"/auth/session", "/auth/csrf", "/auth/signin", "/auth/callback/acme?code=x&state=y"} {
			w, _ := ask(auth, "GET", "http://localhost"+path, nil, "Cookie", header)
			if w.Code >= 500 {
				t.Errorf("GET %s answers %d", path, w.Code)
			}
			for _, line := range w.Header()["Set-Cookie"] {
				if strings.ContainsAny(line, "\r\n\x00") || len(line) > 5000 {
					t.Errorf("GET %s sets %q", path, line)
				}
			}
			if path == "/auth/session" && w.Body.String() != "null" {
				t.Errorf("the session is %s", w.Body)
			}
		}
		if w, _ := ask(page, "GET", "http://localhost/", nil, "Cookie", header); w.Body.String() != "hello, anonymous" {
			t.Errorf("the page says %s", w.Body)
		}
	})
}

// The scheme of the site decides about names and attributes, unless the host does.
func TestSecureCookiesFollowTheSchemeOrTheHost(t *testing.T) {
	for _, tt := range []struct {
		name, url string
		mode      pintle.SecureCookies
		secure    bool
	}{
		{"http", "http://localhost:3000", pintle.SecureCookies(0), false},
		{"https", "https://app.localhost", pintle.SecureCookies(0), true},
		{"http, always", "http://localhost:3000", pintle.SecureAlways, true},
		{"https, never", "https://app.localhost", pintle.SecureNever, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, func(s *site) { s.url, s.SecureCookies = tt.url, tt.mode })
			r := s.browser().get("/auth/csrf")
			for name, c := range r.cookies() {
				if c.Secure != tt.secure || strings.HasPrefix(name, "__") != tt.secure {
					t.Errorf("%s is set with Secure %t, want %t", name, c.Secure, tt.secure)
				}
			}
		})
	}
}

func TestTheHostChoosesNamesAndAttributes(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.url = "https://app.localhost"
		s.Cookies.SessionToken = pintle.Cookie{Name: "__Host-session", SameSite: http.SameSiteStrictMode, Partitioned: true, Priority: "high"}
		s.Cookies.CallbackURL = pintle.Cookie{Domain: "app.localhost", Path: "/auth", DangerouslyAllowScripts: true, MaxAge: time.Hour}
	})
	b := s.browser()
	r := b.signIn("ada")
	line := setCookies(r.header)["__Host-session"]
	if !regexp.MustCompile(`^__Host-session=[\w.-]+; Path=/; Expires=[^;]+; HttpOnly; Secure; Partitioned; Priority=High; SameSite=Strict$`).MatchString(line) {
		t.Errorf("the session cookie is set as %s", line)
	}
	if _, ok := openedWith(secret, "__Host-session", r.cookies()["__Host-session"].Value); !ok {
		t.Error("the token is not sealed under the cookie's name")
	}
	line = setCookies(s.browser().get("/auth/csrf").header)["__Secure-authjs.callback-url"]
	if want := "__Secure-authjs.callback-url=https%3A%2F%2Fapp.localhost; Max-Age=3600; Domain=app.localhost; Path=/auth; Secure; SameSite=Lax"; line != want {
		t.Errorf("the callback-url cookie is set as\n%s, want\n%s", line, want)
	}
	if r := b.post("/auth/signout"); !strings.HasPrefix(setCookies(r.header)["__Host-session"], "__Host-session=; Max-Age=0; Path=/; HttpOnly; Secure;") {
		t.Errorf("CK-7 the cookie is cleared as %q", r.header["Set-Cookie"])
	}
}

// ASVS-9.1.1: a token with one changed byte signs no user in.
func TestAChangedTokenCountsAsSignedOut(t *testing.T) {
	s := newSite(t)
	app := s.net["localhost:3000"]
	good := sealed(t, sessionCookie, claimsFor("ada"))
	for i := 0; i < len(good); i += 7 {
		spoiled := []byte(good)
		spoiled[i] ^= 1
		w, _ := ask(app, "GET", s.url+"/", nil, "Cookie", sessionCookie+"="+string(spoiled))
		if w.Body.String() != "hello, anonymous" {
			t.Fatalf("with byte %d changed the page says %q", i, w.Body)
		}
	}
}

// ASVS-3.3.4: what a cookie holds is in Set-Cookie only, in no body. The form
// token is the exception that forms need.
func TestNoBodyTellsWhatACookieHolds(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	b.leave("acme")
	b.signIn("ada")
	for _, path := range []string{"/auth/session", "/auth/signin", "/auth/signout", "/auth/error", "/auth/providers", "/"} {
		body := b.get(path).body
		for _, c := range b.client.Jar.Cookies(b.address()) {
			if c.Name != callbackURLCookie && strings.Contains(body, c.Value) {
				t.Errorf("GET %s tells the value of %s", path, c.Name)
			}
		}
	}
}

// A token sealed with an old secret is read, and written anew with the first.
// ASVS-13.3.4.
func TestSecretsCanBeReplaced(t *testing.T) {
	const newer, newest = "a newer secret for tests, 32 characters or more", "the newest secret for tests, 32 characters or so"
	claims := claimsFor("ada")
	for _, tt := range []struct {
		name    string
		secrets []string
		who     string
	}{
		{"the only secret", []string{secret}, "Ada Lovelace"},
		{"the second of two", []string{newer, secret}, "Ada Lovelace"},
		{"the last of three", []string{newest, newer, secret}, "Ada Lovelace"},
		{"a removed one", []string{newest, newer}, "anonymous"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, func(s *site) { s.Secrets = tt.secrets })
			b := s.browser()
			b.plant(sessionCookie, sealed(t, sessionCookie, claims))
			if who := b.who(); who != tt.who {
				t.Fatalf("%s is signed in, want %s", who, tt.who)
			}
			if tt.who == "anonymous" {
				return
			}
			b.get("/auth/session")
			text, ok := openedWith(tt.secrets[0], sessionCookie, b.cookie(sessionCookie))
			var kept map[string]any
			if !ok || json.Unmarshal([]byte(text), &kept) != nil || kept["sub"] != claims["sub"] {
				t.Errorf("the renewed token is not Ada's, or not sealed with the first secret: %q", text)
			}
		})
	}
}
