// Package pintlefiber puts Pintle into applications that are written with Fiber.
//
//	auth, err := pintle.New(pintle.Config{…})
//	…
//	app := fiber.New(fiber.Config{ReadBufferSize: 16 << 10})
//	app.Use(pintlefiber.Load(auth))
//	pintlefiber.Mount(app, "/auth", auth)
//	app.Get("/account", pintlefiber.Require(auth), func(c fiber.Ctx) error {
//		return c.SendString("Hello, " + pintlefiber.Session(c).User.Name)
//	})
//
// [Load] reads the session of every request, [Session] returns it, [Require]
// turns strangers away, and [SignIn], [SignOut] and [UpdateSession] are for
// handlers of the application's own. They do what the methods of the same name
// of [pintle.Auth] do.
//
// # Limits of Fiber's server
//
// Fiber is not built on net/http. This package copies what Pintle needs of a
// request, since Fiber uses its memory again for the next one. The server
// itself refuses requests before anybody sees them: headers larger than
// [fiber.Config.ReadBufferSize], which is 4 KB unless it is set and too little
// for the cookies of a large session, and bodies larger than BodyLimit. It
// matches paths regardless of case and of slashes at the end unless
// CaseSensitive and StrictRouting are set: have [Require] guard routes, or
// decide by [Context] and its Route, rather than by the text of a path.
//
// # Behind a proxy
//
// With [pintle.Config.TrustHost] the headers X-Forwarded-Host and
// X-Forwarded-Proto say where the site is, but only in requests from peers that
// Fiber trusts: those of [fiber.Config.TrustProxy] and TrustProxyConfig. Without
// them it trusts nobody. With [pintle.Config.URL] no header is needed.
//
// # Fiber's context
//
// Callbacks, and the functions of [pintle.NewFunc], find the [fiber.Ctx] of the
// request they are called for with [Context]. The context they are given has
// the values of Fiber's Context and of its Locals.
//
// # Tests
//
// Package authtest signs somebody in, in the tests of an application:
//
//	r := httptest.NewRequest("GET", "http://localhost/account", nil)
//	authtest.SignIn(t, cfg, r, &pintle.User{Name: "Kim"})
//	resp, err := app.Test(r)
package pintlefiber
