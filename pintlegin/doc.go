// Package pintlegin adds Pintle to applications that are written with Gin.
//
//	auth, err := pintle.New(pintle.Config{…})
//	…
//	router := gin.Default()
//	router.Use(pintlegin.Load(auth))
//	pintlegin.Mount(router, "/auth", auth)
//	router.GET("/account", pintlegin.Require(auth), func(c *gin.Context) {
//		c.String(http.StatusOK, "Hello, %s", pintlegin.Session(c).User.Name)
//	})
//
// [Load] reads the session of every request, [Session] returns it, [Require]
// rejects anonymous requests, and [SignIn], [SignOut] and [UpdateSession] are for
// handlers of the application. They do the same as the methods of [pintle.Auth]
// with the same names.
//
// # Behind a proxy
//
// With [pintle.Config.TrustHost] the headers X-Forwarded-Host and
// X-Forwarded-Proto determine the origin of the site, but only in requests from
// peers that Gin trusts to name the client in X-Forwarded-For or X-Real-IP: those
// of [gin.Engine.SetTrustedProxies]. By default Gin trusts every peer, so call
// it. With [pintle.Config.URL] no header is needed.
//
// # Gin's context
//
// In callbacks, and in the functions of [pintle.NewFunc], [Context] returns the
// [gin.Context] of the request they are called for.
//
// # Tests
//
// In the tests of an application, package authtest signs a user in:
//
//	r := httptest.NewRequest("GET", "http://localhost/account", nil)
//	authtest.SignIn(t, auth, r, &pintle.User{Name: "Kim"})
//	router.ServeHTTP(httptest.NewRecorder(), r)
package pintlegin
