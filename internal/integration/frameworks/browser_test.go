package frameworks_test

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/internal/testsite"
)

// A browser keeps cookies and stops at each redirect, so that a test can look at
// every hop.
type browser struct {
	t       *testing.T
	address string
	client  *http.Client
}

func newBrowser(t *testing.T, address string) *browser {
	t.Helper()
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, // the servers' certificates are made up
		ForceAttemptHTTP2: true,
	}
	t.Cleanup(transport.CloseIdleConnections)
	client := testsite.Browser(transport)
	client.Timeout = 10 * time.Second
	return &browser{t, address, client}
}

// A reply is a response that was read to its end.
type reply struct {
	*http.Response
	t    *testing.T
	body string
}

// do sends a request to a path of the site, or to a URL. A header is a name and
// a value; without an Accept header it is the request of a browser.
func (b *browser) do(method, target, body string, headers ...string) *reply {
	b.t.Helper()
	resp := b.open(method, target, body, headers...)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return &reply{resp, b.t, string(text)}
}

// open is do for a response whose body the test reads while it arrives.
func (b *browser) open(method, target, body string, headers ...string) *http.Response {
	b.t.Helper()
	if strings.HasPrefix(target, "/") {
		target = b.address + target
	}
	r, err := http.NewRequestWithContext(b.t.Context(), method, target, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Add(headers[i], headers[i+1])
	}
	if len(headers) > 0 && slices.Contains(headers, "Accept") {
		r.Header["Accept"] = r.Header["Accept"][1:]
	}
	resp, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp
}

func (b *browser) get(target string, headers ...string) *reply {
	b.t.Helper()
	return b.do(http.MethodGet, target, "", headers...)
}

// post sends a form whose fields are pairs of a name and a value.
func (b *browser) post(target string, fields ...string) *reply {
	b.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	return b.do(http.MethodPost, target, form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

// csrf requests the form token.
func (b *browser) csrf() string {
	b.t.Helper()
	var answer struct {
		Token string `json:"csrfToken"`
	}
	b.get("/auth/csrf").want(http.StatusOK).json(&answer)
	return answer.Token
}

// signIn signs in with a password, by the form on the sign-in page.
func (b *browser) signIn(username string) *reply {
	b.t.Helper()
	r := b.post("/auth/callback/password", "csrfToken", b.csrf(), "username", username, "password", username+"'s").want(http.StatusFound)
	if !slices.ContainsFunc(b.cookies(), func(c *http.Cookie) bool { return strings.Contains(c.Name, "session-token") }) {
		b.t.Fatalf("%s is not signed in: sent to %s", username, r.location())
	}
	return r
}

// cookies are those the browser has for the site.
func (b *browser) cookies() []*http.Cookie {
	b.t.Helper()
	u, err := url.Parse(b.address)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.client.Jar.Cookies(u)
}

func (r *reply) want(status int) *reply {
	r.t.Helper()
	if r.StatusCode != status {
		r.t.Fatalf("%s %s: status %d, want %d; Location %q, body %.300q", r.Request.Method, r.Request.URL, r.StatusCode, status, r.location(), r.body)
	}
	return r
}

func (r *reply) wantBody(text string) *reply {
	r.t.Helper()
	if r.body != text {
		r.t.Fatalf("%s %s: body %.300q, want %q", r.Request.Method, r.Request.URL, r.body, text)
	}
	return r
}

func (r *reply) wantLocation(target string) *reply {
	r.t.Helper()
	if r.location() != target {
		r.t.Fatalf("%s %s: Location %q, want %q", r.Request.Method, r.Request.URL, r.location(), target)
	}
	return r
}

func (r *reply) location() string { return r.Header.Get("Location") }

// json decodes the body.
func (r *reply) json(into any) {
	r.t.Helper()
	if err := json.Unmarshal([]byte(r.body), into); err != nil {
		r.t.Fatalf("%s %s: body %.300q is not JSON: %v", r.Request.Method, r.Request.URL, r.body, err)
	}
}

// line returns the one Set-Cookie line for the cookie, or "" if it is not set.
func (r *reply) line(name string) string {
	r.t.Helper()
	return setCookieLine(r.t, r.Header, name)
}

func setCookieLine(t *testing.T, h http.Header, name string) string {
	t.Helper()
	found := ""
	for _, line := range h.Values("Set-Cookie") {
		if strings.HasPrefix(line, name+"=") {
			if found != "" {
				t.Errorf("%s is set twice: %q and %q", name, found, line)
			}
			found = line
		}
	}
	return found
}
