package pintlegin

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/gin-gonic/gin"
)

// Context returns the [gin.Context] of the request that a callback is called
// for, or nil when it is not called from within Gin:
//
//	auth := pintle.NewFunc(func(r *http.Request) string {
//		return pintlegin.Context(r.Context()).Param("tenant")
//	}, config)
//
// Gin uses its contexts again for other requests. That is why Context returns
// nil in code that is still running when the call that led to it has returned.
func Context(ctx context.Context) *gin.Context {
	if held, ok := ctx.Value(contextKey{}).(*atomic.Pointer[gin.Context]); ok {
		return held.Load()
	}
	return nil
}

type contextKey struct{}

// call lets f have the request of c as Pintle is to see it, while f runs.
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

// trusted reports whether Gin trusts the peer that sent the request. It does not
// say so itself, but from a peer it trusts it believes who the client is: so it
// is told that the client is nobody.
//
// https://www.rfc-editor.org/rfc/rfc5737#section-3
func trusted(c *gin.Context) bool {
	const nobody = "192.0.2.1"
	original := c.Request
	defer func() { c.Request = original }()
	c.Request = original.WithContext(original.Context())
	c.Request.Header = http.Header{"X-Forwarded-For": {nobody}, "X-Real-Ip": {nobody}}
	return c.ClientIP() == nobody
}
