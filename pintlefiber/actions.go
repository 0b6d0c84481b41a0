package pintlefiber

import (
	"net/http"

	"github.com/gofiber/fiber/v3"
	"github.com/pintleauth/pintle"
)

// SignIn begins or completes a sign-in from a handler, see [pintle.Auth.SignIn].
// It returns the URL to redirect the browser to:
//
//	next, err := pintlefiber.SignIn(c, auth, "github", pintle.SignInOptions{})
//	…
//	return c.Redirect().Status(fiber.StatusSeeOther).To(next)
func SignIn(c fiber.Ctx, auth *pintle.Auth, provider string, o pintle.SignInOptions) (next string, err error) {
	if unread := call(c, func(w http.ResponseWriter, r *http.Request) { next, err = auth.SignIn(w, r, provider, o) }); unread != nil {
		err = unread
	}
	return next, err
}

// SignOut ends the session of the request from a handler, see
// [pintle.Auth.SignOut]. It returns the URL to redirect the browser to.
func SignOut(c fiber.Ctx, auth *pintle.Auth, o pintle.SignOutOptions) (next string, err error) {
	if unread := call(c, func(w http.ResponseWriter, r *http.Request) { next, err = auth.SignOut(w, r, o) }); unread != nil {
		err = unread
	}
	return next, err
}

// UpdateSession saves the changes that a handler made to the session of the
// request, see [pintle.Auth.UpdateSession]. Call it before a function that writes
// a stream is passed to Fiber, which runs it after the header is sent.
func UpdateSession(c fiber.Ctx, auth *pintle.Auth, data any) (session *pintle.Session, err error) {
	if unread := call(c, func(w http.ResponseWriter, r *http.Request) { session, err = auth.UpdateSession(w, r, data) }); unread != nil {
		err = unread
	}
	return session, err
}
