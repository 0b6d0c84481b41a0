package pintle

import (
	"fmt"
	"strconv"

	"github.com/pintleauth/pintle/internal/bearer"
	"github.com/pintleauth/pintle/internal/cookie"
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
	err := x.dropPending()
	if err == nil {
		ended, err = x.sessions.end(x, held)
	}
	if err != nil {
		if !x.inside {
			x.logStoreFailure(err)
		}
		return fail(CodeSignOut, err)
	}
	// The session of the user may be one that was not tried and stays good.
	if !all && x.sessions.endCopies() {
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

// mayBearer reports whether a handler of the host's may end a session that came
// in the Authorization header.
func (x *exchange) mayBearer() bool {
	return x.inside && x.action == actionSignOut && x.Session.AllowBearer
}

// maxEnded bounds the work of one sign-out: what is tried as a session. A browser
// sends fewer cookies with one name than that, however many a sibling domain
// plants; cookies of several parts can be joined in more ways.
const maxEnded = 64

// errTooManyHeld is the error of a sign-out that may have missed the session of the
// user among what was planted.
var errTooManyHeld = fmt.Errorf("the request carries more than %d session cookies and ways to join them, and not all could be ended; they were planted by another site of the domain, which the name prefix __Host- prevents", maxEnded)

// heldSessions returns the tokens of every session that the request may carry, and
// whether these are all. There is one, unless cookies were planted: then all of
// them end, since the next request would be read by those that are left.
func (x *exchange) heldSessions() (tokens []string, all bool) {
	tokens, all = cookie.Candidates(x.r.Header, x.set.session.name, maxEnded)
	if len(tokens) == 0 && x.mayBearer() {
		if text := bearer.Token(x.r.Header); text != "" {
			tokens = []string{text}
		}
	}
	return tokens, all
}
