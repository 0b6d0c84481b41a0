package pintlefiber

import (
	"net/http"

	"github.com/gofiber/fiber/v3"
	"github.com/pintleauth/pintle"
)

// SignIn signs somebody in from a handler, as [pintle.Auth.SignIn] says, and
// returns where the browser has to be sent:
//
//	next, err := pintlefiber.SignIn(c, auth, "github", pintle.SignInOptions{})
//	…
//	return c.Redirect().Status(fiber.StatusSeeOther).To(next)
func SignIn(c fiber.Ctx, auth *pintle.Auth, provider string, o pintle.SignInOptions) (next string, err error) {
	if unread := call(c, func(w http.ResponseWriter, r *http.Request) { next, err = auth.SignIn(w, r, provider, o) }); unread != nil { //nolint:contextcheck // the request carries it
		err = unread
	}
	return next, err
}

// SignOut ends the session of the request from a handler, as
// [pintle.Auth.SignOut] says, and returns where the browser should go.
func SignOut(c fiber.Ctx, auth *pintle.Auth, to string) (next string, err error) {
	if unread := call(c, func(w http.ResponseWriter, r *http.Request) { next, err = auth.SignOut(w, r, to) }); unread != nil {
		err = unread
	}
	return next, err
}

// UpdateSession saves what a handler changed in the session of the request, as
// [pintle.Auth.UpdateSession] says. Call it before a function that writes a
// stream is handed to Fiber, which runs it when the header has been sent.
func UpdateSession(c fiber.Ctx, auth *pintle.Auth, data any) (session *pintle.Session, err error) {
	if unread := call(c, func(w http.ResponseWriter, r *http.Request) { session, err = auth.UpdateSession(w, r, data) }); unread != nil {
		err = unread
	}
	return session, err
}
