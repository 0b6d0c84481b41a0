package pintlegin

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/pintleauth/pintle"
)

// SignIn signs somebody in from a handler, as [pintle.Auth.SignIn] says, and
// returns where the browser has to be sent:
//
//	next, err := pintlegin.SignIn(c, auth, "github", pintle.SignInOptions{})
//	…
//	c.Redirect(http.StatusSeeOther, next)
func SignIn(c *gin.Context, auth *pintle.Auth, provider string, o pintle.SignInOptions) (next string, err error) {
	call(c, func(r *http.Request) { next, err = auth.SignIn(c.Writer, r, provider, o) })
	return next, err
}

// SignOut ends the session of the request from a handler, as
// [pintle.Auth.SignOut] says, and returns where the browser should go.
func SignOut(c *gin.Context, auth *pintle.Auth, to string) (next string, err error) {
	call(c, func(r *http.Request) { next, err = auth.SignOut(c.Writer, r, to) })
	return next, err
}

// UpdateSession saves what a handler changed in the session of the request, as
// [pintle.Auth.UpdateSession] says.
func UpdateSession(c *gin.Context, auth *pintle.Auth, data any) (session *pintle.Session, err error) {
	call(c, func(r *http.Request) { session, err = auth.UpdateSession(c.Writer, r, data) })
	return session, err
}
