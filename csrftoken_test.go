package pintle_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
)

// formCookie is what the form cookie holds for a token.
func formCookie(token, secrets string) string {
	sum := sha256.Sum256([]byte(token + secrets))
	return token + "|" + hex.EncodeToString(sum[:])
}

// Every route that changes something on behalf of a form asks for the token;
// SH-30 is about the one that forgets.
var guardedRoutes = []string{
	"/auth/signin", "/auth/signin/acme", "/auth/signin/credentials", "/auth/callback/credentials", "/auth/signout", "/auth/session",
}

// SH-30, SH-43, SH-44, SH-45, SH-46: whatever another site can make a browser
// send, it is not taken for a form of this one. The double submit needs no
// Origin or Referer header, so neither a missing nor a spoofed one matters.
func TestFormsOfOtherSitesAreRefused(t *testing.T) {
	s := newSite(t)
	other := s.browser().csrf()
	tests := []struct {
		name    string
		send    func(b *browser, token string) (query string, form url.Values, headers []string)
		without bool // the cookie
	}{
		{"without anything", func(*browser, string) (string, url.Values, []string) { return "", nil, nil }, true},
		{"without a token", func(*browser, string) (string, url.Values, []string) { return "", nil, nil }, false},
		{"SH-45 with an empty token", func(*browser, string) (string, url.Values, []string) {
			return "", url.Values{"csrfToken": {""}}, nil
		}, false},
		{"without the cookie, as SameSite has it", func(_ *browser, token string) (string, url.Values, []string) {
			return "", url.Values{"csrfToken": {token}}, nil
		}, true},
		{"SH-46 with the token of another browser", func(*browser, string) (string, url.Values, []string) {
			return "", url.Values{"csrfToken": {other}}, nil
		}, false},
		{"SH-45 with a short token", func(_ *browser, token string) (string, url.Values, []string) {
			return "", url.Values{"csrfToken": {token[:1]}}, nil
		}, false},
		{"SH-45 with a longer token", func(_ *browser, token string) (string, url.Values, []string) {
			return "", url.Values{"csrfToken": {token + "0"}}, nil
		}, false},
		{"SH-45 with the cookie for a token", func(_ *browser, token string) (string, url.Values, []string) {
			return "", url.Values{"csrfToken": {formCookie(token, secret)}}, nil
		}, false},
		{"with the token in capitals", func(_ *browser, token string) (string, url.Values, []string) {
			return "", url.Values{"csrfToken": {strings.ToUpper(token) + "A"}}, nil
		}, false},
		{"with the token in the query", func(_ *browser, token string) (string, url.Values, []string) {
			return "?csrfToken=" + token, nil, nil
		}, false},
		{"with the token in a header", func(_ *browser, token string) (string, url.Values, []string) {
			return "", nil, []string{"X-CSRF-Token", token}
		}, false},
		{"with a wrong token after the right one", func(_ *browser, token string) (string, url.Values, []string) {
			return "", url.Values{"csrfToken": {token, "x"}}, nil
		}, false},
		{"SH-43 with the Origin of the site", func(*browser, string) (string, url.Values, []string) {
			return "", nil, []string{"Origin", "http://localhost:3000", "Referer", "http://localhost:3000/"}
		}, false},
		{"SH-44 with the Origin of another scheme", func(*browser, string) (string, url.Values, []string) {
			return "", nil, []string{"Origin", "https://localhost:3000"}
		}, false},
		{"with the header of scripts", func(*browser, string) (string, url.Values, []string) {
			return "", nil, []string{"X-Auth-Return-Redirect", "1"}
		}, false},
	}
	for _, tt := range tests {
		for _, route := range guardedRoutes {
			t.Run(tt.name+" at "+route, func(t *testing.T) {
				b := s.browser()
				token := b.csrf()
				b.plantSession("ada")
				if tt.without {
					b.plant(csrfCookie, "")
				}
				query, form, headers := tt.send(b, token)
				if form == nil {
					form = url.Values{}
				}
				form.Set("username", "grace")
				form.Set("password", people["grace"].password)
				r := b.postForm(route+query, form, headers...)
				switch told := r.location() + r.body; {
				case route == "/auth/session" && (r.status != http.StatusBadRequest || r.body != "null"):
					t.Errorf("status %d, body %s; want 400 null", r.status, r.body)
				case route != "/auth/session" && !strings.Contains(told, "/auth/signin?error=MissingCSRF"):
					t.Errorf("status %d, the browser is told %q; want MissingCSRF", r.status, told)
				}
				if set := r.header["Set-Cookie"]; len(set) > 0 {
					t.Errorf("the answer sets cookies: %q", set)
				}
				if who := b.who(); who != "Ada Lovelace" {
					t.Errorf("%s is signed in, want Ada still", who)
				}
			})
		}
	}
}

// The form of a newcomer often lacks both, and repairing one would show the other.
func TestTheLogNamesEverythingThatAFormLacks(t *testing.T) {
	const cookie, field = "csrf-token did not come", "the form has no field csrfToken"
	s := newSite(t)
	b := s.browser()
	b.postForm("/auth/signin/acme", nil).fails("/auth/signin", "MissingCSRF")
	if got := s.log.String(); !strings.Contains(got, cookie) || !strings.Contains(got, field) {
		t.Errorf("without cookie and field the log has not both:\n%s", got)
	}
	before := len(s.log.String())
	b.postForm("/auth/signin/acme", url.Values{"csrfToken": {"x"}})
	if got := s.log.String()[before:]; !strings.Contains(got, cookie) || strings.Contains(got, field) {
		t.Errorf("with the field the log has not the cookie alone:\n%s", got)
	}
}

// A form token is checked before anything else is done for it.
func TestNothingHappensBeforeTheFormTokenIsChecked(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	b.csrf()
	for _, route := range guardedRoutes {
		b.postForm(route, url.Values{"username": {"ada"}})
	}
	if sent := s.idp.Requests(); len(sent) > 0 {
		t.Errorf("the provider was asked: %v", sent[0].Endpoint)
	}
	if events := s.eventNames(); len(events) > 0 {
		t.Errorf("there were events: %q", events)
	}
}

// SH-45: whatever a cookie holds that is not a token and its hash is replaced.
func TestFormCookiesAreCheckedByTheirHash(t *testing.T) {
	s := newSite(t)
	good := strings.Repeat("a1", 32)
	tests := []struct {
		name, cookie string
		kept         bool
	}{
		{"a token and its hash", formCookie(good, secret), true},
		{"encoded as Auth.js has it", url.QueryEscape(formCookie(good, secret)), true},
		{"a short token, as long as the hash is right", formCookie("abc", secret), true},
		{"W-12 a hash with one more secret", formCookie(good, secret+",old"), false},
		{"a hash of another secret", formCookie(good, "another secret, 32 characters or more"), false},
		{"a hash of nothing", formCookie(good, ""), false},
		{"halves that are swapped", strings.TrimPrefix(formCookie(good, secret), good+"|") + "|" + good, false},
		{"no hash", good, false},
		{"an empty hash", good + "|", false},
		{"half a hash", formCookie(good, secret)[:100], false},
		{"a bar alone", "|", false},
		{"nothing", "", false},
		{"one byte", "x", false},
		{"a broken escape", "%", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, _ := ask(s.auth, "GET", s.url+"/auth/csrf", nil, "Cookie", csrfCookie+"="+tt.cookie)
			replaced := strings.Contains(strings.Join(w.Header()["Set-Cookie"], "\n"), csrfCookie+"=")
			if replaced == tt.kept {
				t.Errorf("the cookie is replaced: %t, want %t", replaced, !tt.kept)
			}
		})
	}
}

func TestATokenIsKeptAcrossRequestsAndSignIns(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	first := b.csrf()
	if len(first) != 64 || strings.Trim(first, "0123456789abcdef") != "" {
		t.Errorf("the token is %q, want 256 bits in hexadecimal", first)
	}
	b.signIn("ada")
	if again := b.csrf(); again != first {
		t.Error("the token changes while forms may be open in other tabs")
	}
	if hidden := b.get("/auth/signout").hidden().Get("csrfToken"); hidden != first {
		t.Errorf("the form on the sign-out page has %q, want the token", hidden)
	}
	if other := s.browser().csrf(); other == first {
		t.Error("another browser gets the same token")
	}
}

// W-47: an answer that refuses a form sets no cookie, and the page it leads to does.
func TestAFormThatWasRefusedCanBeSentAgain(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	r := b.postForm("/auth/signin/acme", url.Values{}).fails("/auth/signin", "MissingCSRF")
	page := b.get(r.location()).want(http.StatusOK)
	b.postForm("/auth/signin/acme", page.hidden()).want(http.StatusFound)
	if b.cookie(pkceCookie) == "" {
		t.Error("the second attempt does not leave for the provider")
	}
}

// W-12, Q22, S-12: hashes cover the whole list of secrets, and forms that are
// open while a secret is added stay good.
func TestFormsSurviveANewSecret(t *testing.T) {
	const newer = "a newer secret for tests, 32 characters or more"
	s := newSite(t, func(s *site) { s.Secrets = []string{newer, secret} })
	for _, tt := range []struct {
		name, secrets string
		good          bool
	}{
		{"as it is written now", newer + "," + secret, true},
		{"as it was written before", secret, true},
		{"of the new secret alone, as before a rollback", newer, true},
		{"as it was written before the second took over", secret + "," + newer, true},
		{"of another secret", "another secret for tests, 32 characters or more", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := s.browser()
			b.plant(csrfCookie, url.QueryEscape(formCookie("abc", tt.secrets)))
			code := b.postForm("/auth/signout", url.Values{"csrfToken": {"abc"}}).errorCode()
			if good := code == ""; good != tt.good {
				t.Errorf("the form is accepted: %t, want %t", good, tt.good)
			}
		})
	}
	b := s.browser()
	token := b.csrf()
	if got, _ := url.QueryUnescape(b.cookie(csrfCookie)); got != formCookie(token, newer+","+secret) {
		t.Errorf("a new cookie holds %q, want the hash of the joined list", got)
	}
}

func TestTheFormTokenCanBeLeftToTheHost(t *testing.T) {
	s := newSite(t, func(s *site) { s.DangerouslySkipCSRFCheck = true })
	b := s.browser()
	b.plant(csrfCookie, "x")
	if r := b.get("/auth/csrf").want(http.StatusNotFound); r.body != "" || !r.clears(csrfCookie) {
		t.Errorf("GET csrf answers %q with cookies %q", r.body, r.header["Set-Cookie"])
	}
	if !s.log.has("csrf-disabled") {
		t.Error("the log does not report the request for a token")
	}
	r := b.postForm("/auth/callback/credentials", url.Values{"username": {"ada"}, "password": {people["ada"].password}})
	if r.goesTo(s.url); b.who() != "Ada Lovelace" {
		t.Error("a form without token is refused although the check is off")
	}
}

// SH-46: no token of before is good after a time; a cookie without lifetime ends
// with the browser, and sign-out leaves it for the next form.
func TestTheFormCookieEndsWithTheBrowser(t *testing.T) {
	s := newSite(t)
	c := s.browser().get("/auth/csrf").cookies()[csrfCookie]
	if c == nil || c.MaxAge != 0 || !c.Expires.IsZero() || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" {
		t.Errorf("the cookie is %v", c)
	}
}

func TestServerCodeNeedsNoFormToken(t *testing.T) {
	s := newSite(t)
	if value := signedInCookie(t, s.auth); value == "" {
		t.Error("server code cannot sign a user in")
	}
	_, r := ask(http.NotFoundHandler(), "POST", s.url+"/logout", nil, "Cookie", sessionCookie+"="+sealed(t, sessionCookie, claimsFor("ada")))
	w := &writer{header: http.Header{}}
	if next, err := s.auth.SignOut(w, r, pintle.SignOutOptions{RedirectTo: "/bye"}); err != nil || next != s.url+"/bye" {
		t.Errorf("SignOut returns %q, %v", next, err)
	}
	if !w.sets(sessionCookie + "=; Max-Age=0") {
		t.Errorf("SignOut sets %q", w.header["Set-Cookie"])
	}
}

// A writer is a response of which only the header counts.
type writer struct{ header http.Header }

func (w *writer) Header() http.Header         { return w.header }
func (w *writer) Write(b []byte) (int, error) { return len(b), nil }
func (w *writer) WriteHeader(int)             {}

// sets reports whether a Set-Cookie line begins with text.
func (w *writer) sets(text string) bool {
	for _, line := range w.header["Set-Cookie"] {
		if strings.HasPrefix(line, text) {
			return true
		}
	}
	return false
}

// A form of the host's own page is accepted by every route that asks for the token.
func TestAFormOfTheHostHasTheTokenOfItsBrowser(t *testing.T) {
	s := newSite(t)
	show := func(b *browser) (token string, w *httptest.ResponseRecorder) {
		t.Helper()
		r := httptest.NewRequest("GET", s.url+"/", nil)
		for _, c := range b.client.Jar.Cookies(b.address()) {
			r.AddCookie(c)
		}
		w = httptest.NewRecorder()
		token, err := s.auth.CSRFToken(w, r)
		if err != nil {
			t.Fatal(err)
		}
		b.client.Jar.SetCookies(b.address(), w.Result().Cookies())
		return token, w
	}
	t.Run("in a browser without one", func(t *testing.T) {
		b := s.browser()
		token, w := show(b)
		if w.Header().Get("Cache-Control") != "private" {
			t.Errorf("a shared cache may keep the page: %q", w.Header())
		}
		b.postForm("/auth/callback/credentials", url.Values{"csrfToken": {token}, "username": {"ada"}, "password": {people["ada"].password}}).want(http.StatusFound)
		if b.who() != people["ada"].user.Name {
			t.Error("the form was refused")
		}
	})
	t.Run("in a browser that has one", func(t *testing.T) {
		b := s.browser()
		before := b.csrf()
		token, w := show(b)
		if token != before || len(w.Result().Cookies()) > 0 {
			t.Errorf("the token %q became %q, and forms that are open fail", before, token)
		}
		if w.Header().Get("Cache-Control") != "private" {
			t.Errorf("a shared cache may keep the page: %q", w.Header())
		}
	})
	t.Run("in two forms of one page", func(t *testing.T) {
		r, w := httptest.NewRequest("GET", s.url+"/", nil), httptest.NewRecorder()
		one, err := s.auth.CSRFToken(w, r)
		two, again := s.auth.CSRFToken(w, r)
		if err != nil || again != nil || one != two || len(w.Result().Cookies()) != 1 {
			t.Errorf("the forms have the tokens %q, %v and %q, %v, and the page sets %q", one, err, two, again, w.Header()["Set-Cookie"])
		}
	})
	t.Run("in a browser whose cookie this site did not make", func(t *testing.T) {
		b := s.browser()
		b.plant(csrfCookie, "made up|"+strings.Repeat("0", 64))
		token, _ := show(b)
		if token == "made up" {
			t.Error("a planted token is taken over")
		}
		b.postForm("/auth/signout", url.Values{"csrfToken": {token}}).goesTo(s.url)
	})
	t.Run("not for a host that is not trusted", func(t *testing.T) {
		r := httptest.NewRequest("GET", "http://evil.example/", nil)
		if token, err := s.auth.CSRFToken(httptest.NewRecorder(), r); err == nil || token != "" {
			t.Errorf("got %q, %v", token, err)
		}
		if n := strings.Count(s.log.String(), `"code":"UntrustedHost"`); n != 1 {
			t.Errorf("there are %d records, want 1: %s", n, s.log)
		}
	})
}
