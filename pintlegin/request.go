package pintlegin

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/gin-gonic/gin"
)

// Context returns the [gin.Context] of the request that a callback is called
// for, or nil if the call does not come from Gin:
//
//	auth := pintle.NewFunc(func(r *http.Request) string {
//		return pintlegin.Context(r.Context()).Param("tenant")
//	}, config)
//
// Gin reuses its contexts for other requests. Therefore Context returns nil in
// code that still runs after the call into Pintle has returned.
func Context(ctx context.Context) *gin.Context {
	if held, ok := ctx.Value(contextKey{}).(*atomic.Pointer[gin.Context]); ok {
		return held.Load()
	}
	return nil
}

type contextKey struct{}

// call calls f with the request of c in the form for Pintle.
func call(c *gin.Context, f func(*http.Request)) {
	held := new(atomic.Pointer[gin.Context])
	held.Store(c)
	defer held.Store(nil)
	r := c.Request.WithContext(context.WithValue(c.Request.Context(), contextKey{}, held))
	if (r.Header["X-Forwarded-Host"] != nil || r.Header["X-Forwarded-Proto"] != nil) && !trusted(c) {
		r.Header = r.Header.Clone()
		delete(r.Header, "X-Forwarded-Host")
		delete(r.Header, "X-Forwarded-Proto")
	}
	f(r)
}

// trusted reports whether Gin trusts the peer that sent the request. Gin has no
// method for that, but takes the client's address from the headers of a peer that
// it trusts. So trusted sends it a reserved address.
//
// https://www.rfc-editor.org/rfc/rfc5737#section-3
func trusted(c *gin.Context) bool {
	const reserved = "192.0.2.1"
	original := c.Request
	defer func() { c.Request = original }()
	c.Request = original.WithContext(original.Context())
	c.Request.Header = http.Header{"X-Forwarded-For": {reserved}, "X-Real-Ip": {reserved}}
	return c.ClientIP() == reserved
}
