package mistakes

import (
	"context"
	"crypto/tls"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/internal/testsite"
)

// hosts are the servers of a test by host and port. Other hosts are addresses of
// this machine, or cannot be reached.
type hosts map[string]string

func (n hosts) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if server, ok := n[addr]; ok {
		addr = server
	} else if host, _, _ := net.SplitHostPort(addr); !isLoopback(host) {
		return nil, fmt.Errorf("dial %s: no such host", addr)
	}
	return new(net.Dialer).DialContext(ctx, network, addr)
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// A browser sends the headers that real ones send: cookies, the header Origin of a form, the
// header Referer of a link, and the headers Sec-Fetch-Site and Sec-Fetch-Mode to
// addresses with TLS and on this machine.
//
// https://www.w3.org/TR/fetch-metadata/
// https://www.w3.org/TR/referrer-policy/
type browser struct {
	t      *testing.T
	client *http.Client

	at     *url.URL // the address of the page, nil before the first
	status int
	page   string
	policy string // Referrer-Policy of the page

	// failure is why there is no page: a host that does not exist, or too many
	// redirects.
	failure error

	// before is called with the path of each request before it is sent. It may be
	// nil.
	before func(path string)
}

func (n hosts) browser(t *testing.T) *browser {
	return &browser{t: t, client: testsite.Browser(&http.Transport{
		DialContext: n.dial,
		// The servers of a test have one certificate for whatever name they
		// are called by.
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		DisableKeepAlives: true,
	})}
}

// forget removes the browser's cookies.
func (s *browser) forget() { s.client.Jar, _ = cookiejar.New(nil) }

// open types an address.
func (s *browser) open(address string) *browser {
	s.t.Helper()
	return s.navigate(http.MethodGet, s.parse(address), nil, nil)
}

// click follows a link on the page.
func (s *browser) click(link string) *browser {
	s.t.Helper()
	return s.navigate(http.MethodGet, s.at.ResolveReference(s.parse(link)), nil, s.at)
}

var (
	form   = regexp.MustCompile(`(?s)<form [^>]*action="([^"]*)".*?</form>`)
	hidden = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)
)

// submit fills in the form of the page whose action ends so, and presses its
// button. Fields are names and values.
func (s *browser) submit(action string, fields ...string) *browser {
	s.t.Helper()
	for _, found := range form.FindAllStringSubmatch(s.page, -1) {
		to := html.UnescapeString(found[1])
		if !strings.HasSuffix(to, action) {
			continue
		}
		values := url.Values{}
		for _, input := range hidden.FindAllStringSubmatch(found[0], -1) {
			values.Set(html.UnescapeString(input[1]), html.UnescapeString(input[2]))
		}
		for i := 0; i < len(fields); i += 2 {
			values.Set(fields[i], fields[i+1])
		}
		return s.navigate(http.MethodPost, s.at.ResolveReference(s.parse(to)), values, s.at)
	}
	s.t.Fatalf("%s has no form that posts to %s: %.2000s", s.at, action, s.page)
	return nil
}

func (s *browser) parse(address string) *url.URL {
	s.t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		s.t.Fatal(err)
	}
	return u
}

// navigate goes to an address and follows redirects. initiator is the page that
// it is done from, nil for an address that was typed.
func (s *browser) navigate(method string, to *url.URL, body url.Values, initiator *url.URL) *browser {
	s.t.Helper()
	site := "none"
	s.failure = nil
	for range 20 {
		if s.before != nil {
			s.before(to.Path)
		}
		if initiator != nil {
			site = farther(site, initiator, to)
		}
		r, err := http.NewRequestWithContext(s.t.Context(), method, to.String(), strings.NewReader(body.Encode()))
		if err != nil {
			s.t.Fatal(err)
		}
		r.Header.Set("Accept", "text/html")
		if trustworthy(to) {
			r.Header.Set("Sec-Fetch-Site", site)
			r.Header.Set("Sec-Fetch-Mode", "navigate")
		}
		if initiator != nil {
			s.setOrigin(r, initiator, to)
		}
		if method == http.MethodPost {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		resp, err := s.client.Do(r)
		if err != nil {
			s.at, s.status, s.page, s.failure = to, 0, "", err
			return s
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			s.t.Fatal(err)
		}
		if next := resp.Header.Get("Location"); next != "" && resp.StatusCode/100 == 3 {
			to, method, body = to.ResolveReference(s.parse(next)), http.MethodGet, nil
			continue
		}
		s.at, s.status, s.page, s.policy = to, resp.StatusCode, string(text), resp.Header.Get("Referrer-Policy")
		return s
	}
	s.at, s.status, s.page, s.failure = to, 0, "", fmt.Errorf("%s redirects again and again", to)
	return s
}

// setOrigin sets the headers that show where a request comes from.
func (s *browser) setOrigin(r *http.Request, from, to *url.URL) {
	origin := from.Scheme + "://" + from.Host
	downgrade := from.Scheme == "https" && !trustworthy(to)
	if r.Method == http.MethodPost {
		r.Header.Set("Origin", origin)
		if downgrade || s.policy == "no-referrer" {
			r.Header.Set("Origin", "null")
		}
	}
	switch {
	case downgrade, s.policy == "no-referrer":
	case s.policy == "" && from.Scheme == to.Scheme && from.Host == to.Host:
		r.Header.Set("Referer", from.String())
	default:
		r.Header.Set("Referer", origin+"/")
	}
}

// farther returns the Sec-Fetch-Site of a request that was redirected to an
// address: the farthest on its way.
func farther(site string, from, to *url.URL) string {
	here := "cross-site"
	switch {
	case from.Scheme == to.Scheme && from.Host == to.Host:
		here = "same-origin"
	case from.Scheme == to.Scheme && from.Hostname() == to.Hostname():
		here = "same-site"
	}
	for _, far := range []string{"cross-site", "same-site"} {
		if site == far || here == far {
			return far
		}
	}
	return here
}

// trustworthy reports whether browsers send Sec-Fetch headers to an address.
//
// https://w3c.github.io/webappsec-secure-contexts/#is-origin-trustworthy
func trustworthy(u *url.URL) bool { return u.Scheme == "https" || isLoopback(u.Hostname()) }

// sees fails the test unless the page has a status and a text.
func (s *browser) sees(status int, text string) *browser {
	s.t.Helper()
	if s.failure != nil || s.status != status || !strings.Contains(s.page, text) {
		s.t.Errorf("the browser is at %s with status %d (%v), want %d and %q: %s", s.at, s.status, s.failure, status, text, s.text())
	}
	return s
}

var markup = regexp.MustCompile(`(?s)<style>.*?</style>|<[^>]*>|\s+`)

// text is the beginning of what the page says.
func (s *browser) text() string {
	return fmt.Sprintf("%.300s", strings.Join(strings.Fields(markup.ReplaceAllString(s.page, " ")), " "))
}

// isAt fails the test unless the browser is at an address.
func (s *browser) isAt(prefix string) *browser {
	s.t.Helper()
	if !strings.HasPrefix(s.at.String(), prefix) {
		s.t.Errorf("the browser is at %s, want %s", s.at, prefix)
	}
	return s
}
