package pintlefiber

import (
	"context"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v3"
	"github.com/pintleauth/pintle"
)

// Mount serves the sign-in routes of auth below path. Together with the path of
// router, if that is a group, it must be the [pintle.Config.BasePath], "/auth" by
// default.
func Mount(router fiber.Router, path string, auth *pintle.Auth) {
	router.All(strings.TrimRight(path, "/")+"/*", func(c fiber.Ctx) error {
		return call(c, func(w http.ResponseWriter, r *http.Request) { auth.ServeHTTP(w, r) })
	})
}

// Load reads the session of each request for [Session] and [Require], see
// [pintle.Auth.Load]. Code that has the request's context, which is that
// of [fiber.Ctx]'s method Context, gets it with [pintle.SessionFrom].
func Load(auth *pintle.Auth) fiber.Handler {
	return func(c fiber.Ctx) error {
		// A session that the Load of another Auth found must not remain.
		if h := &c.Request().Header; len(h.Peek(fiber.HeaderCookie)) == 0 && len(h.Peek(fiber.HeaderAuthorization)) == 0 && Session(c) == nil {
			return c.Next() // as Load itself does: an anonymous request costs no copy
		}
		var ctx context.Context // of a request that goes on
		load := auth.Load(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { ctx = r.Context() }))
		if err := call(c, load.ServeHTTP); err != nil || ctx == nil {
			return err // nil if the response is written
		}
		c.SetContext(ctx)
		return c.Next()
	}
}

// Require rejects requests without a session, unless
// [pintle.Callbacks.Authorized] allows them; see [pintle.Auth.Require].
func Require(auth *pintle.Auth) fiber.Handler {
	return func(c fiber.Ctx) error {
		var ctx context.Context // of an allowed request
		require := auth.Require(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { ctx = r.Context() }))
		if err := call(c, require.ServeHTTP); err != nil || ctx == nil {
			return err // nil if the response is written
		}
		c.SetContext(ctx)
		return c.Next()
	}
}

// Session returns the session that [Load] found, or nil if the request is
// anonymous.
func Session(c fiber.Ctx) *pintle.Session { return pintle.SessionFrom(c.Context()) }
