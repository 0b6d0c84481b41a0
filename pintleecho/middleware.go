package pintleecho

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v5"
	"github.com/pintleauth/pintle"
)

// A router is an [echo.Echo] or an [echo.Group].
type router interface {
	Any(path string, handler echo.HandlerFunc, middleware ...echo.MiddlewareFunc) echo.RouteInfo
}

// Mount serves the sign-in routes of auth below path. router is an [echo.Echo]
// or an [echo.Group]. Its prefix and path together must be the
// [pintle.Config.BasePath], "/auth" by default.
func Mount(router router, path string, auth *pintle.Auth) {
	router.Any(strings.TrimRight(path, "/")+"/*", func(c *echo.Context) error {
		call(c, func(r *http.Request) { auth.ServeHTTP(c.Response(), r) })
		return nil
	})
}

// Load reads the session of each request for [Session] and [Require], see
// [pintle.Auth.Load]. Code that has the request's context gets it
// with [pintle.SessionFrom].
func Load(auth *pintle.Auth) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c *echo.Context) error {
			// A session that the Load of another Auth found must not remain.
			if h := c.Request().Header; len(h["Cookie"]) == 0 && len(h["Authorization"]) == 0 && Session(c) == nil {
				return next(c) // as Load itself does: an anonymous request costs nothing
			}
			var ctx context.Context // of a request that goes on
			load := auth.Load(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { ctx = r.Context() }))
			call(c, func(r *http.Request) { load.ServeHTTP(c.Response(), r) })
			if ctx == nil {
				return nil // the response is written
			}
			c.SetRequest(c.Request().WithContext(ctx))
			return next(c)
		}
	}
}

// Require rejects requests without a session, unless
// [pintle.Callbacks.Authorized] allows them; see [pintle.Auth.Require].
func Require(auth *pintle.Auth) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c *echo.Context) error {
			var ctx context.Context // of an allowed request
			require := auth.Require(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { ctx = r.Context() }))
			call(c, func(r *http.Request) { require.ServeHTTP(c.Response(), r) })
			if ctx == nil {
				return nil // the response is written
			}
			c.SetRequest(c.Request().WithContext(ctx))
			return next(c)
		}
	}
}

// Session returns the session that [Load] found, or nil if the request is
// anonymous.
func Session(c *echo.Context) *pintle.Session { return pintle.SessionFrom(c.Request().Context()) }
