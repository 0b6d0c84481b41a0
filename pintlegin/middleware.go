package pintlegin

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/pintleauth/pintle"
)

// Mount serves the sign-in routes of auth below path. Together with the path of
// router, if that is a group, it must be the [pintle.Config.BasePath], "/auth" by
// default.
func Mount(router gin.IRoutes, path string, auth *pintle.Auth) {
	router.Any(strings.TrimRight(path, "/")+"/*pintle", func(c *gin.Context) {
		call(c, func(r *http.Request) { auth.ServeHTTP(c.Writer, r) })
	})
}

// Load reads the session of each request for [Session] and [Require], see
// [pintle.Auth.Load]. Code that has the request's context gets it
// with [pintle.SessionFrom]. The handlers after it do not run for a request that
// [pintle.Auth.Load] answers.
func Load(auth *pintle.Auth) gin.HandlerFunc {
	return func(c *gin.Context) {
		// A session that the Load of another Auth found must not remain.
		if len(c.Request.Header["Cookie"]) == 0 && len(c.Request.Header["Authorization"]) == 0 && Session(c) == nil {
			return // as Load itself does: an anonymous request costs nothing
		}
		var ctx context.Context // of a request that goes on
		load := auth.Load(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { ctx = r.Context() }))
		call(c, func(r *http.Request) { load.ServeHTTP(c.Writer, r) })
		if ctx == nil {
			c.Abort()
			return
		}
		c.Request = c.Request.WithContext(ctx)
	}
}

// Require rejects requests without a session, unless
// [pintle.Callbacks.Authorized] allows them; see [pintle.Auth.Require]. The
// handlers after it do not run for rejected requests.
func Require(auth *pintle.Auth) gin.HandlerFunc {
	return func(c *gin.Context) {
		var ctx context.Context // of an allowed request
		require := auth.Require(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { ctx = r.Context() }))
		call(c, func(r *http.Request) { require.ServeHTTP(c.Writer, r) })
		if ctx == nil {
			c.Abort()
			return
		}
		c.Request = c.Request.WithContext(ctx)
	}
}

// Session returns the session that [Load] found, or nil if the request is
// anonymous.
func Session(c *gin.Context) *pintle.Session { return pintle.SessionFrom(c.Request.Context()) }
