package pintle_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
)

// records returns how often the log has a code at a level.
func (l *logBook) records(t *testing.T, level, code string) int {
	t.Helper()
	n := 0
	for _, entry := range l.entries(t) {
		if entry["level"] == level && entry["code"] == code {
			n++
		}
	}
	return n
}

// The address that a browser reports is compared with the configured site. A
// mistake is logged once, with what to do.
func TestABrowserThatHasTheSiteElsewhereIsNoticed(t *testing.T) {
	const urlFix, headersFix = "set Config.URL (AUTH_URL) to the address that users open", "have the proxy send X-Forwarded-Host"
	tests := []struct {
		name    string
		config  pintle.Config
		target  string
		headers []string

		level, browser, fix string // empty for no record
	}{
		{
			"a URL of another host, with a link on the site",
			pintle.Config{URL: "https://app.example"},
			"http://localhost:3000",
			[]string{"Sec-Fetch-Site", "same-origin", "Referer", "http://localhost:3000/"},
			"WARN", "http://localhost:3000", urlFix,
		},
		{"a URL of another host, typed", pintle.Config{URL: "https://app.example"}, "http://localhost:3000", []string{"Sec-Fetch-Site", "none"}, "INFO", "", urlFix},
		{"two names of a developer's machine, typed", pintle.Config{URL: "http://localhost:3000"}, "http://127.0.0.1:3000", []string{"Sec-Fetch-Site", "none"}, "INFO", "", urlFix},
		{"a URL of another public host, typed", pintle.Config{URL: "https://app.example"}, "http://other.example", nil, "INFO", "", urlFix},
		{"a URL of another port, typed", pintle.Config{URL: "http://localhost:3000"}, "http://localhost:8080", nil, "INFO", "", urlFix},
		{"a proxy that changes the Host header and says so", pintle.Config{URL: "https://app.example"}, "http://127.0.0.1:8091", []string{"X-Forwarded-For", "203.0.113.5"}, "", "", ""},
		{"a proxy that sends the name of its upstream", pintle.Config{URL: "https://app.example"}, "http://upstream", []string{"Sec-Fetch-Site", "none"}, "", "", ""},
		{
			"a URL of another host, behind a proxy",
			pintle.Config{URL: "https://www.example"},
			"http://localhost",
			[]string{"X-Forwarded-Host", "localhost", "X-Forwarded-Proto", "https", "X-Forwarded-For", "127.0.0.1", "Sec-Fetch-Site", "none"},
			"INFO", "", urlFix,
		},
		{
			"a URL of development, behind a proxy that drops the port",
			pintle.Config{URL: "http://localhost:3000"},
			"http://localhost",
			[]string{"X-Forwarded-Host", "localhost", "X-Forwarded-Proto", "https", "X-Forwarded-For", "127.0.0.1", "Sec-Fetch-Site", "none"},
			"INFO", "", urlFix,
		},
		{"a URL of another host, behind a proxy that sends Forwarded", pintle.Config{URL: "https://www.example"}, "http://127.0.0.1:8091", []string{"Forwarded", "for=203.0.113.5;host=app.example;proto=https"}, "INFO", "", urlFix},
		{
			"a URL of this site, behind a proxy that drops the port",
			pintle.Config{URL: "https://app.example:8443"},
			"http://app.example",
			[]string{"X-Forwarded-Host", "app.example", "X-Forwarded-Proto", "https"},
			"", "", "",
		},
		{
			"a URL of this site, behind two proxies, of which the inner one says http",
			pintle.Config{URL: "https://app.example"},
			"http://app.example",
			[]string{"X-Forwarded-Host", "APP.example:443", "X-Forwarded-Proto", "http"},
			"", "", "",
		},
		{"a host that no browser sends", pintle.Config{URL: "https://app.example"}, "http://app.example", []string{"X-Forwarded-Host", "a b"}, "", "", ""},
		{
			"a URL of this site",
			pintle.Config{URL: "https://app.example"},
			"http://upstream",
			[]string{"Sec-Fetch-Site", "same-origin", "Referer", "https://app.example/members"},
			"", "", "",
		},
		{
			"a page of another site that links here",
			pintle.Config{URL: "https://app.example"},
			"https://app.example",
			[]string{"Sec-Fetch-Site", "cross-site", "Referer", "https://other.example/"},
			"", "", "",
		},
		{"a proxy that sends the name of its upstream and nothing else", pintle.Config{TrustHost: true}, "http://upstream", nil, "INFO", "", headersFix},
		{"a proxy that sends the address of its upstream and nothing else", pintle.Config{TrustHost: true}, "http://127.0.0.1:8091", nil, "INFO", "", headersFix},
		{"a trusted host", pintle.Config{TrustHost: true}, "http://app.example", nil, "", "", ""},
		{"a trusted address", pintle.Config{TrustHost: true}, "http://[2001:db8::1]:3000", nil, "", "", ""},
		{"a proxy that keeps quiet about TLS", pintle.Config{TrustHost: true}, "http://app.example", []string{"Sec-Fetch-Site", "none"}, "WARN", "an https address", headersFix},
		{
			"a proxy that keeps quiet about TLS, with a link on the site",
			pintle.Config{TrustHost: true},
			"http://app.example",
			[]string{"Sec-Fetch-Site", "same-origin", "Referer", "https://app.example/"},
			"WARN", "https://app.example", headersFix,
		},
		{
			"a proxy that sends the name of its upstream, with a link on the site",
			pintle.Config{TrustHost: true},
			"http://upstream",
			[]string{"X-Forwarded-Proto", "https", "Sec-Fetch-Site", "same-origin", "Referer", "https://app.example/"},
			"WARN", "https://app.example", headersFix,
		},
		{
			"a proxy that says all",
			pintle.Config{TrustHost: true},
			"http://upstream",
			[]string{"X-Forwarded-Proto", "https", "X-Forwarded-Host", "app.example", "Sec-Fetch-Site", "same-origin", "Referer", "https://app.example/"},
			"", "", "",
		},
		{"a server of Next.js, whose fetch sends a header of browsers", pintle.Config{TrustHost: true}, "http://api.example", []string{"Sec-Fetch-Mode", "cors"}, "", "", ""},
		{"a developer's machine", pintle.Config{}, "http://localhost:3000", []string{"Sec-Fetch-Site", "same-origin", "Referer", "http://localhost:3000/"}, "", "", ""},
		{"a page on another port of a developer's machine", pintle.Config{}, "http://localhost:3000", []string{"Sec-Fetch-Site", "same-site", "Origin", "http://localhost:5173"}, "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, func(s *site) { s.URL, s.TrustHost = tt.config.URL, tt.config.TrustHost })
			for range 2 {
				if w, _ := ask(s.auth, "GET", tt.target+"/auth/signin", nil, tt.headers...); w.Code != http.StatusOK {
					t.Fatalf("status %d", w.Code)
				}
			}
			if tt.level == "" {
				if s.log.has("AddressMismatch") {
					t.Errorf("the log says %v", s.log.last(t, "AddressMismatch"))
				}
				return
			}
			entry := s.log.last(t, "AddressMismatch")
			if browser, _ := entry["browser"].(string); browser != tt.browser {
				t.Errorf("the browser is said to be at %q", browser)
			}
			if fix, _ := entry["fix"].(string); !strings.Contains(fix, tt.fix) {
				t.Errorf("the fix is %q", fix)
			} else if tt.level == "INFO" && !strings.HasPrefix(fix, "none is needed if users open ") {
				t.Errorf("the fix is %q, which would have a good setting changed", fix)
			}
			if n := s.log.records(t, tt.level, "AddressMismatch"); n != 1 || strings.Count(s.log.String(), "AddressMismatch") != 1 {
				t.Errorf("there are %d records of level %s: %s", n, tt.level, s.log)
			}
		})
	}
}

// An address that a browser proves replaces the one that the Host header suggests.
func TestOneMistakeIsOneRecord(t *testing.T) {
	s := newSite(t, func(s *site) { s.URL = "https://app.example" })
	ask(s.auth, "GET", "http://localhost:3000/auth/signin", nil, "Sec-Fetch-Site", "same-origin", "Referer", "http://localhost:3000/")
	ask(s.auth, "GET", "http://localhost:3000/auth/signin", nil, "Sec-Fetch-Site", "none")
	if n := strings.Count(s.log.String(), "AddressMismatch"); n != 1 {
		t.Errorf("the log has %d records: %s", n, s.log)
	}
}

// The names in the headers are the client's: it fills neither the log nor the memory with
// them, and raises no alarm.
func TestMadeUpHostsAreFewRecords(t *testing.T) {
	s := newSite(t, func(s *site) { s.URL = "https://app.example" })
	for i := range 100 {
		for range 2 {
			ask(s.auth, "GET", "http://app.example/auth/signin", nil, "X-Forwarded-Host", strconv.Itoa(i)+strings.Repeat(".made-up", 20_000))
			ask(s.auth, "GET", "http://app.example/auth/signin", nil, "X-Forwarded-Host", strconv.Itoa(i)+".made-up.example")
		}
	}
	if n := s.log.records(t, "INFO", "AddressMismatch"); n != 16 || strings.Count(s.log.String(), "AddressMismatch") != n {
		t.Errorf("the log has %d records: %.3000s", n, s.log)
	}
}

// Pages other than the sign-in page name no address, so that the headers of their requests
// are not compared.
func TestOnlyTheSignInPageComparesTheHostOfAProxy(t *testing.T) {
	s := newSite(t, func(s *site) { s.URL = "https://app.example" })
	for _, path := range []string{"/auth/session", "/auth/csrf", "/auth/signin/acme", "/auth/error"} {
		ask(s.auth, "GET", "http://app.example"+path, nil, "X-Forwarded-Host", "other.example")
	}
	if s.log.has("AddressMismatch") {
		t.Errorf("the log has %s", s.log)
	}
}

// W-58: a site that takes itself for one of this machine, and is not, refuses: what it
// would send browsers to is their own machine.
func TestASiteOfThisMachineIsNotServedElsewhere(t *testing.T) {
	s := newSite(t)
	at := []string{"Sec-Fetch-Site", "same-origin", "Referer", "https://app.example/", "Sec-Fetch-Mode", "navigate"}
	for _, method := range []string{"GET", "POST"} {
		w, _ := ask(s.auth, method, "http://127.0.0.1:8091/auth/signin/acme", nil, at...)
		if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "Something is wrong on our side") {
			t.Errorf("%s is answered %d: %.300s", method, w.Code, w.Body)
		}
		if strings.Contains(w.Body.String(), "127.0.0.1") || w.Header().Get("Location") != "" {
			t.Errorf("%s leads to the machine of the browser", method)
		}
	}
	if w, _ := ask(s.auth, "POST", "http://127.0.0.1:8091/auth/signin/acme", nil, at[:4]...); w.Body.String() != serverFault {
		t.Errorf("a script is answered %.300s", w.Body)
	}
	for _, text := range []string{"http://127.0.0.1:8091", "https://app.example", "Config.URL (AUTH_URL)", "AUTH_TRUST_HOST=true"} {
		if !strings.Contains(s.log.String(), text) {
			t.Errorf("the log does not say %q", text)
		}
	}
	if n := s.log.records(t, "ERROR", "UntrustedHost"); n != 1 {
		t.Errorf("the log has %d errors: %s", n, s.log)
	}
	if n := s.log.records(t, "INFO", "UntrustedHost"); n != 2 {
		t.Errorf("the log has %d of the requests that followed: %s", n, s.log)
	}
}

// A browser without TLS sends no Sec-Fetch-Site. The form that repeats its token
// is one of this site.
func TestTheSenderOfAFormOfThisSiteIsNoticed(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*site)
		token  bool
		want   int
	}{
		{"a form of this site", func(*site) {}, true, 1},
		{"a form without its token", func(*site) {}, false, 0},
		{"a site that looks at no token", func(s *site) { s.DangerouslySkipCSRFCheck = true }, false, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, tt.change)
			for range 2 {
				b := s.browser()
				form := url.Values{"username": {"ada"}}
				if tt.token {
					form.Set("csrfToken", b.csrf())
				}
				b.postForm("/auth/callback/credentials", form, "Origin", "http://app.example:8443")
			}
			if n := s.log.records(t, "WARN", "AddressMismatch"); n != tt.want {
				t.Errorf("the log has %d warnings: %s", n, s.log)
			}
		})
	}
}

// W-58: the forms of a site that takes itself for one of this machine post to
// where their page came from.
func TestFormsArePostedToTheirSite(t *testing.T) {
	const path, absolute = `action="/auth/callback/credentials"`, `action="http://localhost:3000/auth/callback/credentials"`
	for _, tt := range []struct {
		config pintle.Config
		action string
	}{
		{pintle.Config{}, path},
		{pintle.Config{URL: "http://localhost:3000"}, absolute},
		{pintle.Config{TrustHost: true}, absolute},
	} {
		s := newSite(t, func(s *site) { s.URL, s.TrustHost = tt.config.URL, tt.config.TrustHost })
		if page := s.browser().get("/auth/signin").body; !strings.Contains(page, tt.action) {
			t.Errorf("with the URL %q and TrustHost %t the page has no %s", tt.config.URL, tt.config.TrustHost, tt.action)
		}
	}
	root := newSite(t, func(s *site) { s.BasePath = "/" })
	w, _ := ask(root.auth, "GET", "http://localhost:3000//signout", nil)
	if strings.Contains(w.Body.String(), `action="//`) {
		t.Error("a path with two slashes is the host that a form posts to")
	}
}

func TestARefusedFormSaysWhatItLacks(t *testing.T) {
	form := url.Values{"username": {"ada"}}
	for _, tt := range []struct {
		name string
		do   func(s *site, b *browser) *reply
		says []string
	}{
		{"no cookie", func(_ *site, b *browser) *reply {
			return b.postForm("/auth/callback/credentials", form)
		}, []string{"the cookie authjs.csrf-token did not come", "http://localhost:3000", "Config.URL (AUTH_URL)"}},
		{"no cookie, from another address", func(_ *site, b *browser) *reply {
			return b.postForm("/auth/callback/credentials", form, "Origin", "https://app.example")
		}, []string{"the cookie authjs.csrf-token did not come", "https://app.example", "believed to be at http://localhost:3000", "Config.URL (AUTH_URL)"}},
		{"a cookie of another secret", func(_ *site, b *browser) *reply {
			b.plant(csrfCookie, formCookie("abc", "another secret, 32 characters or more"))
			return b.postForm("/auth/callback/credentials", form)
		}, []string{"authjs.csrf-token was not made with a current secret", "Config.Secrets (AUTH_SECRET)"}},
		{"no field", func(_ *site, b *browser) *reply {
			b.csrf()
			return b.postForm("/auth/callback/credentials", form)
		}, []string{"no field csrfToken", "GET /auth/csrf"}},
		{"another token", func(_ *site, b *browser) *reply {
			b.csrf()
			return b.postForm("/auth/callback/credentials", url.Values{"csrfToken": {"abc"}})
		}, []string{"csrfToken is not the token of the cookie authjs.csrf-token"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t)
			b := s.browser()
			r := tt.do(s, b).fails("/auth/signin", "MissingCSRF")
			entry := s.log.last(t, "MissingCSRF")
			for _, text := range tt.says {
				if cause, _ := entry["error"].(string); !strings.Contains(cause, text) {
					t.Errorf("the log does not say %q: %s", text, cause)
				}
			}
			if entry["level"] != "INFO" || s.log.has("AddressMismatch") {
				t.Errorf("the log has %s", s.log)
			}
			if page := b.get(r.location()).body; strings.Contains(page, "open for too long") || !strings.Contains(page, "cookies") {
				t.Error("the page does not speak of cookies")
			}
		})
	}
}

// Browsers keep the cookies of localhost and of 127.0.0.1 apart.
func TestTwoNamesOfThisMachineAreNoticed(t *testing.T) {
	s := newSite(t, func(s *site) { s.URL = s.url })
	for range 2 {
		s.browser().postForm("/auth/callback/credentials", url.Values{}, "Origin", "http://127.0.0.1:3000")
	}
	if n := s.log.records(t, "WARN", "AddressMismatch"); n != 1 {
		t.Fatalf("the log has %d warnings: %s", n, s.log)
	}
	if entry := s.log.last(t, "AddressMismatch"); entry["browser"] != "http://127.0.0.1:3000" || entry["site"] != s.url {
		t.Errorf("the record is %v", entry)
	}
}
