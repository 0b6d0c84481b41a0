package frameworks_test

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"

	"github.com/labstack/echo/v5"
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/pintleecho"
)

// echoRouter is the application with Echo.
func echoRouter(s setting) http.Handler {
	app := echoHandlers{s.auth}
	e := echo.New()
	e.Logger = slog.New(slog.DiscardHandler)
	switch s.proxy {
	case behindProxy:
		e.IPExtractor = echo.ExtractIPFromXFFHeader(echo.TrustLoopback(true))
	case notBehind:
		_, elsewhere, _ := net.ParseCIDR("203.0.113.0/24") // which is a range
		e.IPExtractor = echo.ExtractIPFromXFFHeader(echo.TrustLoopback(false), echo.TrustIPRange(elsewhere))
	}
	e.Use(echo.WrapMiddleware(http.NewCrossOriginProtection().Handler), pintleecho.Load(s.auth))
	pintleecho.Mount(e, s.base, s.auth)
	e.GET("/", app.home)
	members := pintleecho.Require(s.auth) // no group: one without a prefix takes all paths that have no route
	e.GET("/account", app.home, members)
	e.GET("/admin", app.home, members)
	e.POST("/login", app.login)
	e.POST("/leave", app.leave)
	e.POST("/logout", app.logout)
	e.GET("/role", app.role)
	e.POST("/role", app.setRole)
	e.GET("/devices", app.devices)
	e.GET("/stream", app.stream)
	e.GET("/late", app.late)
	e.GET("/upgrade", app.upgrade)
	return e
}

type echoHandlers struct{ auth *pintle.Auth }

func (h echoHandlers) home(c *echo.Context) error {
	return c.String(http.StatusOK, greeting(pintleecho.Session(c)))
}

func (h echoHandlers) login(c *echo.Context) error {
	next, err := pintleecho.SignIn(c, h.auth, "password", pintle.SignInOptions{
		RedirectTo: "/account",
		Fields:     map[string]any{"username": c.FormValue("username"), "password": c.FormValue("password")},
	})
	if errors.Is(err, pintle.CodeCredentials) {
		return echo.NewHTTPError(http.StatusUnauthorized, "wrong password")
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, next)
}

func (h echoHandlers) leave(c *echo.Context) error {
	next, err := pintleecho.SignIn(c, h.auth, "acme", pintle.SignInOptions{RedirectTo: "/account"})
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, next)
}

func (h echoHandlers) logout(c *echo.Context) error {
	next, err := pintleecho.SignOut(c, h.auth, pintle.SignOutOptions{RedirectTo: "/"})
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, next)
}

func (h echoHandlers) role(c *echo.Context) error {
	value, _ := role.Get(pintleecho.Session(c))
	return c.String(http.StatusOK, value)
}

func (h echoHandlers) setRole(c *echo.Context) error {
	if err := h.update(c, c.FormValue("role")); err != nil {
		return err
	}
	return h.role(c)
}

func (h echoHandlers) devices(c *echo.Context) error {
	return c.String(http.StatusOK, devices(c.Request().Context(), h.auth))
}

func (h echoHandlers) update(c *echo.Context, value string) error {
	session := pintleecho.Session(c)
	if session == nil {
		return echo.ErrUnauthorized
	}
	role.Set(session, value)
	_, err := pintleecho.UpdateSession(c, h.auth, nil)
	return err
}

func (h echoHandlers) stream(c *echo.Context) error {
	for range 2 {
		if _, err := io.WriteString(c.Response(), greeting(pintleecho.Session(c))+"\n"); err != nil {
			return err
		}
		if err := http.NewResponseController(c.Response()).Flush(); err != nil {
			return err
		}
	}
	return nil
}

func (h echoHandlers) late(c *echo.Context) error {
	if err := h.update(c, "late"); err != nil {
		return err
	}
	return h.stream(c)
}

func (h echoHandlers) upgrade(c *echo.Context) error {
	c.Response().Header().Set("Connection", "Upgrade")
	c.Response().Header().Set("Upgrade", "echo")
	c.Response().WriteHeader(http.StatusSwitchingProtocols)
	conn, sent, err := http.NewResponseController(c.Response()).Hijack()
	if err != nil {
		return err
	}
	defer conn.Close()
	_, _ = io.Copy(conn, sent) // until the browser hangs up
	return nil
}

func echoHeader(r *http.Request, name string) string {
	return pintleecho.Context(r.Context()).Request().Header.Get(name)
}
