package pintle_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/store/memstore"
)

// navigating are the headers of a browser that loads a page.
var navigating = []string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Site", "same-origin"}

// submit posts a form of a page, as a browser does.
func (b *browser) submit(target string, pairs ...string) *reply {
	b.t.Helper()
	form := url.Values{"csrfToken": {b.csrf()}}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return b.postForm(target, form, navigating...)
}

// marked returns the name of the provider that the sign-in page marks as the one used last.
func (b *browser) marked() string {
	b.t.Helper()
	page := b.get("/auth/signin", navigating...).want(http.StatusOK).body
	before, _, found := strings.Cut(page, `<p class="hint last-used" id="last-used">`)
	if !found {
		return ""
	}
	_, label, _ := strings.Cut(before[strings.LastIndex(before, `<button`):], "Sign in with ")
	name, _, _ := strings.Cut(label, "<")
	return name
}

const lastProviderCookie = "pintle.last-provider"

// setCookie returns the line of an answer that sets a cookie, or "".
func (r *reply) setCookie(name string) string {
	for _, line := range r.header["Set-Cookie"] {
		if strings.HasPrefix(line, name+"=") {
			return line
		}
	}
	return ""
}

// AT-160: the cookie has the id of the provider, and comes after a sign-in only.
func TestTheSignInPageMarksTheProviderThatWasUsedLast(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	if r := b.submit("/auth/callback/credentials", "username", "ada", "password", "wrong"); r.setCookie(lastProviderCookie) != "" {
		t.Error("a wrong password sets the cookie")
	}
	if got := b.marked(); got != "" {
		t.Errorf("%q is marked before a sign-in", got)
	}
	r := b.submit("/auth/callback/credentials", "username", "ada", "password", people["ada"].password).goesTo(s.url)
	if got, want := r.setCookie(lastProviderCookie), lastProviderCookie+"=credentials; Max-Age=31536000; Path=/; "; !strings.HasPrefix(got, want) ||
		!strings.HasSuffix(got, "; HttpOnly; SameSite=Lax") {
		t.Errorf("the cookie is set by %q", got)
	}
	if got := b.marked(); got != "Credentials" {
		t.Errorf("%q is marked, want the credentials", got)
	}
	b.get(b.consent(b.leave("acme")), navigating...).goesTo(s.url)
	if got := b.marked(); got != "Test identity provider" {
		t.Errorf("%q is marked, want acme", got)
	}
	b.submit("/auth/signout")
	if got := b.cookie(lastProviderCookie); got != "acme" {
		t.Errorf("after the sign-out the cookie is %q", got)
	}
}

// AT-160: what a neighbouring host plants is the id of a provider, or nothing.
func TestAPlantedLastProviderMarksAProviderOfThePageAtMost(t *testing.T) {
	s := newSite(t)
	for value, want := range map[string]string{
		"credentials": "Credentials", "": "", "gone": "", "CREDENTIALS": "", `"><script>`: "", strings.Repeat("a", 3000): "",
	} {
		b := s.browser()
		b.plant(lastProviderCookie, url.PathEscape(value))
		if got := b.marked(); got != want {
			t.Errorf("with %.20q %q is marked, want %q", value, got, want)
		}
		if body := b.get("/auth/signin").body; len(value) > 2 && strings.Contains(body, value+"<") {
			t.Errorf("the page has the value %.20q", value)
		}
	}
}

// AT-160, S-48: clients of Auth.js, sites with a sign-in page of their own and sites that turn it off get
// no cookie.
func TestOnlyBrowsersOfTheBuiltInPageGetTheLastProvider(t *testing.T) {
	plain := newSite(t)
	if r := plain.browser().signIn("ada"); r.setCookie(lastProviderCookie) != "" {
		t.Error("a client that is no browser gets the cookie")
	}
	b := plain.browser()
	script := b.postForm("/auth/callback/credentials", url.Values{"csrfToken": {b.csrf()}, "username": {"ada"}, "password": {people["ada"].password}},
		append([]string{"X-Auth-Return-Redirect", "1"}, navigating...)...)
	if script.status != http.StatusOK || script.setCookie(lastProviderCookie) != "" {
		t.Errorf("a script gets status %d and the cookie %q", script.status, script.setCookie(lastProviderCookie))
	}
	for name, change := range map[string]func(*site){
		"a page of its own": func(s *site) { s.Pages.SignIn = "/login" },
		"turned off":        func(s *site) { s.ForgetLastProvider = true },
	} {
		s := newSite(t, change)
		r := s.browser().submit("/auth/callback/credentials", "username", "ada", "password", people["ada"].password).goesTo(s.url)
		if got := r.setCookie(lastProviderCookie); got != "" {
			t.Errorf("%s: the cookie is set by %q", name, got)
		}
	}
	off := newSite(t, func(s *site) { s.ForgetLastProvider = true }).browser()
	off.plant(lastProviderCookie, "credentials")
	if got := off.marked(); got != "" || off.cookie(lastProviderCookie) != "" {
		t.Errorf("turned off, %q is marked and the cookie of before is %q", got, off.cookie(lastProviderCookie))
	}
}

// An account that a signed-in user links does not sign them in.
func TestLinkingAnAccountIsNoSignInWithIt(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.Store, s.Providers = memstore.New(), append(s.Providers, s.newIdentityProvider("https://other.example").OIDC("other"))
	})
	b := s.browser()
	b.get(b.consent(b.leave("acme")), navigating...).goesTo(s.url)
	r := b.get(b.consent(b.leave("other")), navigating...).goesTo(s.url)
	if got := r.setCookie(lastProviderCookie); got != "" || b.cookie(lastProviderCookie) != "acme" {
		t.Errorf("the cookie is set by %q", got)
	}
}
