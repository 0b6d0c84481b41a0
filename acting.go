package pintle

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/pintleauth/pintle/internal/cookie"
)

// carriesActing reports whether a request has the cookie of an operator who acts as a user.
func (q *sessionRequest) carriesActing() bool {
	_, sent := cookie.Get(q.Header, q.set.acting.name)
	return sent
}

// actingSession returns the session of a request that has the cookie of an operator who acts
// as a user, and what Callbacks.Session is to see of it. The session of the browser stays that
// of the operator: it is extended as always, and what was to be changed in it is not.
func (s *settings) actingSession(q sessionRequest) (sessionResult, Claims) {
	later := &shownLater{}
	q.later, q.trigger, q.update, q.changes = later, "", nil, nil
	result := s.sessions.read(q)
	if result.err != nil && result.cause != rejected {
		return result, nil
	}
	if result.session != nil {
		result.session.from = s
	}
	acted, err := s.Callbacks.Act(q.Context(), &ActingRequest{Request: q.Request, Session: result.session, Enters: q.enters})
	switch {
	case errors.Is(err, CodeActingEnded):
		return notActed(&q, result, actingOver), later.claims
	case err != nil:
		return sessionResult{lines: result.lines, unread: unread{fail(CodeStore, fmt.Errorf("Callbacks.Act: %w", err)), unanswered}}, nil
	case acted == nil:
		return notActed(&q, result, actingWaits), later.claims
	}
	acted.from = s
	var claims Claims
	if !s.sessions.needStoredUser() {
		claims = Claims{}
		acted.User.addClaims(claims)
	}
	return sessionResult{session: acted, lines: result.lines, acting: actingNow}, claims
}

// notActed is the result for a request with the cookie of an operator who does not act as the
// user, or no longer. What changes something was meant for the user, and would change the account
// of the operator.
func notActed(q *sessionRequest, result sessionResult, state actingState) sessionResult {
	result.acting, result.alone = state, result.session == nil
	if !isSafe(q.Request) || q.Header.Get("Upgrade") != "" { // a connection carries requests of any kind
		result.session, result.page = nil, ""
		result.unread = unread{errActingEnded, meantForUser}
	}
	return result
}

var (
	errActingEnded = fail(CodeActingEnded, errors.New("no operator acts as the user any more: the request was meant for the user, and changed nothing"))
	errActing      = fail(CodeActing, errors.New("an operator acts as the user, and only the user may do this"))
)

// actingResult reads whether an operator acts as a user in the browser of a request. Nothing is
// shown of the session, so Callbacks.Session is not called.
func (x *exchange) actingResult() sessionResult {
	q := sessionRequest{Request: x.r, set: x.set, renewal: renewNever}
	if x.Callbacks.Act == nil || !q.carriesActing() {
		return sessionResult{}
	}
	result, _ := x.actingSession(q)
	return result
}

// notActing returns why a request may not sign in, link an account, confirm a session or change
// one: an operator acts as a user, or has done so when the request was made.
func (x *exchange) notActing() error { return x.unlessActing(x.actingResult()) }

// unlessActing is notActing for what was read. If no user is signed in, the request changes no
// account of an operator: it may be a step of the next sign-in.
func (x *exchange) unlessActing(result sessionResult) error {
	switch {
	case result.acting == actingNow:
		return errActing
	case (result.acting == actingOver || result.acting == actingWaits) && !isSafe(x.r) && !result.alone:
		return errActingEnded
	case result.acting == actingNot && result.err != nil && result.cause != rejected:
		return fail(CodeStore, result.err)
	}
	return nil
}

// checkActing decides whether a request to a route goes on if it has the cookie of an operator
// who acts as a user. It notes the session for the page.
func (x *exchange) checkActing() error {
	result := x.actingResult()
	if result.acting == actingNow {
		x.acting = result.session
	}
	if result.acting == actingOver && opensPage(x.r) {
		x.forgetActing() // the page shows the operator who is signed in
	}
	switch post := x.r.Method == http.MethodPost; x.action {
	case actionSignOut:
		return nil
	case actionAccount: // which knows what is for the user alone
		if !post || x.page == actingEnd || result.acting == actingNow {
			return nil
		}
	case actionCallback, actionWebAuthnOptions, actionNative: // also by GET
	default:
		if !post {
			return nil
		}
	}
	return x.unlessActing(result)
}

// answerActing answers a request that may not go on because an operator acts as a user, or has
// done so: a script with a code, and a browser with a page.
func (x *exchange) answerActing(err error) {
	e := classified(err)
	x.logError(e)
	lines, switched := x.answer.cookies, x.answer.switched
	x.answer = answer{noStore: true, switched: switched}
	x.addCookie(lines...) // the banner has a form
	status, code := http.StatusForbidden, "acting"
	switch e.Code {
	case CodeActing:
	case CodeActingEnded:
		status, code = http.StatusConflict, "acting_ended"
	default:
		status, code = http.StatusServiceUnavailable, "unavailable"
	}
	switch {
	case x.asksForJSON() || x.wantsJSON() || x.action == actionSession || x.action == actionWebAuthnOptions:
		_ = x.json(status, map[string]string{"error": code}) // text always marshals
	case status == http.StatusServiceUnavailable:
		_ = x.show(x.pages().Refusal(x.pageSite(), status)) // never fails
	default:
		_ = x.show(x.pages().ActingRefused(x.pageSite(), status)) // never fails
	}
}

// endActing ends that an operator acts as a user in the browser of a request, which signs out.
// The end of the session of the operator ends it as well, so an error is only logged.
func (x *exchange) endActing() {
	q := sessionRequest{Request: x.r, set: x.set, renewal: renewNever}
	if x.Callbacks.Act == nil || !q.carriesActing() {
		return
	}
	x.forgetActing()
	operator := x.sessions.read(q).session
	_, err := x.Callbacks.Act(x.ctx, &ActingRequest{Request: x.r, Session: operator, Ends: true})
	if err != nil && !errors.Is(err, CodeActingEnded) {
		x.logError(fail(CodeStore, fmt.Errorf("Callbacks.Act: %w", err)))
	}
}

// clearActing has the browser forget, at a sign-in, that an operator has acted as a user in it.
func (x *exchange) clearActing() {
	if _, sent := x.initialCookie(x.set.acting); sent {
		x.forgetActing()
	}
}

// forgetActing clears the cookie of an operator who no longer acts as a user.
func (x *exchange) forgetActing() {
	x.addCookie(x.set.acting.clear())
	x.answer.switched = true
}
