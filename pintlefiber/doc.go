// Package pintlefiber adds Pintle to applications that are written with Fiber.
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
// rejects anonymous requests, and [SignIn], [SignOut] and [UpdateSession] are for
// handlers of the application. They do the same as the methods of [pintle.Auth]
// with the same names.
//
// # Limits of Fiber's server
//
// Fiber is not built on net/http. This package copies the parts of a request
// that Pintle needs, since Fiber reuses its memory for the next one. The server
// itself rejects requests before they reach a handler: headers larger than
// [fiber.Config.ReadBufferSize], whose default of 4 KB is too little for the
// cookies of a large session, and bodies larger than BodyLimit. It matches paths
// regardless of case and of slashes at the end unless CaseSensitive and
// StrictRouting are set: have [Require] guard routes, or decide by [Context] and
// its Route, rather than by the text of a path.
//
// # Behind a proxy
//
// With [pintle.Config.TrustHost] the headers X-Forwarded-Host and
// X-Forwarded-Proto determine the origin of the site, but only in requests from
// peers that Fiber trusts: those of [fiber.Config.TrustProxy] and
// TrustProxyConfig. Without them it trusts no peer. With [pintle.Config.URL] no
// header is needed.
//
// # Fiber's context
//
// In callbacks, and in the functions of [pintle.NewFunc], [Context] returns the
// [fiber.Ctx] of the request they are called for. The context they receive has
// the values of Fiber's Context and of its Locals.
//
// # Tests
//
// In the tests of an application, package authtest signs a user in:
//
//	r := httptest.NewRequest("GET", "http://localhost/account", nil)
//	authtest.SignIn(t, auth, r, &pintle.User{Name: "Kim"})
//	resp, err := app.Test(r)
package pintlefiber
