package pintlegin

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/pintleauth/pintle"
)

// Mount serves the sign-in routes of auth below path. Together with the path of
// router, if that is a group, it has to be the [pintle.Config.BasePath], whose
// default is "/auth".
func Mount(router gin.IRoutes, path string, auth *pintle.Auth) {
	router.Any(strings.TrimRight(path, "/")+"/*pintle", func(c *gin.Context) {
		call(c, func(r *http.Request) { auth.ServeHTTP(c.Writer, r) })
	})
}

// Load reads the session of each request, as [pintle.Auth.Load] says, for
// [Session] and [Require] further in. Code that is given the request's context
// finds it with [pintle.SessionFrom].
func Load(auth *pintle.Auth) gin.HandlerFunc {
	return func(c *gin.Context) {
		if len(c.Request.Header["Cookie"]) == 0 && len(c.Request.Header["Authorization"]) == 0 {
			return // as Load itself does; a stranger costs nothing
		}
		ctx := c.Request.Context()
		load := auth.Load(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { ctx = r.Context() }))
		call(c, func(r *http.Request) { load.ServeHTTP(c.Writer, r) })
		c.Request = c.Request.WithContext(ctx)
	}
}

// Require lets requests through that carry a session, or that
// [pintle.Callbacks.Authorized] lets pass, as [pintle.Auth.Require] says. The
// handlers after it do not run for others.
func Require(auth *pintle.Auth) gin.HandlerFunc {
	return func(c *gin.Context) {
		var ctx context.Context // of a request that may pass
		require := auth.Require(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { ctx = r.Context() }))
		call(c, func(r *http.Request) { require.ServeHTTP(c.Writer, r) })
		if ctx == nil {
			c.Abort()
			return
		}
		c.Request = c.Request.WithContext(ctx)
	}
}

// Session returns the session that [Load] found, or nil when nobody is signed in.
func Session(c *gin.Context) *pintle.Session { return pintle.SessionFrom(c.Request.Context()) }
