package pintle

import (
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/pintleauth/pintle/internal/bearer"
	"github.com/pintleauth/pintle/internal/cookie"
)

// signOut answers POST signout: it ends the session and sends the browser on.
//
// A sign-out that the store or the revocation list could not record has not
// happened: the browser is sent to the error page and keeps its cookie, without
// which the user could not try again while a copy of it stays good.
func (x *exchange) signOut() error {
	if err := x.requireCSRF(); err != nil {
		return err
	}
	held, all := x.heldSessions()
	end := x.endTokens
	if x.strategy == StrategyDatabase {
		end = x.endStored
	}
	ended, err := end(held)
	if err != nil {
		if !x.inside {
			x.logStoreFailure(err)
		}
		return fail(ErrSignOut, err)
	}
	if !all && (x.strategy == StrategyDatabase || x.Session.Revocation != nil) {
		return fail(ErrSignOut, errTooManyHeld)
	}
	for _, event := range ended {
		emit(x.ctx, x.settings, "signOut", x.Events.SignOut, event)
	}
	x.addCookie(x.clearSession()...)
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

// endStored ends the database sessions that the request carries.
func (x *exchange) endStored(held []string) (ended []*SignOutEvent, err error) {
	for i, text := range held {
		stored, err := x.records.deleteSession(x.ctx, text)
		if err != nil {
			return nil, err
		}
		if i == 0 || stored != nil {
			ended = append(ended, &SignOutEvent{Session: stored})
		}
	}
	return ended, nil
}

// endTokens ends the token sessions that the request carries. Where they cannot
// be revoked they end by their cookie alone.
func (x *exchange) endTokens(held []string) (ended []*SignOutEvent, err error) {
	var unread error
	for _, text := range held {
		tok, err := x.decodeText(x.ctx, x.set, text)
		if err != nil {
			unread = err
			continue
		}
		claims, err := tok.all()
		if err != nil {
			unread = err
			continue
		}
		if x.Session.Revocation != nil {
			if err := x.Session.Revocation.Revoke(x.ctx, tok.subject(), tok.session(), x.lastCopyExpires()); err != nil {
				return nil, fail(ErrStore, fmt.Errorf("Config.Session.Revocation: %w", err))
			}
		}
		ended = append(ended, &SignOutEvent{Claims: claims})
	}
	if unread != nil && len(ended) == 0 && x.action == actionSignOut {
		// A token that is not valid is no session that could be ended, and any
		// client can send one.
		x.log.LogAttrs(x.ctx, slog.LevelInfo, "pintle: the session cookie could not be read", slog.String("code", string(ErrSignOut)), slog.Any("error", boundedError{unread}))
	}
	return ended, nil
}

// lastCopyExpires is when the last token that exists now is refused. A copy may
// have been renewed this moment, and is good for as long as a token lives and
// clocks may differ.
func (s *settings) lastCopyExpires() time.Time {
	return time.Now().Add(s.JWT.MaxAge + 2*clockTolerance)
}
