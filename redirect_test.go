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
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

// elsewhere are texts that lead away from http://localhost:3000, to a browser or
// to a careless reader, or that are no address at all.
var elsewhere = []string{
	"https://evil.example", "http://evil.example/", "HTTPS://EVIL.EXAMPLE",
	"http://localhost:3000.evil.example", "http://localhost:3000@evil.example/", "http://localhost:3000%2eevil.example",
	"http://localhost", "http://localhost:30000", "https://localhost:3000", "http://LOCALHOST.:3000/",
	"http://user@localhost:3000/", "http://user:pass@localhost:3000/",
	"javascript:alert(1)", "JaVaScRiPt:alert(1)", " javascript:alert(1)", "java\tscript:alert(1)", "data:text/html,x",
	"vbscript:x", "file:///etc/passwd", "blob:http://localhost:3000/x", "ftp://localhost:3000/", "mailto:x@example.com",
	"http:/\\evil.example", "http:\\\\evil.example", "http:evil.example", "https:evil.example", "https:/evil.example", "https:///evil.example",
	"\\\\evil.example", "evil.example", "?evil.example", "#x", "http://", "http://[", "://", ":", "%", "%2f%2fevil.example",
	"h\nttp://evil.example", "http://evil.example\r\nSet-Cookie: a=b",
}

// nearby are texts that begin with a slash: they stay on the site, whatever
// follows.
var nearby = []string{
	"//evil.example", "///evil.example", "/\\evil.example", "/\\/evil.example", "/\t/evil.example", "/%09/evil.example",
	"/%2f%2fevil.example", "/%5cevil.example", "/..//evil.example", "/.//evil.example", "/@evil.example", "/:80@evil.example",
	"/\x01/evil.example", "/ /evil.example", "/x?http://evil.example", "/x#//evil.example", "/é", "/" + strings.Repeat("a", 2000),
}

// SH-12, SH-35, SH-38, SH-61, SH-88, BCP-2, ASVS-3.7.2, RP-18: wherever a wish to
// go somewhere comes from, the browser stays on the site.
func TestARedirectNeverLeavesTheSite(t *testing.T) {
	s := newSite(t)
	ways := []struct {
		name string
		send func(b *browser, wish string) *reply
	}{
		{"in the form", func(b *browser, wish string) *reply { return b.post("/auth/signout", "callbackUrl", wish) }},
		{"in the query", func(b *browser, wish string) *reply {
			return b.post("/auth/signout?callbackUrl=" + url.QueryEscape(wish))
		}},
		{"in the cookie", func(b *browser, wish string) *reply {
			b.csrf()
			b.plant(callbackURLCookie, escapeAll(wish))
			return b.postForm("/auth/signout", url.Values{"csrfToken": {b.csrf()}})
		}},
		{"in JSON", func(b *browser, wish string) *reply {
			return b.postJSON("/auth/signout", map[string]any{"csrfToken": b.csrf(), "callbackUrl": wish}, "X-Auth-Return-Redirect", "1")
		}},
		{"of a user who signs in", func(b *browser, wish string) *reply {
			return b.post("/auth/callback/credentials", "username", "ada", "password", people["ada"].password, "callbackUrl", wish)
		}},
	}
	for _, way := range ways {
		for _, wish := range append(append([]string{}, elsewhere...), nearby...) {
			t.Run(fmt.Sprintf("%s %q", way.name, wish), func(t *testing.T) {
				b := s.browser()
				r := way.send(b, wish)
				if r.status >= 500 && way.name != "in the query" {
					t.Errorf("status %d", r.status)
				}
				target := r.location()
				if target == "" && r.status == http.StatusOK {
					var answer struct{ URL string }
					r.json(&answer)
					target = answer.URL
				}
				if target != "" && !staysOn(s.url, target) {
					t.Errorf("the browser is sent to %q", target)
				}
				if kept, _ := url.QueryUnescape(b.cookie(callbackURLCookie)); kept != "" && !strings.HasPrefix(kept, s.url) && way.name != "in the cookie" {
					t.Errorf("the cookie remembers %q", kept)
				}
			})
		}
	}
}

// escapeAll percent-encodes every byte, since cookies carry few as they are.
func escapeAll(text string) string {
	var b strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&b, "%%%02X", text[i])
	}
	return b.String()
}

// staysOn reports whether a browser that reads target on a page of the origin
// stays there. It reads as browsers do: tab and line breaks are dropped, "\" is
// "/" and control characters around the text do not count.
//
// https://url.spec.whatwg.org/#concept-basic-url-parser
func staysOn(origin, target string) bool {
	target = strings.Trim(target, "\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f ")
	target = strings.NewReplacer("\t", "", "\r", "", "\n", "", `\`, "/",
		"%", "%25").Replace(target) // a browser takes a stray percent sign as it is
	base, err := url.Parse(origin + "/page")
	if err != nil {
		return false
	}
	u, err := base.Parse(target)
	return err == nil && u.Scheme == base.Scheme && u.Host == base.Host && u.User == nil
}

func TestAWishOfTheSiteIsGranted(t *testing.T) {
	s := newSite(t)
	for wish, want := range map[string]string{
		"":                                    s.url,
		"/":                                   s.url + "/",
		"/next?a=1&b=2#c":                     s.url + "/next?a=1&b=2#c",
		s.url:                                 s.url,
		s.url + "/next":                       s.url + "/next",
		"HTTP://LOCALHOST:3000/next":          s.url + "/next", // W-31 in one spelling
		"http:\\\\localhost:3000\\next":       s.url + "/next",
		"/ü/日本":                               s.url + "/%C3%BC/%E6%97%A5%E6%9C%AC",
		"https://elsewhere.example/somewhere": s.url,
	} {
		t.Run(fmt.Sprintf("%q", wish), func(t *testing.T) {
			b := s.browser()
			b.post("/auth/signout", "callbackUrl", wish).goesTo(want)
		})
	}
}

// SH-11: what is no address is answered at once, and by no panic.
func TestAWishThatCannotBeReadIsAnswered(t *testing.T) {
	s := newSite(t)
	for _, wish := range []string{"http://[", "://", strings.Repeat("x", 10_000), "http://" + strings.Repeat("x", 10_000), "\x00\x01\x02", "\xff\xfe"} {
		b := s.browser()
		b.csrf()
		start := time.Now()
		b.post("/auth/signout", "callbackUrl", wish).want(http.StatusFound)
		b.get("/auth/session?callbackUrl=" + escapeAll(wish))
		b.plant(callbackURLCookie, escapeAll(wish))
		b.get("/auth/session").want(http.StatusOK)
		if took := time.Since(start); took > time.Second {
			t.Errorf("%.20q takes %v", wish, took)
		}
	}
}

// W-32: a cookie that is no address is overwritten, and breaks nothing.
func TestAMalformedCallbackCookieIsReplaced(t *testing.T) {
	s := newSite(t)
	for _, kept := range []string{"foo", "javascript:alert(1)", "%%%", "http://["} {
		b := s.browser()
		b.csrf()
		b.plant(callbackURLCookie, escapeAll(kept))
		r := b.get("/auth/signin").want(http.StatusOK)
		if c := r.cookies()[callbackURLCookie]; c == nil || c.Value != "http%3A%2F%2Flocalhost%3A3000" {
			t.Errorf("the cookie %q is replaced by %v", kept, c)
		}
	}
}

func TestAnInvalidAddressInTheQueryIsAFault(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	if r := b.get("/auth/session?callbackUrl=foo").want(http.StatusInternalServerError); r.body != serverFault {
		t.Errorf("the body is %s", r.body)
	}
	b.get("/auth/signin?callbackUrl=javascript:alert(1)").want(http.StatusInternalServerError)
	if !s.log.has("InvalidCallbackUrl") {
		t.Error("the log does not say why")
	}
}

// The last wish is remembered through a sign-in with a provider.
func TestAWishOutlivesTheWayToTheProvider(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	to, err := url.Parse(b.post("/auth/signin/acme", "callbackUrl", "/deep/page?x=1").want(http.StatusFound).location())
	if err != nil {
		t.Fatal(err)
	}
	b.get(b.consent(to)).goesTo(s.url + "/deep/page?x=1")
}

func TestTheHostDecidesWhereToGo(t *testing.T) {
	var asked []string
	s := newSite(t, func(s *site) {
		s.Callbacks.Redirect = func(_ context.Context, target, base string) (string, error) {
			asked = append(asked, target+" at "+base)
			switch target {
			case "/partner":
				return "https://partner.example/welcome", nil
			case "/broken":
				return "", errBroken
			case "/nowhere":
				return "", nil
			}
			return base + "/", nil
		}
	})
	b := s.browser()
	b.post("/auth/signout", "callbackUrl", "/partner").goesTo("https://partner.example/welcome")
	if want := "/partner at " + s.url; len(asked) == 0 || asked[len(asked)-1] != want {
		t.Errorf("the callback is asked for %q, want %q", asked, want)
	}
	b.post("/auth/signout", "callbackUrl", "/nowhere").goesTo(s.url)
	b.post("/auth/signout", "callbackUrl", "/broken").fails("/auth/error", "Configuration")
}

// FuzzCallbackURL requests arbitrary targets through the form, the query and
// the cookie.
func FuzzCallbackURL(f *testing.F) {
	for _, wish := range elsewhere {
		f.Add(wish)
	}
	for _, wish := range nearby {
		f.Add(wish)
	}
	auth, err := pintle.New(pintle.Config{
		Providers:                []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}},
		Secrets:                  []string{secret},
		Getenv:                   noEnv,
		Logger:                   slog.New(slog.DiscardHandler),
		DangerouslySkipCSRFCheck: true,
	})
	if err != nil {
		f.Fatal(err)
	}
	const site = "http://localhost:3000"
	f.Fuzz(func(t *testing.T, wish string) {
		for _, r := range []*http.Request{
			httptest.NewRequest("POST", site+"/auth/signout", strings.NewReader("callbackUrl="+escapeAll(wish))),
			httptest.NewRequest("POST", site+"/auth/signout?callbackUrl="+escapeAll(wish), nil),
			httptest.NewRequest("POST", site+"/auth/signout", nil),
		} {
			if r.URL.RawQuery == "" && r.ContentLength == 0 {
				r.Header["Cookie"] = []string{callbackURLCookie + "=" + escapeAll(wish)}
			}
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			w := httptest.NewRecorder()
			auth.ServeHTTP(w, r)
			target := w.Header().Get("Location")
			if target != "" && !staysOn(site, target) {
				t.Errorf("%q leads to %q", wish, target)
			}
			for _, c := range target {
				if c <= ' ' || c >= 0x7f {
					t.Errorf("%q leads to %q, which no header can carry", wish, target)
				}
			}
			for _, line := range w.Header()["Set-Cookie"] {
				if strings.ContainsAny(line, "\r\n\x00") {
					t.Errorf("%q breaks the header %q", wish, line)
				}
			}
		}
	})
}

// W-38: the way back of a sign-in or a sign-out may not be a mail link of the
// attacker, which the site itself would then open.
func TestTheWayBackIsNoCallback(t *testing.T) {
	for _, strategy := range strategies {
		for _, how := range []string{"sign-in by password", "sign-out", "own mail link"} {
			t.Run(how+" "+string(strategy), func(t *testing.T) {
				s, k := hijackSite(t, strategy)
				mallory := s.browser()
				link := mallory.mailTo("mallory@example.com").URL

				victim := s.browser()
				// A page of the attacker sends the victim to the site's own page.
				page := "/auth/signin?"
				if how == "sign-out" {
					page = "/auth/signout?"
				}
				victim.get(page+url.Values{"callbackUrl": {link}}.Encode(), "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate")
				site := "same-origin"
				var r *reply
				switch how {
				case "sign-in by password":
					if strategy == pintle.StrategyDatabase {
						ada := people["ada"].user
						k.seedUser(t, ada)
					}
					r = victim.signIn("ada")
				case "sign-out":
					r = victim.post("/auth/signout")
				default:
					site = "none"
					r = victim.get(victim.mailTo(victimAddress).URL, "Sec-Fetch-Site", "none")
				}
				if r.location() == "" {
					return
				}
				victim.get(r.location(), "Sec-Fetch-Site", site, "Sec-Fetch-Mode", "navigate")
				trap := k.byEmail(t, "mallory@example.com")
				if trap != nil && victim.sub() == trap.ID {
					t.Errorf("the victim is signed in as the attacker without having been asked")
					s.net["careful.example"].(*authtest.IdentityProvider).SignInAs(authtest.Person{Subject: "7", Name: "Victim", Email: victimAddress, EmailVerified: true})
					victim.signInWith("careful")
					if owner := k.owner(t, "careful", "7"); owner != nil && owner.ID == trap.ID {
						t.Error("and the victim's account is linked to the attacker's user")
					}
				}
			})
		}
	}
}

// W-38: however a browser would write the address of a callback, and whichever side
// proposes it, no request is redirected there.
func TestEverySpellingOfACallbackIsRefusedAsAWayBack(t *testing.T) {
	for _, spelling := range []string{
		"/auth/callback/email?token=x", "/auth/callback", "/auth/./callback/email", "/auth/x/../callback/email", "/auth/x/%2e%2e/callback/email",
		`/auth\callback/email`, "/auth//callback/email", "http://LOCALHOST:3000/auth/callback/email",
		// Browsers read what net/url does not, and drop tabs and line breaks.
		"/auth/callback/email?token=x#%zz", "/auth/callback/email#%", "http://localhost:3000/auth/callback/email#%zz", "/%zz/../auth/callback/email",
		"/auth/call\tback/email", "/auth/callback/em\r\nail?token=x", "/auth/callback/email?token=x\x01", "/auth/callback/email?token=\x7f",
		"http:auth/callback/email", `http:\\localhost:3000\auth\callback\email`, `http:/\localhost:3000/auth/callback/email`,
	} {
		t.Run(spelling, func(t *testing.T) {
			for name, decides := range map[string]bool{"by the rule": false, "by the host": true} {
				s := newSite(t, func(s *site) {
					if decides {
						s.Callbacks.Redirect = func(_ context.Context, target, _ string) (string, error) { return target, nil }
					}
				})
				b := s.browser()
				b.get("/auth/signin?" + url.Values{"callbackUrl": {spelling}}.Encode())
				if kept, err := url.QueryUnescape(b.cookie("authjs.callback-url")); err != nil || kept != s.url {
					t.Errorf("%s: the cookie keeps %q", name, kept)
				}
			}
		})
	}
}

// W-38: a redirect callback that compares host names alone does not lead a
// browser to a callback, with the default port or a host that the browser maps to
// this one.
func TestAnotherSpellingOfTheHostHidesNoCallback(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.url = "https://app.example.com"
		s.URL = s.url
		s.Callbacks.Redirect = func(_ context.Context, target, _ string) (string, error) { return target, nil }
	})
	for target, refused := range map[string]bool{
		"https://app.example.com:443/auth/callback/email?token=x":  true,
		"https://APP.example.com:0443/auth/callback/email?token=x": true,
		"https://app.example.com:/auth/callback/email?token=x":     true,
		"https://user@app.example.com:443/auth/callback/email":     true,
		"https:///app.example.com/auth/callback/email":             true,
		`https:\\\app.example.com\auth\callback\email`:             true,
		"https://app.example.com./auth/callback/email":             true,
		"https://ａｐｐ.example.com/auth/callback/email":              true,
		"https://app。example.com/auth/callback/email":              true,
		"https://%61pp.example.com/auth/callback/email":            true,
		"http://app.example.com/auth/callback/email":               true, // redirected to https
		"//app.example.com:443/auth/callback/email":                true,
		"http://app.example.com:80/auth/callback/email":            true,
		"https://app.example.com:443/next":                         false,
		"https://app.example.com:8443/auth/callback/email":         false,
		"https://other.example/auth/callback/email":                false,
		"//other.example/auth/callback/email":                      false,
		"https://bücher.example/next":                              false,
		"com.example.app://app.example.com/auth/callback/email":    false,
	} {
		r := s.browser().post("/auth/callback/credentials", "username", "ada", "password", people["ada"].password, "callbackUrl", target)
		if got := r.location() == s.url; got != refused {
			t.Errorf("with %q the browser goes to %q", target, r.location())
		}
	}
}
