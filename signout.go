package pintle

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/pintleauth/pintle/internal/cookie"
	"github.com/pintleauth/pintle/internal/handshake"
	"github.com/pintleauth/pintle/internal/sealed"
	"github.com/pintleauth/pintle/internal/wire"
	"github.com/pintleauth/pintle/providersession"
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
	x.endActing()
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
	to := x.afterSignOut(ended)
	for _, event := range ended {
		emit(x.ctx, x.settings, "signOut", x.Events.SignOut, event)
	}
	x.addCookie(x.set.clearSession(x.r.Header)...)
	x.debug("signed out", "sessions", strconv.Itoa(len(ended)))
	return x.redirect(to)
}

// A leaving is a sign-out whose browser is about to go to the provider, or is there. The
// session here has ended.
type leaving struct {
	Users  []string `json:"users"`  // whose sessions have ended
	Target string   `json:"target"` // which has passed the redirect rules

	// Provider and State are empty until the browser is sent there.
	Provider string `json:"provider,omitempty"`
	State    string `json:"state,omitempty"`
	sealed.Expiry
}

// signOutHint returns what the browser has kept for a session of these users that has
// ended, if it began with a provider at which it is to end. A neighbouring host can plant
// cookies of the same name, so that each is tried.
func (x *exchange) signOutHint(users []string) *signOutHint {
	c := x.set.signOutHint
	values, _ := cookie.Values(x.r.Header, c.name, maxHints)
	for _, value := range values {
		var kept signOutHint
		err := x.set.signOutHintBox.Open(value, &kept)
		switch p := x.byID[kept.Provider]; {
		case err != nil:
		case !slices.Contains(users, kept.User):
			err = errors.New("is of another user")
		case p == nil || p.endSession == nil || p.authority != kept.Authority:
			err = errors.New("is of a provider at which sessions do not end")
		default:
			return &kept
		}
		x.debug("cookie not accepted", "cookie", c.name, "reason", err.Error())
	}
	return nil
}

// maxHints is how many cookies of one name are tried.
const maxHints = 5

// afterSignOut returns where a browser goes whose sessions have ended here: to the
// provider, if its session began there, and otherwise to the target of the sign-out.
//
// Nothing that the provider does can keep the user signed in here, so a failure is
// logged, and the browser goes to the target.
func (x *exchange) afterSignOut(ended []*SignOutEvent) string {
	if !x.endsAtProvider {
		return x.callbackURL
	}
	ended = endedNow(ended)
	if len(ended) == 0 {
		return x.callbackURL // no session of the browser was good
	}
	left := &leaving{Target: x.callbackURL}
	for _, event := range ended {
		left.Users = append(left.Users, event.userID())
	}
	if x.inside {
		// Its handler does not receive the cookie. The browser fetches the address of
		// the provider from a route that does.
		x.keepLeaving(left)
		return x.origin + x.base + "/" + string(actionSignOut) + "/" + x.endingProvider(ended) + "?" + continueSignOut
	}
	kept := x.signOutHint(left.Users)
	x.addCookie(x.hintLine(""))
	to, sent := x.toProvider(left, kept)
	for _, event := range ended {
		if kept != nil && event.userID() == kept.User {
			event.Provider, event.AtProvider = kept.Provider, sent
		}
	}
	return to
}

// continueSignOut is the query of the route signout/{id} at which a sign-out goes on that
// a handler of the host has begun.
const continueSignOut = "continue"

// newestHint returns the ID token that a browser has kept, or the one that a refresh has
// brought for the same session since: a provider may reject one that expired long ago. An
// account has one ID token in the store, and a sign-in in another browser replaces it: it
// counts if it names the same session of the provider.
func (x *exchange) newestHint(kept *signOutHint) string {
	hint := kept.Hint
	if hint == "" || x.records == nil || !x.records.can.Accounts {
		return hint
	}
	linked, err := x.records.userAccounts(x.ctx, kept.User)
	if err != nil {
		x.debug("the hint is that of the sign-in", "reason", err.Error())
		return hint
	}
	for _, account := range linked {
		if account.Provider != kept.Provider {
			continue
		}
		opened, err := x.unsealTokens(account)
		if err == nil && len(opened.IDToken) <= maxHint && isNewer(opened.IDToken, hint) {
			hint = opened.IDToken
		}
	}
	return hint
}

// isNewer reports whether an ID token is one of the same user, client and session of the
// provider as another one, and was issued later.
func isNewer(idToken, before string) bool {
	type claims struct {
		Issuer   string          `json:"iss"`
		Subject  string          `json:"sub"`
		Audience json.RawMessage `json:"aud"`
		Session  string          `json:"sid"`
		Issued   float64         `json:"iat"`
	}
	var next, last claims
	if !readKept(idToken, &next) || !readKept(before, &last) {
		return false
	}
	return next.Issuer == last.Issuer && next.Subject == last.Subject && bytes.Equal(next.Audience, last.Audience) &&
		next.Session == last.Session && next.Issued > last.Issued
}

// endedNow returns the events of the sessions that had not expired, at most maxHints. A
// neighbouring host can plant a session of another user beside that of the browser.
func endedNow(ended []*SignOutEvent) []*SignOutEvent {
	var now []*SignOutEvent
	for _, event := range ended {
		if event.userID() != "" && (event.Session == nil || event.Session.Expires.After(time.Now())) && len(now) < maxHints {
			now = append(now, event)
		}
	}
	return now
}

// userID is the id of the user whose session has ended, as far as it is known.
func (e *SignOutEvent) userID() string {
	if e.Session != nil {
		return e.Session.UserID
	}
	id, _ := wire.ID(e.Claims["sub"])
	return id
}

// endingProvider returns the id of a provider at which sessions end: one with which a
// session began, if it records that. The route finds the right one.
func (x *exchange) endingProvider(ended []*SignOutEvent) (id string) {
	for _, event := range ended {
		recorded, _ := event.Claims[claimProvider].(string)
		if event.Session != nil {
			recorded, _ = event.Session.Data[claimProvider].(string)
		}
		for _, p := range x.providers {
			if p.endSession != nil && (id == "" || p.id == recorded) {
				id = p.id
			}
		}
	}
	return id
}

// toProvider returns the address at which a session ends at its provider, and keeps in
// the browser what has to come back, or returns the target of the sign-out.
func (x *exchange) toProvider(left *leaving, kept *signOutHint) (to string, sent bool) {
	if kept == nil {
		return left.Target, false
	}
	ended, err := x.byID[kept.Provider].endSession.begin(x, x.newestHint(kept))
	if err != nil {
		x.log.LogAttrs(x.ctx, slog.LevelWarn, "pintle: the session ended here, and not at the provider",
			slog.String("code", string(CodeSignOut)), slog.String("provider", kept.Provider), slog.Any("error", err))
		return left.Target, false
	}
	left.Provider, left.State = kept.Provider, ended.state
	x.keepLeaving(left)
	// The address has the ID token of the user.
	x.answer.header = http.Header{"Referrer-Policy": {"no-referrer"}}
	x.debug("sent to the provider to end the session there", "hint", yesNo(ended.hinted))
	return ended.url, true
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// maxLeavingTarget bounds what the cookie holds. A browser whose target is longer comes
// back to the home page.
const maxLeavingTarget = 2000

// keepLeaving has the browser keep a sign-out that is under way.
func (x *exchange) keepLeaving(left *leaving) {
	if len(left.Target) > maxLeavingTarget {
		left.Target = x.origin
	}
	value, _ := x.set.leavingBox.Seal(left) // texts are JSON
	c := x.leavingCookie()
	x.addCookie(cookie.Line(c.name, value, c.lasting(leavingMaxAge)))
}

// backFromProvider answers GET signout/{id}: the browser is back from the provider, or
// goes there after a handler of the host has signed it out. Only what the cookie holds
// decides where it goes: any site can send a browser here, and the session has ended
// before.
//
// https://openid.net/specs/openid-connect-rpinitiated-1_0.html#RedirectionAfterLogout
func (x *exchange) backFromProvider() error {
	if passed, err := x.provider.endSession.passOn(x); passed || err != nil {
		return err
	}
	x.answer.noStore = true
	c := x.leavingCookie()
	value, _ := x.initialCookie(c)
	if value == "" {
		return x.redirect(x.origin)
	}
	var left leaving
	if err := x.set.leavingBox.Open(value, &left); err != nil {
		x.debug("cookie not accepted", "cookie", c.name, "reason", err.Error())
		x.addCookie(c.clear())
		return x.redirect(x.origin)
	}
	if _, asked := x.query.First(continueSignOut); asked && left.State == "" {
		kept := x.signOutHint(left.Users)
		x.addCookie(x.hintLine(""))
		to, sent := x.toProvider(&left, kept)
		if !sent {
			x.addCookie(c.clear())
		}
		return x.redirect(to)
	}
	x.addCookie(c.clear())
	state, _ := x.query.First("state")
	if left.State == "" || left.Provider != x.provider.id || subtle.ConstantTimeCompare([]byte(state), []byte(left.State)) != 1 {
		x.debug("back from the provider, without the state of a sign-out of this browser")
		return x.redirect(x.origin)
	}
	return x.redirect(left.Target)
}

// backChannelLogout answers POST backchannel-logout/{id}: a provider ends sessions here. The
// request comes from a server, so that there are no cookies and no form token: what the
// logout token says, and the signature of the provider, decide. The answer does not tell
// whether there was a session.
//
// https://openid.net/specs/openid-connect-backchannel-1_0.html#BCRequest
func (x *exchange) backChannelLogout(raw string) {
	channel := x.provider.backChannel
	select {
	case channel.underWay <- struct{}{}:
		defer func() { <-channel.underWay }()
	default:
		x.delayLogout("too many requests are under way")
		return
	}
	token, err := channel.verify(x.ctx, raw)
	if refused, is := errors.AsType[*handshake.LogoutTokenError](err); is {
		x.noteLogoutToken(refused.Check, err)
		return
	}
	if err != nil {
		if errors.Is(err, handshake.ErrUnknownKey) {
			// Anyone can send such a token.
			x.logLogoutToken(handshake.LogoutTokenSignature, err)
		} else {
			x.logError(&Error{Code: codeLogoutToken, Provider: x.provider.id, Err: err})
		}
		x.refuseLogout(http.StatusBadRequest, errorServer, "the logout token cannot be verified now")
		return
	}
	// A provider that gives up waiting may not send the token again.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.ctx), maxProviderEnd)
	defer cancel()
	ended, first, err := x.sessions.endByProvider(ctx, channel.endOf(token, time.Now()))
	if first || len(ended) > 0 {
		x.emitProviderSignOut(ctx, SignOutEvent{Provider: x.provider.id, ProviderSession: token.SessionID, ProviderUser: token.Subject}, ended)
	}
	switch {
	case errors.Is(err, errLogoutUnderWay):
		x.delayLogout(err.Error())
	case err != nil:
		x.logError(classified(err))
		x.refuseLogout(http.StatusBadRequest, errorServer, "the sessions could not be ended: send the logout token again")
	case !first:
		x.noteLogoutToken(handshake.LogoutTokenUsed, errors.New("the logout token was used before"))
	default:
		x.debug("sessions ended by the provider", "sessions", strconv.Itoa(len(ended)))
		x.answer = answer{status: http.StatusOK, header: logoutHeader()}
	}
}

// The errors that a provider or an application is told.
//
// https://openid.net/specs/openid-connect-backchannel-1_0.html#BCResponse
// https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2.1
const (
	errorRequest = "invalid_request"
	errorDenied  = "access_denied"
	errorServer  = "server_error"
)

func logoutHeader() http.Header {
	return http.Header{"Cache-Control": {"no-store"}, "Pragma": {"no-cache"}}
}

// refuseLogout answers with an error. description is one of a few fixed texts.
func (x *exchange) refuseLogout(status int, code, description string) {
	x.answer = answer{header: logoutHeader()}
	_ = x.json(status, map[string]string{"error": code, "error_description": description}) // text always marshals
}

// delayLogout asks the provider to send the token again in a second.
func (x *exchange) delayLogout(description string) {
	x.refuseLogout(http.StatusServiceUnavailable, errorServer, description)
	x.answer.header.Set("Retry-After", "1")
}

// noteLogoutToken logs which check a logout token did not pass, and answers so. Anyone
// can send a token: only the record for debugging repeats what is in it.
func (x *exchange) noteLogoutToken(check handshake.LogoutCheck, err error) {
	x.logLogoutToken(check, err)
	x.refuseLogout(http.StatusBadRequest, errorRequest, check.String())
}

func (x *exchange) logLogoutToken(check handshake.LogoutCheck, err error) {
	x.log.LogAttrs(x.ctx, slog.LevelWarn, "pintle: a logout token was refused",
		slog.String("code", string(codeLogoutToken)), slog.String("provider", x.provider.id),
		slog.Int("check", int(check)), slog.String("reason", check.String()))
	x.debug("logout token refused", "reason", err.Error())
}

// endOf returns what a logout token ends. A session that began after it counts as one that
// began before, by as much as the clock of the provider may be behind. A session that begins
// from now on does not end: a token may be delayed, and a provider may give its next session
// the same id.
func (c *backChannel) endOf(t *handshake.LogoutToken, now time.Time) *providerEnd {
	e := &providerEnd{before: t.Issued.Add(c.skew), token: providerKey(keyOfLogoutToken, t.Issuer, c.clientID, t.ID)}
	if now.Before(e.before) {
		e.before = now
	}
	if t.SessionID != "" {
		e.sid = providerKey(keyOfSession, t.Issuer, c.clientID, t.SessionID)
	}
	if t.Subject != "" {
		e.sub = providerKey(keyOfUser, t.Issuer, c.clientID, t.Subject)
	}
	// The checks of its times accept it as long, by the clock of another process.
	e.until = t.Issued.Add(logoutLife)
	if t.Expires.After(e.until) {
		e.until = t.Expires
	}
	e.until = e.until.Add(c.skew + 2*clockTolerance)
	return e
}

// logoutLife is how long a logout token without exp is good.
const logoutLife = 5 * time.Minute

// emitProviderSignOut tells the host which sessions a provider has ended: once for each user,
// or as all says if no record is that of a session that has ended.
func (s *settings) emitProviderSignOut(ctx context.Context, all SignOutEvent, ended []*providersession.Record) {
	var events []*SignOutEvent
	for _, r := range ended {
		if r.Role != providersession.Began {
			continue // the session goes on
		}
		i := slices.IndexFunc(events, func(e *SignOutEvent) bool { return e.UserID == r.UserID })
		if i < 0 {
			e := all
			e.UserID = r.UserID
			i, events = len(events), append(events, &e)
		}
		events[i].Ended++
	}
	if events == nil {
		events = append(events, &all)
	}
	for _, event := range events {
		emit(ctx, s, "providerSignOut", s.Events.ProviderSignOut, event)
	}
}

// refusalLife is how long the refusal of one refresh token counts once. A sign-in under way
// at that time is rejected with the sessions that end, so a job that tries a refused token
// again and again must not repeat it each time.
const refusalLife = providersession.Remembered

// endRefused ends the sessions of the user of an account whose refresh token the provider has
// refused. Sessions that began after the exchange did go on: the provider has accepted the
// user since. report tells the host, and is nil if there is nothing to tell. It
// may be there beside an error.
func (s *settings) endRefused(ctx context.Context, x exchanged) (report func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, maxProviderEnd)
	defer cancel()
	p, refused := x.provider, x.account
	sub, name, err := p.refusedUser(refused)
	if err != nil {
		return nil, &Error{Code: CodeConfiguration, Provider: p.id, Err: err}
	}
	ended, first, err := s.sessions.endByProvider(ctx, &providerEnd{
		sub: sub, before: x.asked, until: time.Now().Add(refusalLife),
		// Tokens that came since the last refusal have another end.
		token: providerKey(keyOfRefusal, p.id, refused.ProviderAccountID, fmt.Sprintf("%d %s", refused.ExpiresAt, refused.RefreshToken)),
	})
	if err == nil && first {
		s.log.debug(ctx, "sessions ended: the provider has refused the refresh token of their user", "provider", p.id, "sessions", strconv.Itoa(len(ended)))
	}
	began := slices.ContainsFunc(ended, func(r *providersession.Record) bool { return r.Role == providersession.Began })
	if began || first && (x.untold || ended == nil) {
		all := SignOutEvent{Provider: p.id, ProviderUser: name, UserID: refused.UserID, Refused: true}
		outside := context.WithoutCancel(ctx)
		report = func() { s.emitProviderSignOut(outside, all, ended) }
	}
	return report, err
}
