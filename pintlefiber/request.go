package pintlefiber

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v3"
)

// call calls f with the request of c in the form of net/http, and a response
// whose header and body become those of c when f returns. It returns an error
// without calling f if Pintle would read the request differently from Fiber.
func call(c fiber.Ctx, f func(http.ResponseWriter, *http.Request)) error {
	ctx := &crossing{Context: c.Context(), c: c}
	defer ctx.end()
	r, err := request(ctx, c)
	if err != nil {
		return fmt.Errorf("%w: %w", fiber.ErrBadRequest, err)
	}
	w := newResponse(c)
	f(w, r)
	w.send(c)
	return nil
}

// request returns the request of c in the form of net/http. Only its body, which
// is read during the call, shares memory with Fiber's request: texts outlive the
// request, in caches and sessions.
func request(ctx context.Context, c fiber.Ctx) (*http.Request, error) {
	in := c.Request()
	u, err := address(c)
	if err != nil {
		return nil, err
	}
	r := &http.Request{
		Method:     strings.Clone(c.Method()),
		URL:        u,
		RequestURI: string(in.Header.RequestURI()),
		Proto:      string(in.Header.Protocol()),
		Host:       host(c),
		RemoteAddr: c.RequestCtx().RemoteAddr().String(),
		Header:     header(c),
		Body:       http.NoBody,
	}
	r.ProtoMajor, r.ProtoMinor, _ = http.ParseHTTPVersion(r.Proto)
	if c.RequestCtx().IsTLS() {
		if r.TLS = c.RequestCtx().TLSConnectionState(); r.TLS == nil {
			r.TLS = new(tls.ConnectionState) // of a connection that is counted per address
		}
	}
	if stream := in.BodyStream(); stream != nil {
		// Pintle limits how much of it is read.
		r.Body, r.ContentLength = io.NopCloser(stream), max(-1, int64(in.Header.ContentLength()))
	} else if body := in.Body(); len(body) > 0 {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	return r.WithContext(ctx), nil
}

// address returns the URL by which Fiber chose the route. The request line can be
// read in another way: Fiber reads "//x/admin?://" as the path "/admin". A guard
// that reads it differently would guard another page than the one that Fiber
// serves.
func address(c fiber.Ctx) (*url.URL, error) {
	target := c.Path()
	if c.App().Config().UnescapePath {
		target = (&url.URL{Path: target}).EscapedPath()
	}
	if query := c.Request().URI().QueryString(); len(query) > 0 {
		target += "?" + string(query)
	}
	return url.ParseRequestURI(strings.Clone(target))
}

// host is the Host header, or the host of the request line if that has a whole
// URL. It is not the host Fiber reads, which drops a user name before it.
//
// https://www.rfc-editor.org/rfc/rfc9112#section-3.2.2
func host(c fiber.Ctx) string {
	target := c.Request().Header.RequestURI()
	if bytes.HasPrefix(target, []byte("/")) {
		return string(c.Request().Header.Host())
	}
	if u, err := url.ParseRequestURI(string(target)); err == nil && u.Host != "" {
		return u.Host
	}
	return string(c.Request().Header.Host())
}

// header copies the header. It omits the headers of proxies unless Fiber trusts
// the peer.
func header(c fiber.Ctx) http.Header {
	h := make(http.Header, c.Request().Header.Len())
	for key, value := range c.Request().Header.All() {
		name := http.CanonicalHeaderKey(string(key))
		h[name] = append(h[name], string(value))
	}
	delete(h, "Host") // as net/http does
	if !c.IsProxyTrusted() {
		delete(h, "X-Forwarded-Host")
		delete(h, "X-Forwarded-Proto")
	}
	return h
}
