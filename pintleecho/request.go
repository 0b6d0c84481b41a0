package pintleecho

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/labstack/echo/v5"
)

// Context returns the [echo.Context] of the request that a callback is called
// for, or nil when it is not called from within Echo:
//
//	auth := pintle.NewFunc(func(r *http.Request) string {
//		return pintleecho.Context(r.Context()).Param("tenant")
//	}, config)
//
// Echo uses its contexts again for other requests. That is why Context returns
// nil in code that is still running when the call that led to it has returned.
func Context(ctx context.Context) *echo.Context {
	if held, ok := ctx.Value(contextKey{}).(*atomic.Pointer[echo.Context]); ok {
		return held.Load()
	}
	return nil
}

type contextKey struct{}

// call lets f have the request of c as Pintle is to see it, while f runs.
func call(c *echo.Context, f func(*http.Request)) {
	held := new(atomic.Pointer[echo.Context])
	held.Store(c)
	defer held.Store(nil)
	r := c.Request().WithContext(context.WithValue(c.Request().Context(), contextKey{}, held))
	if (r.Header["X-Forwarded-Host"] != nil || r.Header["X-Forwarded-Proto"] != nil) && !trusted(c) {
		r.Header = r.Header.Clone()
		delete(r.Header, "X-Forwarded-Host")
		delete(r.Header, "X-Forwarded-Proto")
	}
	f(r)
}

// trusted reports whether Echo trusts the peer that sent the request. It does
// not say so itself, but from a peer it trusts it believes who the client is: so
// it is told that the client is nobody.
//
// https://www.rfc-editor.org/rfc/rfc5737#section-3
func trusted(c *echo.Context) bool {
	const nobody = "192.0.2.1"
	e := c.Echo()
	if e == nil || e.IPExtractor == nil {
		return true // Echo has no opinion, so that of the configuration counts
	}
	probe := c.Request().WithContext(c.Request().Context())
	probe.Header = http.Header{"X-Forwarded-For": {nobody}}
	return e.IPExtractor(probe) == nobody
}
