package frameworks_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/adaptor"
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/pintlefiber"
)

// serveFiber serves the application with Fiber, which has its own server.
func serveFiber(t *testing.T, s setting) string {
	t.Helper()
	return listen(t, fiberApp(s), s.tls)
}

func listen(t *testing.T, app *fiber.App, encrypted bool) (address string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = "http://" + ln.Addr().String()
	if encrypted {
		ln = tls.NewListener(ln, certified())
		address = "https://" + ln.Addr().String()
	}
	served := make(chan error, 1)
	go func() { served <- app.Listener(ln, fiber.ListenConfig{DisableStartupMessage: true}) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 100*time.Millisecond)
		defer cancel()
		_ = app.ShutdownWithContext(ctx) // clients of the test may still hold connections
		if err := <-served; err != nil && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
	return address
}

// certified is a configuration with the certificate that httptest brings.
func certified() *tls.Config {
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	defer srv.Close()
	return &tls.Config{Certificates: srv.TLS.Certificates, MinVersion: tls.VersionTLS12}
}

func TestFibersBufferIsTooSmallForALargeSessionUnlessItIsSet(t *testing.T) {
	for size, want := range map[int]int{0: http.StatusRequestHeaderFieldsTooLarge, 16 << 10: http.StatusOK} {
		app := fiber.New(fiber.Config{ReadBufferSize: size})
		app.Get("/", func(c fiber.Ctx) error { return c.SendString("page") })
		b := newBrowser(t, listen(t, app, false))
		b.get("/", "Cookie", "authjs.session-token.0="+strings.Repeat("A", 4000), "Cookie", "authjs.session-token.1="+strings.Repeat("A", 4000)).want(want)
	}
}

// fiberApp is the application with Fiber.
func fiberApp(s setting) *fiber.App {
	app := fiberHandlers{s.auth}
	cfg := fiber.Config{ReadBufferSize: 32 << 10, CaseSensitive: true, StrictRouting: true}
	switch s.proxy {
	case behindProxy:
		cfg.TrustProxy, cfg.TrustProxyConfig.Loopback = true, true
	case notBehind:
		cfg.TrustProxy, cfg.TrustProxyConfig.Proxies = true, []string{"203.0.113.0/24"}
	}
	f := fiber.New(cfg)
	f.Use(app.sameSite, pintlefiber.Load(s.auth))
	pintlefiber.Mount(f, s.base, s.auth)
	f.Get("/", app.home)
	members := pintlefiber.Require(s.auth) // no group: its middleware would run for all paths
	f.Get("/account", members, app.home)
	f.Get("/admin", members, app.home)
	f.Post("/login", app.login)
	f.Post("/leave", app.leave)
	f.Post("/logout", app.logout)
	f.Get("/role", app.role)
	f.Post("/role", app.setRole)
	f.Get("/devices", app.devices)
	f.Get("/stream", app.stream)
	f.Get("/late", app.late)
	f.Get("/upgrade", app.upgrade)
	return f
}

type fiberHandlers struct{ auth *pintle.Auth }

func (h fiberHandlers) sameSite(c fiber.Ctx) error {
	r, err := adaptor.ConvertRequest(c, true)
	if err != nil {
		return fiber.ErrBadRequest
	}
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		return fiber.ErrForbidden
	}
	return c.Next()
}

func (h fiberHandlers) home(c fiber.Ctx) error {
	return c.SendString(greeting(pintlefiber.Session(c)))
}

func (h fiberHandlers) login(c fiber.Ctx) error {
	next, err := pintlefiber.SignIn(c, h.auth, "password", pintle.SignInOptions{
		RedirectTo: "/account",
		Fields:     map[string]any{"username": c.FormValue("username"), "password": c.FormValue("password")},
	})
	if errors.Is(err, pintle.CodeCredentials) {
		return fiber.NewError(fiber.StatusUnauthorized, "wrong password")
	}
	if err != nil {
		return err
	}
	return c.Redirect().Status(fiber.StatusSeeOther).To(next)
}

func (h fiberHandlers) leave(c fiber.Ctx) error {
	next, err := pintlefiber.SignIn(c, h.auth, "acme", pintle.SignInOptions{RedirectTo: "/account"})
	if err != nil {
		return err
	}
	return c.Redirect().Status(fiber.StatusSeeOther).To(next)
}

func (h fiberHandlers) logout(c fiber.Ctx) error {
	next, err := pintlefiber.SignOut(c, h.auth, pintle.SignOutOptions{RedirectTo: "/"})
	if err != nil {
		return err
	}
	return c.Redirect().Status(fiber.StatusSeeOther).To(next)
}

func (h fiberHandlers) role(c fiber.Ctx) error {
	value, _ := role.Get(pintlefiber.Session(c))
	return c.SendString(value)
}

func (h fiberHandlers) setRole(c fiber.Ctx) error {
	if err := h.update(c, c.FormValue("role")); err != nil {
		return err
	}
	return h.role(c)
}

func (h fiberHandlers) devices(c fiber.Ctx) error {
	return c.SendString(devices(c.Context(), h.auth))
}

func (h fiberHandlers) update(c fiber.Ctx, value string) error {
	session := pintlefiber.Session(c)
	if session == nil {
		return fiber.ErrUnauthorized
	}
	role.Set(session, value)
	_, err := pintlefiber.UpdateSession(c, h.auth, nil)
	return err
}

func (h fiberHandlers) stream(c fiber.Ctx) error {
	name := greeting(pintlefiber.Session(c))
	return c.SendStreamWriter(func(w *bufio.Writer) {
		for range 2 {
			_, _ = io.WriteString(w, name+"\n")
			_ = w.Flush() // the browser has gone
		}
	})
}

func (h fiberHandlers) late(c fiber.Ctx) error {
	if err := h.update(c, "late"); err != nil {
		return err
	}
	return h.stream(c)
}

func (h fiberHandlers) upgrade(c fiber.Ctx) error {
	c.Set("Connection", "Upgrade")
	c.Set("Upgrade", "echo")
	c.RequestCtx().Hijack(func(conn net.Conn) {
		_, _ = io.Copy(conn, conn) // until the browser hangs up
	})
	return c.SendStatus(fiber.StatusSwitchingProtocols)
}

func fiberHeader(r *http.Request, name string) string {
	return pintlefiber.Context(r.Context()).Get(name)
}
