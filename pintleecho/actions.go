package pintleecho

import (
	"net/http"

	"github.com/labstack/echo/v5"
	"github.com/pintleauth/pintle"
)

// SignIn signs somebody in from a handler, as [pintle.Auth.SignIn] says, and
// returns where the browser has to be sent:
//
//	next, err := pintleecho.SignIn(c, auth, "github", pintle.SignInOptions{})
//	…
//	return c.Redirect(http.StatusSeeOther, next)
func SignIn(c *echo.Context, auth *pintle.Auth, provider string, o pintle.SignInOptions) (next string, err error) {
	call(c, func(r *http.Request) { next, err = auth.SignIn(c.Response(), r, provider, o) })
	return next, err
}

// SignOut ends the session of the request from a handler, as
// [pintle.Auth.SignOut] says, and returns where the browser should go.
func SignOut(c *echo.Context, auth *pintle.Auth, to string) (next string, err error) {
	call(c, func(r *http.Request) { next, err = auth.SignOut(c.Response(), r, to) })
	return next, err
}

// UpdateSession saves what a handler changed in the session of the request, as
// [pintle.Auth.UpdateSession] says.
func UpdateSession(c *echo.Context, auth *pintle.Auth, data any) (session *pintle.Session, err error) {
	call(c, func(r *http.Request) { session, err = auth.UpdateSession(c.Response(), r, data) })
	return session, err
}
