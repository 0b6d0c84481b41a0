package pintle_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

// markups are texts that are dangerous where they reach a page as they are.
var markups = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onload='alert(1)`, `"onload="alert(1)`, `</style><script>alert(1)</script>`,
	`javascript:alert(1)`, `</textarea><svg/onload=alert(1)>`, `{{7*7}}`, `<!--`, `]]>`, "\u2028alert(1)",
}

// SH-10, SH-90, W-4: whatever a link to a page contains, browsers treat it only
// as text. No built-in page contains a script, which makes the policy strict.
func TestNoLinkPutsMarkupIntoAPage(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	for _, page := range []string{"signin", "signout", "error", "verify-request"} {
		for _, name := range []string{"error", "error_description", "error_uri", "callbackUrl", "email", "code", "provider", "type", "csrfToken", "providers", "theme", "x"} {
			for _, markup := range markups {
				r := b.get("/auth/" + page + "?" + name + "=" + url.QueryEscape(markup))
				if r.header.Get("Content-Type") != htmlType {
					continue // a callback URL that is no address
				}
				for _, raw := range []string{"<script>alert", "<img src=x", "<svg/onload", "onerror=alert(1)>", `"onload="`, `' onload='`} {
					if strings.Contains(r.body, raw) {
						t.Errorf("GET %s with %s=%q holds %q", page, name, markup, raw)
					}
				}
				if strings.Contains(r.body, `href="javascript:`) {
					t.Errorf("GET %s with %s=%q links to a script", page, name, markup)
				}
				if policy := r.header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
					t.Errorf("GET %s has the policy %q", page, policy)
				}
			}
		}
	}
	// The path is part of the sign-out form.
	if r := b.get(`/auth/signout?a="><script>alert(1)</script>`); strings.Contains(r.body, "<script>") {
		t.Errorf("the sign-out page holds %s", r.body)
	}
}

// SH-10, SH-90: nor does what the host configured, or a provider is called.
func TestNoNamePutsMarkupIntoAPage(t *testing.T) {
	for _, markup := range markups {
		s := newSite(t, func(s *site) {
			p := s.idp.OIDC("acme")
			p.Name = markup
			s.Providers = []pintle.Provider{p, &pintle.Credentials{Name: markup, Authorize: checkPassword, Fields: []pintle.Field{
				{Name: markup, Label: markup, Placeholder: markup, Attributes: map[string]string{"title": markup}},
			}}}
			s.Texts.SignInHeading = markup
		})
		r := s.browser().get("/auth/signin").want(http.StatusOK)
		for _, raw := range []string{"<script>alert", "<img src=x", "<svg/onload", `"onload="`} {
			if strings.Contains(r.body, raw) {
				t.Errorf("with the name %q the page holds %q", markup, raw)
			}
		}
	}
}

// SH-90: a provider's description of an error is for the log.
func TestAProvidersErrorIsNotRepeated(t *testing.T) {
	s := newSite(t)
	s.idp.Break(authtest.ResponseHostileError)
	b := s.browser()
	r := b.attempt("acme").fails("/auth/signin", retry)
	if page := b.get(r.location()).want(http.StatusOK); strings.Contains(page.body, "<script>alert") || strings.Contains(page.body, "onerror") || strings.Contains(r.location(), "script") {
		t.Errorf("the page says %s", page.body)
	}
}

// The forms of the sign-in page work as they stand, without a script.
func TestTheFormsOfTheSignInPageWork(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	page := b.get("/auth/signin?callbackUrl=/next").want(http.StatusOK)
	for _, form := range strings.Split(page.body, "<form")[1:] {
		action := between(form, `action="`, `"`)
		fields := (&reply{t: t, body: form}).hidden()
		if strings.HasSuffix(action, "/callback/credentials") {
			fields.Set("username", "ada")
			fields.Set("password", people["ada"].password)
			b.postForm(action, fields).goesTo(s.url + "/next")
			continue
		}
		r := b.postForm(action, fields).want(http.StatusFound)
		b.get(b.consent(mustParse(t, r.location()))).goesTo(s.url + "/next")
	}
	out := b.get("/auth/signout").want(http.StatusOK)
	r := b.postForm(between(out.body, `action="`, `"`), out.hidden())
	if r.goesTo(s.url + "/next"); !r.clears(sessionCookie) {
		t.Errorf("the form of the sign-out page sets %q", r.header["Set-Cookie"])
	}
}

func between(text, before, after string) string {
	_, text, _ = strings.Cut(text, before)
	text, _, _ = strings.Cut(text, after)
	return strings.ReplaceAll(text, "&amp;", "&")
}

// W-6, W-7, W-8: the pages of the host are asked for with what they need, in
// their own query if they have one, on their own host if they have one.
func TestThePagesOfTheHostTakeThePlaceOfOurs(t *testing.T) {
	tests := []struct {
		page  string
		pages pintle.Pages
		ask   string
		want  string
	}{
		{"sign-in", pintle.Pages{SignIn: "/login"}, "/auth/signin", "/login?callbackUrl=http%3A%2F%2Flocalhost%3A3000"},
		{"sign-in, back to a page", pintle.Pages{SignIn: "/login"}, "/auth/signin?callbackUrl=/x", "/login?callbackUrl=http%3A%2F%2Flocalhost%3A3000%2Fx"},
		{"sign-in after an error", pintle.Pages{SignIn: "/login?a=1"}, "/auth/signin?error=AccessDenied", "/login?a=1&callbackUrl=http%3A%2F%2Flocalhost%3A3000&error=AccessDenied"},
		{"sign-in elsewhere", pintle.Pages{SignIn: "https://accounts.example.com/login"}, "/auth/signin", "https://accounts.example.com/login?callbackUrl=http%3A%2F%2Flocalhost%3A3000"},
		{"W-6 an error", pintle.Pages{Error: "/oops"}, "/auth/error?error=a%26b%3Dc", "/oops?error=a%26b%3Dc"},
		{"W-6 no error", pintle.Pages{Error: "/oops"}, "/auth/error", "/oops"},
		{"W-7 an error, beside a query", pintle.Pages{Error: "/oops?x=1"}, "/auth/error?error=Verification", "/oops?x=1&error=Verification"},
		{"sign-out", pintle.Pages{SignOut: "/bye"}, "/auth/signout", "/bye"},
		{"verify request", pintle.Pages{VerifyRequest: "/sent"}, "/auth/verify-request?provider=email&type=email", "/sent?provider=email&type=email"},
		{"W-7 verify request, beside a query", pintle.Pages{VerifyRequest: "/sent?x=1"}, "/auth/verify-request?provider=email", "/sent?x=1&provider=email"},
	}
	for _, tt := range tests {
		t.Run(tt.page, func(t *testing.T) {
			s := newSite(t, func(s *site) { s.Pages = tt.pages })
			s.browser().get(tt.ask).goesTo(tt.want)
		})
	}
	t.Run("W-8 a failure leads to the page elsewhere", func(t *testing.T) {
		s := newSite(t, func(s *site) {
			s.Pages = pintle.Pages{SignIn: "https://accounts.example.com/login?x=1", Error: "https://accounts.example.com/oops"}
		})
		b := s.browser()
		b.postForm("/auth/signin/acme", url.Values{}).goesTo("https://accounts.example.com/login?x=1&error=MissingCSRF")
		b.get("/auth/callback/unknown").goesTo("https://accounts.example.com/oops?error=Configuration")
	})
}

// A fault of the configuration leads to the page of the host, unless that would
// be a circle.
func TestAFaultLeadsToTheErrorPageOfTheHost(t *testing.T) {
	s := newSite(t, func(s *site) { s.Pages.Error = "/oops" })
	ask := func(query string) string {
		w := get(s.auth, "http://untrusted.example/auth/signin"+query)
		return fmt.Sprint(w.Code, " ", w.Header().Get("Location"))
	}
	if got, want := ask(""), "302 /oops?error=Configuration"; got != want {
		t.Errorf("the answer is %s, want %s", got, want)
	}
	if got := ask("?callbackUrl=/oops/again"); got != "500 " || !s.log.has("ErrorPageLoop") {
		t.Errorf("an error page that is behind itself: %s", got)
	}
}

// W-1: the error page leads back to the sign-in page.
func TestTheErrorPageLeadsBack(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	for _, code := range []string{"AccessDenied", "Verification"} {
		if r := b.get("/auth/error?error=" + code + "&x=1"); !strings.Contains(r.body, `href="http://localhost:3000/auth/signin"`) {
			t.Errorf("the page for %s does not link to the sign-in page: %s", code, r.body)
		}
	}
}

// RFC 9110: HEAD is not a way to find anything out.
func TestPagesAreNotAskedForByHead(t *testing.T) {
	s := newSite(t)
	for _, path := range []string{"/auth/signin", "/auth/session", "/auth/csrf"} {
		w, _ := ask(s.auth, http.MethodHead, s.url+path, nil)
		if w.Code != http.StatusBadRequest || len(w.Header()["Set-Cookie"]) > 0 {
			t.Errorf("HEAD %s answers %d", path, w.Code)
		}
	}
}
