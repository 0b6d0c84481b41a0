// Package pintleecho adds Pintle to applications that are written with Echo.
//
//	auth, err := pintle.New(pintle.Config{…})
//	…
//	e := echo.New()
//	e.Use(pintleecho.Load(auth))
//	pintleecho.Mount(e, "/auth", auth)
//	e.GET("/account", func(c *echo.Context) error {
//		return c.String(http.StatusOK, "Hello, "+pintleecho.Session(c).User.Name)
//	}, pintleecho.Require(auth))
//
// [Load] reads the session of every request, [Session] returns it, [Require]
// rejects anonymous requests, and [SignIn], [SignOut] and [UpdateSession] are for
// handlers of the application. They do the same as the methods of [pintle.Auth]
// with the same names.
//
// Echo 4 needs no package: echo.WrapHandler takes the [pintle.Auth] itself, and
// echo.WrapMiddleware its Load and Require.
//
// # Behind a proxy
//
// With [pintle.Config.TrustHost] the headers X-Forwarded-Host and
// X-Forwarded-Proto determine the origin of the site, but only in requests from
// peers that Echo trusts: set [echo.Echo.IPExtractor] to the result of
// [echo.ExtractIPFromXFFHeader]. If it is not set, the headers of every client are
// trusted. With [pintle.Config.URL] no header is needed.
//
// # Echo's context
//
// In callbacks, and in the functions of [pintle.NewFunc], [Context] returns the
// [echo.Context] of the request they are called for.
//
// # Tests
//
// In the tests of an application, package authtest signs a user in:
//
//	r := httptest.NewRequest("GET", "http://localhost/account", nil)
//	authtest.SignIn(t, auth, r, &pintle.User{Name: "Kim"})
//	e.ServeHTTP(httptest.NewRecorder(), r)
package pintleecho
