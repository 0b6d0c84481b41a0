package pintleecho

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/labstack/echo/v5"
)

// Context returns the [echo.Context] of the request that a callback is called
// for, or nil if the call does not come from Echo:
//
//	auth := pintle.NewFunc(func(r *http.Request) string {
//		return pintleecho.Context(r.Context()).Param("tenant")
//	}, config)
//
// Echo reuses its contexts for other requests. Therefore Context returns nil in
// code that still runs after the call into Pintle has returned.
func Context(ctx context.Context) *echo.Context {
	if held, ok := ctx.Value(contextKey{}).(*atomic.Pointer[echo.Context]); ok {
		return held.Load()
	}
	return nil
}

type contextKey struct{}

// call calls f with the request of c in the form for Pintle.
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

// trusted reports whether Echo trusts the peer that sent the request. Echo has no
// method for that, but takes the client's address from the header of a peer that
// it trusts. So trusted sends it a reserved address.
//
// https://www.rfc-editor.org/rfc/rfc5737#section-3
func trusted(c *echo.Context) bool {
	const reserved = "192.0.2.1"
	e := c.Echo()
	if e == nil || e.IPExtractor == nil {
		return true // Echo is not configured, so Config.TrustHost decides
	}
	probe := c.Request().WithContext(c.Request().Context())
	probe.Header = http.Header{"X-Forwarded-For": {reserved}}
	return e.IPExtractor(probe) == reserved
}
