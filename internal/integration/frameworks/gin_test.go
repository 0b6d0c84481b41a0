package frameworks_test

import (
	"errors"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/pintlegin"
)

// ginRouter is the application with Gin.
func ginRouter(s setting) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	app := ginHandlers{s.auth}
	r := gin.New()
	switch s.proxy {
	case behindProxy:
		_ = r.SetTrustedProxies([]string{"127.0.0.1"}) // which is an address
	case notBehind:
		_ = r.SetTrustedProxies([]string{"203.0.113.0/24"}) // which is a range
	}
	r.Use(app.sameSite, pintlegin.Load(s.auth))
	pintlegin.Mount(r, s.base, s.auth)
	r.GET("/", app.home)
	members := r.Group("/", pintlegin.Require(s.auth))
	members.GET("/account", app.home)
	members.GET("/admin", app.home)
	r.POST("/login", app.login)
	r.POST("/leave", app.leave)
	r.POST("/logout", app.logout)
	r.GET("/role", app.role)
	r.POST("/role", app.setRole)
	r.GET("/devices", app.devices)
	r.GET("/stream", app.stream)
	r.GET("/late", app.late)
	r.GET("/upgrade", app.upgrade)
	return r
}

type ginHandlers struct{ auth *pintle.Auth }

func (h ginHandlers) sameSite(c *gin.Context) {
	if err := http.NewCrossOriginProtection().Check(c.Request); err != nil {
		c.AbortWithStatus(http.StatusForbidden)
	}
}

func (h ginHandlers) home(c *gin.Context) {
	c.String(http.StatusOK, greeting(pintlegin.Session(c)))
}

func (h ginHandlers) login(c *gin.Context) {
	next, err := pintlegin.SignIn(c, h.auth, "password", pintle.SignInOptions{
		RedirectTo: "/account",
		Fields:     map[string]any{"username": c.PostForm("username"), "password": c.PostForm("password")},
	})
	switch {
	case errors.Is(err, pintle.CodeCredentials):
		c.String(http.StatusUnauthorized, "wrong password")
	case err != nil:
		c.String(http.StatusInternalServerError, "sign-in failed")
	default:
		c.Redirect(http.StatusSeeOther, next)
	}
}

func (h ginHandlers) leave(c *gin.Context) {
	next, err := pintlegin.SignIn(c, h.auth, "acme", pintle.SignInOptions{RedirectTo: "/account"})
	if err != nil {
		c.String(http.StatusInternalServerError, "sign-in failed")
		return
	}
	c.Redirect(http.StatusSeeOther, next)
}

func (h ginHandlers) logout(c *gin.Context) {
	next, err := pintlegin.SignOut(c, h.auth, pintle.SignOutOptions{RedirectTo: "/"})
	if err != nil {
		c.String(http.StatusInternalServerError, "sign-out failed")
		return
	}
	c.Redirect(http.StatusSeeOther, next)
}

func (h ginHandlers) role(c *gin.Context) {
	value, _ := role.Get(pintlegin.Session(c))
	c.String(http.StatusOK, value)
}

func (h ginHandlers) setRole(c *gin.Context) {
	if h.update(c, c.PostForm("role")) {
		h.role(c)
	}
}

func (h ginHandlers) devices(c *gin.Context) {
	c.String(http.StatusOK, devices(c.Request.Context(), h.auth))
}

func (h ginHandlers) update(c *gin.Context, value string) bool {
	session := pintlegin.Session(c)
	if session == nil {
		c.String(http.StatusUnauthorized, "not signed in")
		return false
	}
	role.Set(session, value)
	if _, err := pintlegin.UpdateSession(c, h.auth, nil); err != nil {
		c.String(http.StatusInternalServerError, "update failed")
		return false
	}
	return true
}

func (h ginHandlers) stream(c *gin.Context) {
	n := 0
	c.Stream(func(w io.Writer) bool {
		n++
		_, _ = io.WriteString(w, greeting(pintlegin.Session(c))+"\n")
		return n < 2
	})
}

func (h ginHandlers) late(c *gin.Context) {
	if h.update(c, "late") {
		h.stream(c)
	}
}

func (h ginHandlers) upgrade(c *gin.Context) {
	c.Header("Connection", "Upgrade")
	c.Header("Upgrade", "echo")
	c.Status(http.StatusSwitchingProtocols)
	c.Writer.WriteHeaderNow()
	conn, sent, err := c.Writer.Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	_, _ = io.Copy(conn, sent) // until the browser hangs up
}

func ginHeader(r *http.Request, name string) string {
	return pintlegin.Context(r.Context()).GetHeader(name)
}
