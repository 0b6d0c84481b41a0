// Package pintleecho puts Pintle into applications that are written with Echo.
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
// turns strangers away, and [SignIn], [SignOut] and [UpdateSession] are for
// handlers of the application's own. They do what the methods of the same name
// of [pintle.Auth] do.
//
// Echo 4 needs no package: echo.WrapHandler takes the [pintle.Auth] itself, and
// echo.WrapMiddleware its Load and Require.
//
// # Behind a proxy
//
// With [pintle.Config.TrustHost] the headers X-Forwarded-Host and
// X-Forwarded-Proto say where the site is, but only in requests from peers that
// Echo trusts: set [echo.Echo.IPExtractor] to the result of
// [echo.ExtractIPFromXFFHeader]. While it is not set Echo knows nothing of
// proxies, and everybody's headers count. With [pintle.Config.URL] no header is
// needed.
//
// # Echo's context
//
// Callbacks, and the functions of [pintle.NewFunc], find the [echo.Context] of
// the request they are called for with [Context].
//
// # Tests
//
// Package authtest signs somebody in, in the tests of an application:
//
//	r := httptest.NewRequest("GET", "http://localhost/account", nil)
//	authtest.SignIn(t, cfg, r, &pintle.User{Name: "Kim"})
//	e.ServeHTTP(httptest.NewRecorder(), r)
package pintleecho
