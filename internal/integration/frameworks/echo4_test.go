package frameworks_test

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// echo4Router is the application with Echo 4 and its adapters for handlers and
// middleware of net/http.
func echo4Router(s setting) http.Handler {
	s.trustByConfig()
	app := handlers{s.auth}
	e := echo.New()
	e.Use(echo.WrapMiddleware(http.NewCrossOriginProtection().Handler), echo.WrapMiddleware(s.auth.Load))
	e.Any(s.base+"/*", echo.WrapHandler(s.auth))
	e.GET("/", wrap(app.home))
	members := echo.WrapMiddleware(s.auth.Require)
	e.GET("/account", wrap(app.home), members)
	e.GET("/admin", wrap(app.home), members)
	e.POST("/login", wrap(app.login))
	e.POST("/leave", wrap(app.leave))
	e.POST("/logout", wrap(app.logout))
	e.GET("/role", wrap(app.role))
	e.POST("/role", wrap(app.setRole))
	e.GET("/devices", wrap(app.devices))
	e.GET("/stream", wrap(app.stream))
	e.GET("/late", wrap(app.late))
	e.GET("/upgrade", wrap(app.upgrade))
	return e
}

func wrap(f http.HandlerFunc) echo.HandlerFunc { return echo.WrapHandler(f) }
