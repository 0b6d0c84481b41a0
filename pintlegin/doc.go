// Package pintlegin puts Pintle into applications that are written with Gin.
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
// turns strangers away, and [SignIn], [SignOut] and [UpdateSession] are for
// handlers of the application's own. They do what the methods of the same name
// of [pintle.Auth] do.
//
// # Behind a proxy
//
// With [pintle.Config.TrustHost] the headers X-Forwarded-Host and
// X-Forwarded-Proto say where the site is, but only in requests from peers that
// Gin trusts to name the client in X-Forwarded-For or X-Real-IP: those of
// [gin.Engine.SetTrustedProxies]. Until it is called Gin trusts everybody, so
// call it. With [pintle.Config.URL] no header is needed.
//
// # Gin's context
//
// Callbacks, and the functions of [pintle.NewFunc], find the [gin.Context] of
// the request they are called for with [Context].
//
// # Tests
//
// Package authtest signs somebody in, in the tests of an application:
//
//	r := httptest.NewRequest("GET", "http://localhost/account", nil)
//	authtest.SignIn(t, cfg, r, &pintle.User{Name: "Kim"})
//	router.ServeHTTP(httptest.NewRecorder(), r)
package pintlegin
