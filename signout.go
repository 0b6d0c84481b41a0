package pintle

import (
	"strconv"
)

// signOut answers POST signout: it ends the session and sends the browser on.
//
// A sign-out that the store or the revocation list could not record has not
// happened: the browser is sent to the error page and keeps its cookie, without
// which the user could not try again while a copy of it stays good.
func (x *exchange) signOut() error {
	// Another site must not sign the user out.
	if err := x.requireCSRF(); err != nil {
		return err
	}
	held, all := x.heldSessions()
	var ended []*SignOutEvent
	every, err := x.dropPending()
	if err == nil {
		ended, err = x.sessions.end(x, held)
	}
	if err != nil {
		if !x.inside {
			x.logStoreFailure(err)
		}
		return fail(CodeSignOut, err)
	}
	// The session of the user, or the sign-in that waits, may be one that was not
	// tried and stays good.
	if !all && x.sessions.endCopies() || !every {
		return fail(CodeSignOut, errTooManyHeld)
	}
	x.addCookie(x.set.clearPending(x.r.Header)...)
	for _, event := range ended {
		emit(x.ctx, x.settings, "signOut", x.Events.SignOut, event)
	}
	x.addCookie(x.set.clearSession(x.r.Header)...)
	x.debug("signed out", "sessions", strconv.Itoa(len(ended)))
	return x.redirect(x.callbackURL)
}
