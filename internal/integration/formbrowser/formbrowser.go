// Package formbrowser has a browser without scripts: it keeps cookies, follows redirects and
// sends forms. Tests use it where they do not look at how a page is drawn.
package formbrowser

import (
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

// answerTimeout bounds one request. Servers that have just started answer late.
const answerTimeout = 30 * time.Second

// A Browser fails its test where a page does not answer with status 200.
type Browser struct {
	t      testing.TB
	client *http.Client
}

// A Page is where the redirects of a request end.
type Page struct {
	URL  *url.URL
	Text string
}

// New returns a browser without cookies.
func New(t testing.TB) *Browser {
	t.Helper()
	return Over(t, http.DefaultTransport)
}

// Over returns a browser without cookies whose requests go over a transport of the test.
func Over(t testing.TB, transport http.RoundTripper) *Browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Browser{t, &http.Client{Jar: jar, Timeout: answerTimeout, Transport: transport}}
}

// Get opens a page.
func (b *Browser) Get(target string) Page {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, target, http.NoBody)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.do(r)
}

func (b *Browser) do(r *http.Request) Page {
	b.t.Helper()
	r.Header.Set("Accept", "text/html")
	resp, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	// A page that asks the user to wait has its own status.
	if err != nil || resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusTooManyRequests {
		b.t.Fatalf("%s: %s, %v\n%s", resp.Request.URL, resp.Status, err, text)
	}
	return Page{resp.Request.URL, string(text)}
}

var (
	form  = regexp.MustCompile(`(?s)<form[^>]*action="([^"]*)"[^>]*>(.*?)</form>`)
	input = regexp.MustCompile(`<input[^>]*>`)
	name  = regexp.MustCompile(`name="([^"]*)"`)
	value = regexp.MustCompile(`value="([^"]*)"`)
)

// Submit sends the form of a page whose action contains a text, with the values of its
// inputs and the given ones.
func (b *Browser) Submit(p Page, action string, typed url.Values) Page {
	b.t.Helper()
	for _, f := range form.FindAllStringSubmatch(p.Text, -1) {
		if !strings.Contains(f[1], action) {
			continue
		}
		fields := url.Values{}
		for _, i := range input.FindAllString(f[2], -1) {
			if n, v := name.FindStringSubmatch(i), value.FindStringSubmatch(i); n != nil && v != nil {
				fields.Set(n[1], v[1])
			}
		}
		maps.Copy(fields, typed)
		target, err := p.URL.Parse(f[1])
		if err != nil {
			b.t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, target.String(), strings.NewReader(fields.Encode()))
		if err != nil {
			b.t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return b.do(r)
	}
	b.t.Fatalf("%s has no form for %s:\n%s", p.URL, action, p.Text)
	return Page{}
}
