package pintle_test

import (
	"bytes"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/internal/testsite"
)

// The session cookie and those of the checks, on a site without TLS.
const (
	sessionCookie     = "authjs.session-token"
	csrfCookie        = "authjs.csrf-token"
	callbackURLCookie = "authjs.callback-url"
	stateCookie       = "authjs.state"
	pkceCookie        = "authjs.pkce.code_verifier"
	nonceCookie       = "authjs.nonce"
)

// A browser keeps cookies and stops at each redirect, so that a test can look at
// every hop.
type browser struct {
	t      *testing.T
	site   *site
	client *http.Client
}

// browser returns a new browser, which knows nothing of the site.
func (s *site) browser() *browser {
	return &browser{s.t, s, testsite.Browser(s.net)}
}

// A reply is a response that was read to its end.
type reply struct {
	t      *testing.T
	status int
	header http.Header
	body   string
}

// do sends a request. A header is a name and a value.
func (b *browser) do(method, target string, body io.Reader, headers ...string) *reply {
	b.t.Helper()
	if strings.HasPrefix(target, "/") {
		target = b.site.url + target
	}
	r, err := http.NewRequestWithContext(b.t.Context(), method, target, body)
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return &reply{b.t, resp.StatusCode, resp.Header, string(text)}
}

// get asks for a path of the site, or for a URL.
func (b *browser) get(target string, headers ...string) *reply {
	b.t.Helper()
	return b.do(http.MethodGet, target, nil, headers...)
}

// post sends a form whose fields are pairs of a name and a value, to which the
// browser's form token is added.
func (b *browser) post(target string, fields ...string) *reply {
	b.t.Helper()
	form := url.Values{"csrfToken": {b.csrf()}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return b.postForm(target, form)
}

// postForm sends a form as it is.
func (b *browser) postForm(target string, form url.Values, headers ...string) *reply {
	b.t.Helper()
	return b.do(http.MethodPost, target, strings.NewReader(form.Encode()),
		append([]string{"Content-Type", "application/x-www-form-urlencoded"}, headers...)...)
}

// postJSON sends an object as it is, as scripts do.
func (b *browser) postJSON(target string, object map[string]any, headers ...string) *reply {
	b.t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.do(http.MethodPost, target, bytes.NewReader(text), append([]string{"Content-Type", "application/json"}, headers...)...)
}

// csrf asks for the form token.
func (b *browser) csrf() string {
	b.t.Helper()
	var answer struct {
		Token string `json:"csrfToken"`
	}
	b.get(b.site.base() + "/csrf").want(http.StatusOK).json(&answer)
	return answer.Token
}

func (s *site) base() string {
	if s.BasePath != "" {
		return s.BasePath
	}
	return "/auth"
}

// signIn signs in with a password, and fails the test unless that works.
func (b *browser) signIn(username string) *reply {
	b.t.Helper()
	r := b.post(b.site.base()+"/callback/credentials", "username", username, "password", people[username].password)
	if code := r.errorCode(); r.status != http.StatusFound || code != "" {
		b.t.Fatalf("%s cannot sign in: status %d, error %q; log:\n%s", username, r.status, code, b.site.log)
	}
	return r
}

// leave begins to sign in with a provider, and returns where the browser is sent.
func (b *browser) leave(provider string) *url.URL {
	b.t.Helper()
	to, err := url.Parse(b.post(b.site.base() + "/signin/" + provider).want(http.StatusFound).location())
	if err != nil {
		b.t.Fatal(err)
	}
	return to
}

// consent visits a provider, and returns where it sends the browser back to.
func (b *browser) consent(at *url.URL) string {
	b.t.Helper()
	return b.get(at.String()).want(http.StatusFound).location()
}

// signInWith goes to a provider and back, and returns the answer of the callback
// route, whatever it is.
func (b *browser) signInWith(provider string) *reply {
	b.t.Helper()
	return b.get(b.consent(b.leave(provider)))
}

// session requests the session route. It returns nil for a signed-out browser.
func (b *browser) session() map[string]any {
	b.t.Helper()
	var session map[string]any
	b.get(b.site.base() + "/session").want(http.StatusOK).json(&session)
	return session
}

// who returns the name of the signed-in user from a page of the application, or
// "anonymous".
func (b *browser) who() string {
	b.t.Helper()
	return strings.TrimPrefix(b.get("/").want(http.StatusOK).body, "hello, ")
}

// address is the root of the site, for the jar.
func (b *browser) address() *url.URL {
	u, err := url.Parse(b.site.url + "/")
	if err != nil {
		b.t.Fatal(err)
	}
	return u
}

// cookie returns the value of a cookie of the site, or "".
func (b *browser) cookie(name string) string {
	for _, c := range b.client.Jar.Cookies(b.address()) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

// plant sets a cookie of the site, as an attacker can who controls a
// neighbouring host. An empty value removes it.
func (b *browser) plant(name, value string) {
	c := &http.Cookie{Name: name, Value: value, Path: "/"}
	if value == "" {
		c.MaxAge = -1
	}
	b.client.Jar.SetCookies(b.address(), []*http.Cookie{c})
}

// plantSession plants a session of the user of people with a name.
func (b *browser) plantSession(username string) {
	b.t.Helper()
	b.plant(sessionCookie, sealed(b.t, sessionCookie, claimsFor(username)))
}

// want fails the test when the status is another.
func (r *reply) want(status int) *reply {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("status %d, want %d; Location %q, body: %.300s", r.status, status, r.header.Get("Location"), r.body)
	}
	return r
}

// json decodes the body.
func (r *reply) json(v any) {
	r.t.Helper()
	if err := json.Unmarshal([]byte(r.body), v); err != nil {
		r.t.Fatalf("the body is not the JSON expected: %v: %.300s", err, r.body)
	}
}

// location is where the browser is sent, empty for nowhere.
func (r *reply) location() string { return r.header.Get("Location") }

// goesTo fails the test when the browser is sent elsewhere.
func (r *reply) goesTo(target string) *reply {
	r.t.Helper()
	if r.want(http.StatusFound).location() != target {
		r.t.Errorf("the browser is sent to %q, want %q", r.location(), target)
	}
	return r
}

// errorCode is the error in the address of the page to which the browser is
// sent.
func (r *reply) errorCode() string {
	u, err := url.Parse(r.location())
	if err != nil {
		r.t.Fatal(err)
	}
	return u.Query().Get("error")
}

// fails fails the test unless the browser is sent to a page that shows the
// error, with no cookie on the way but the one of what was typed.
func (r *reply) fails(page, code string) *reply {
	r.t.Helper()
	path, _, _ := strings.Cut(r.want(http.StatusFound).location(), "?")
	if !strings.HasSuffix(path, page) || r.errorCode() != code {
		r.t.Errorf("the browser is sent to %q, want %s with error=%s", r.location(), page, code)
	}
	if set := slices.DeleteFunc(slices.Clone(r.header["Set-Cookie"]), func(line string) bool {
		return strings.HasPrefix(line, typedCookie+"=")
	}); len(set) > 0 {
		r.t.Errorf("an answer that reports an error sets cookies: %q", set)
	}
	return r
}

// cookies are those the answer sets, by their names.
func (r *reply) cookies() map[string]*http.Cookie {
	set := map[string]*http.Cookie{}
	for _, c := range (&http.Response{Header: r.header}).Cookies() {
		set[c.Name] = c
	}
	return set
}

// clears reports whether the answer removes a cookie.
func (r *reply) clears(name string) bool {
	c := r.cookies()[name]
	return c != nil && c.Value == "" && (c.MaxAge < 0 || !c.Expires.IsZero() && c.Expires.Before(time.Now()))
}

var hiddenInput = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)

// hidden are the hidden inputs of the first form of a page.
func (r *reply) hidden() url.Values {
	form, _, _ := strings.Cut(r.body, "</form>")
	fields := url.Values{}
	for _, input := range hiddenInput.FindAllStringSubmatch(form, -1) {
		fields.Set(html.UnescapeString(input[1]), html.UnescapeString(input[2]))
	}
	return fields
}
