package pintlegin

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/pintleauth/pintle"
)

// SignIn begins or completes a sign-in from a handler, see [pintle.Auth.SignIn].
// It returns the URL to redirect the browser to:
//
//	next, err := pintlegin.SignIn(c, auth, "github", pintle.SignInOptions{})
//	…
//	c.Redirect(http.StatusSeeOther, next)
func SignIn(c *gin.Context, auth *pintle.Auth, provider string, o pintle.SignInOptions) (next string, err error) {
	call(c, func(r *http.Request) { next, err = auth.SignIn(c.Writer, r, provider, o) })
	return next, err
}

// SignOut ends the session of the request from a handler, see
// [pintle.Auth.SignOut]. It returns the URL to redirect the browser to.
func SignOut(c *gin.Context, auth *pintle.Auth, o pintle.SignOutOptions) (next string, err error) {
	call(c, func(r *http.Request) { next, err = auth.SignOut(c.Writer, r, o) })
	return next, err
}

// UpdateSession saves the changes that a handler made to the session of the
// request, see [pintle.Auth.UpdateSession].
func UpdateSession(c *gin.Context, auth *pintle.Auth, data any) (session *pintle.Session, err error) {
	call(c, func(r *http.Request) { session, err = auth.UpdateSession(c.Writer, r, data) })
	return session, err
}
