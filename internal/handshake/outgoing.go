package handshake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/pintleauth/pintle/internal/endpoint"
	"github.com/pintleauth/pintle/internal/loopback"
)

// guardedClient returns a client for requests to a provider, over the transport
// of base. Hooks get the same client, so that its limits do not depend on the
// author of a provider.
//
// It follows no redirect: a redirected token request would repeat the code and
// the client secret at an address that is not configured. It keeps no cookies,
// which would carry one user's session at the provider into the request of
// another.
func guardedClient(base *http.Client, timeout time.Duration, allowInsecure bool) *http.Client {
	c := new(http.Client)
	if base != nil {
		*c = *base
	}
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	if c.Timeout <= 0 || c.Timeout > timeout {
		c.Timeout = timeout
	}
	c.Jar = nil
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	transport := c.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	c.Transport = &guard{transport, allowInsecure, make(chan struct{}, maxUnderWay)}
	return c
}

type guard struct {
	base          http.RoundTripper
	allowInsecure bool
	underWay      chan struct{} // has one element for each request
}

// errBusy is temporary.
var errBusy = fmt.Errorf("%d requests to the provider are under way, and it has answered none of them for %v", maxUnderWay, placeWait)

// enter waits for a place for a request. A provider that hangs, or that a customer has made
// to hang, would otherwise hold as many connections and goroutines as clients begin
// sign-ins. The place is free again when leave is called or ctx ends, whichever is first: a
// hook may forget to close a body.
func (g *guard) enter(ctx context.Context) (leave func(), err error) {
	wait := time.NewTimer(placeWait)
	defer wait.Stop()
	select {
	case g.underWay <- struct{}{}:
	case <-wait.C:
		return nil, errBusy
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	once := sync.OnceFunc(func() { <-g.underWay })
	stop := context.AfterFunc(ctx, once)
	return func() { stop(); once() }, nil
}

func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := checkURL(req.URL, g.allowInsecure || loopback.Host(req.URL.Hostname())); err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // a RoundTripper closes it in any case
		}
		return nil, err
	}
	leave, err := g.enter(req.Context())
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	resp, err := g.base.RoundTrip(req)
	if err != nil {
		leave()
		return nil, err
	}
	resp.Body = &boundedBody{resp.Body, maxBody, leave}
	return resp, nil
}

var errTooLarge = fmt.Errorf("response is larger than %d bytes", maxBody)

// boundedBody fails where [io.LimitReader] would make a long document look like
// a complete shorter one. It counts the bytes after decompression.
type boundedBody struct {
	io.ReadCloser
	left  int
	leave func()
}

func (b *boundedBody) Close() error {
	defer b.leave()
	return b.ReadCloser.Close()
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if len(p) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if n > b.left {
		return 0, errTooLarge
	}
	b.left -= n
	return n, err
}

// parseURL parses an address the application configured. Configured addresses
// may be http on this machine.
func parseURL(raw string, allowInsecure bool) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("not a URL") // its text would repeat a secret in the query
	}
	if err := checkURL(u, allowInsecure || loopback.Host(u.Hostname())); err != nil {
		return nil, err
	}
	return u, nil
}

// checkURL rejects addresses to which credentials must not be sent, and invalid
// ones.
func checkURL(u *url.URL, allowHTTP bool) error {
	switch {
	case u.Hostname() == "":
		return fmt.Errorf("%q is not an absolute URL: write it with https://", u.Redacted())
	case u.User != nil:
		return fmt.Errorf("URL of %q contains a user name", u.Host)
	case u.Scheme == "https", u.Scheme == "http" && allowHTTP:
		return nil
	case u.Scheme == "http":
		return fmt.Errorf("%s://%s is not encrypted: use https, or set DangerouslyAllowHTTP for a test provider", u.Scheme, u.Host)
	default:
		return fmt.Errorf("scheme %q is neither https nor http", u.Scheme)
	}
}

// reply is a response read to its end.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// do sends req. Its errors name the address without the query, because some
// providers require the client secret in it.
func do(c *http.Client, req *http.Request) (*reply, error) {
	resp, err := c.Do(req)
	if err != nil {
		return nil, withoutQuery(req, err)
	}
	defer func() { _ = resp.Body.Close() }() // nothing to do about it: the body is read
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, withoutQuery(req, err)
	}
	return &reply{resp.StatusCode, resp.Header, body}, nil
}

func withoutQuery(req *http.Request, err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return fmt.Errorf("%s %s://%s%s: %w", req.Method, req.URL.Scheme, req.URL.Host, req.URL.EscapedPath(), err)
}

// Reach reports whether the server of the discovery document, or else of the token endpoint,
// answers.
func (p *Provider) Reach(ctx context.Context) error {
	address, err := p.documentURL()
	if !p.discovers() {
		address, err = p.parseURL(p.Token.URL)
	}
	if err != nil {
		return p.errorf("%w", err)
	}
	return reach(ctx, p.client(), address)
}

// Reach reports whether the server of the token requests answers.
func (o *OAuth1) Reach(ctx context.Context) error {
	address, err := o.parseURL(o.RequestTokenURL)
	if err != nil {
		return err
	}
	return reach(ctx, o.client(), address)
}

// Reach reports whether the server answers.
func (o *OpenID2) Reach(ctx context.Context) error {
	address, err := parseURL(o.URL, o.AllowInsecure)
	if err != nil {
		return err
	}
	return reach(ctx, o.client(), address)
}

// reach sends a request without credentials. Any status counts as an answer but those of a
// server that fails: a token endpoint, for example, accepts no GET.
func reach(ctx context.Context, c *http.Client, address *url.URL) error {
	req, err := http.NewRequestWithContext(endpoint.With(ctx, endpoint.Reach), http.MethodGet, address.String(), http.NoBody)
	if err != nil {
		return err
	}
	resp, err := c.Do(req)
	if err != nil {
		return withoutQuery(req, err)
	}
	_ = resp.Body.Close() // it may be a large page, which is of no use
	if resp.StatusCode >= http.StatusInternalServerError {
		return withoutQuery(req, fmt.Errorf("status %d", resp.StatusCode))
	}
	return nil
}

// Fetch sends req and returns the JSON value of a 2xx response, numbers as
// [json.Number]. It is for the hooks of a [Provider]: any other status is an
// error, so that the body of a failure never becomes a profile (quirk Q11).
func Fetch(c *http.Client, req *http.Request) (any, error) {
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "application/json")
	}
	r, err := do(c, req)
	if err != nil {
		return nil, err
	}
	if r.status < 200 || r.status > 299 {
		return nil, withoutQuery(req, fmt.Errorf("status %d", r.status))
	}
	v, err := decodeJSON(r.body)
	if err != nil {
		return nil, withoutQuery(req, err)
	}
	return v, nil
}
