package interop_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// A turns is the proxy in front of the site: it hands each request to one of
// the servers, at random, and notes which. Requests for other hosts go there.
type turns struct {
	site *site
	next *rand.Rand
	base http.RoundTripper

	log   strings.Builder
	last  string // the server of the last request
	taken int    // requests answered
	moved int    // requests answered by another server than the one before
	split int    // requests with a session in several cookies
}

func (p *turns) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != strings.TrimPrefix(origin, "https://") {
		resp, err := p.base.RoundTrip(r)
		p.note("elsewhere", r, resp, err)
		return resp, err
	}
	name, address := "pintle", p.site.pintle
	if p.next.IntN(2) == 0 {
		name, address = "authjs", p.site.authjs
	}
	p.taken++
	if p.last != "" && p.last != name {
		p.moved++
	}
	p.last = name
	if _, err := r.Cookie(sessionCookie + ".1"); err == nil {
		p.split++
	}

	inner := r.Clone(r.Context())
	inner.Host = r.URL.Host
	inner.URL.Scheme, inner.URL.Host = "http", address
	inner.Header.Set("X-Forwarded-Proto", "https")
	inner.Header.Set("X-Forwarded-Host", r.URL.Host)
	resp, err := p.base.RoundTrip(inner)
	p.note(name, r, resp, err)
	return resp, err
}

func (p *turns) note(who string, r *http.Request, resp *http.Response, err error) {
	fmt.Fprintf(&p.log, "%-9s  %s %s", who, r.Method, short(r.URL.String()))
	if names := cookieNames(r); names != "" {
		fmt.Fprintf(&p.log, "  with %s", names)
	}
	if r.GetBody != nil {
		if body, err := r.GetBody(); err == nil {
			if text, _ := io.ReadAll(body); len(text) > 0 {
				fmt.Fprintf(&p.log, "\n           %.400s", text)
			}
		}
	}
	if err != nil {
		fmt.Fprintf(&p.log, "\n           %v\n", err)
		return
	}
	fmt.Fprintf(&p.log, "\n           %d", resp.StatusCode)
	if to := resp.Header.Get("Location"); to != "" {
		fmt.Fprintf(&p.log, " to %s", short(to))
	}
	for _, c := range resp.Cookies() {
		fmt.Fprintf(&p.log, ", sets %s", c.Name)
		if c.MaxAge < 0 || c.Value == "" {
			fmt.Fprint(&p.log, " (deleted)")
		}
	}
	fmt.Fprintln(&p.log)
}

// sealed are the cookies that only the servers can read.
var sealed = regexp.MustCompile(`[\w-]{40,}(\.[\w-]*)*`)

func short(text string) string { return sealed.ReplaceAllString(text, "…") }

func cookieNames(r *http.Request) string {
	var names []string
	for _, c := range r.Cookies() {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

// both sends this request to each server, and returns both responses.
func (p *turns) both(r *http.Request) (answers map[string]string, err error) {
	answers = map[string]string{}
	for name, address := range map[string]string{"pintle": p.site.pintle, "authjs": p.site.authjs} {
		inner := r.Clone(r.Context())
		inner.Host = r.URL.Host
		inner.URL = &url.URL{Scheme: "http", Host: address, Path: r.URL.Path}
		inner.Header.Set("X-Forwarded-Proto", "https")
		inner.Header.Set("X-Forwarded-Host", r.URL.Host)
		resp, err := p.base.RoundTrip(inner)
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			return nil, err
		}
		answers[name] = string(body)
	}
	return answers, nil
}
