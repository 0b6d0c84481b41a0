package pintleecho

import (
	"net/http"

	"github.com/labstack/echo/v5"
	"github.com/pintleauth/pintle"
)

// SignIn begins or completes a sign-in from a handler, see [pintle.Auth.SignIn].
// It returns the URL to redirect the browser to:
//
//	next, err := pintleecho.SignIn(c, auth, "github", pintle.SignInOptions{})
//	…
//	return c.Redirect(http.StatusSeeOther, next)
func SignIn(c *echo.Context, auth *pintle.Auth, provider string, o pintle.SignInOptions) (next string, err error) {
	call(c, func(r *http.Request) { next, err = auth.SignIn(c.Response(), r, provider, o) })
	return next, err
}

// SignOut ends the session of the request from a handler, see
// [pintle.Auth.SignOut]. It returns the URL to redirect the browser to.
func SignOut(c *echo.Context, auth *pintle.Auth, o pintle.SignOutOptions) (next string, err error) {
	call(c, func(r *http.Request) { next, err = auth.SignOut(c.Response(), r, o) })
	return next, err
}

// UpdateSession saves the changes that a handler made to the session of the
// request, see [pintle.Auth.UpdateSession].
func UpdateSession(c *echo.Context, auth *pintle.Auth, data any) (session *pintle.Session, err error) {
	call(c, func(r *http.Request) { session, err = auth.UpdateSession(c.Response(), r, data) })
	return session, err
}
