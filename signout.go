package pintle

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/pintleauth/pintle/token"
)

// signOut answers POST signout: it ends the session and sends the browser on.
// A failing store does not keep anybody signed in: the cookie goes in any case.
func (x *exchange) signOut() error {
	if err := x.requireCSRF(); err != nil {
		return err
	}
	held := x.heldToken()
	if held == "" && x.mayBearer() {
		held = bearerToken(x.r)
	}
	if held == "" {
		return x.redirect(x.callbackURL)
	}
	event, err := x.endSession(held)
	if err != nil {
		x.logStoreFailure(err)
		x.log.LogAttrs(x.ctx, slog.LevelError, "pintle: session not ended", slog.String("code", string(codeSignOut)), slog.Any("error", err))
	} else {
		emit(x.ctx, x.settings, "signOut", x.Events.SignOut, event)
	}
	x.addCookie(x.clearSession()...)
	return x.redirect(x.callbackURL)
}

// mayBearer reports whether a handler of the host's may end a session that came
// in the Authorization header.
func (x *exchange) mayBearer() bool { return x.inside && x.Session.AllowBearer }

// endSession ends the session whose token this browser or application holds.
func (x *exchange) endSession(held string) (*SignOutEvent, error) {
	if x.strategy == StrategyDatabase {
		stored, err := x.records.deleteSession(x.ctx, held)
		return &SignOutEvent{Session: stored}, err
	}
	tok, claims, err := x.decode(x.r, x.set, x.mayBearer())
	if errors.Is(err, token.ErrNoToken) {
		return &SignOutEvent{}, nil
	}
	if err != nil {
		return nil, err
	}
	if claims == nil {
		if claims, err = tok.Claims(); err != nil {
			return nil, err
		}
	}
	if x.Session.Revocation != nil {
		subject, _ := identifier(claims["sub"])
		if err := x.Session.Revocation.Revoke(x.ctx, subject, sessionID(claims), x.lastCopyExpires()); err != nil {
			return nil, fmt.Errorf("Config.Session.Revocation: %w", err)
		}
	}
	return &SignOutEvent{Claims: claims}, nil
}

// lastCopyExpires is when nobody takes any token any longer that exists now. A
// copy may have been renewed this moment, and is good for as long as a token
// lives and clocks may differ.
func (s *settings) lastCopyExpires() time.Time {
	return time.Now().Add(s.JWT.MaxAge + 2*clockTolerance)
}
