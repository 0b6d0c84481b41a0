package pintle

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"maps"
	"time"

	"github.com/pintleauth/pintle/internal/cookie"
	"github.com/pintleauth/pintle/internal/query"
	"github.com/pintleauth/pintle/internal/wire"
)

// issue makes the session of a user whose identity is decided, and sends the
// browser on.
func (x *exchange) issue(who *arrival, d *decision) error {
	issued := true
	if d.session != nil {
		attrs := x.set.session.attrs
		attrs.Expires = d.session.Expires
		x.addCookie(x.stalePartClearing(x.set, x.r.Header)...)
		x.addCookie(cookie.Line(x.set.session.name, d.session.Token, attrs))
	} else {
		var err error
		if issued, err = x.issueToken(who, d); err != nil {
			return err
		}
	}
	x.addCookie(who.submission.cookieLines()...)
	if issued {
		x.debug("session issued", "strategy", string(x.strategy))
	} else {
		x.debug("no session issued: Callbacks.JWT returned no claims")
		x.noteNoClaims(who.provider.id)
	}
	x.emitSignIn(who, d)
	if issued {
		x.debug("signed in")
	}
	if d.newUser != nil && *d.newUser && x.Pages.NewUser != "" {
		return x.redirect(query.Append(x.Pages.NewUser, "callbackUrl", x.callbackText))
	}
	return x.redirect(x.callbackURL)
}

// issueToken writes a session token with the claims the host wants in it. It
// reports whether the host wants one at all.
func (x *exchange) issueToken(who *arrival, d *decision) (issued bool, err error) {
	claims := Claims{}
	if x.Session.Describe != nil {
		x.Session.Describe(x.r, claims)
	}
	claims["sub"] = d.user.ID
	for name, text := range map[string]wire.Text{"name": d.user.name(), "email": d.user.email(), "picture": d.user.image()} {
		if text.Present {
			claims[name] = text.Value()
		}
	}
	marks := x.newMarks(who.errands.sessionStart(d.user.ID, x.began))
	maps.Copy(claims, marks)
	if x.Callbacks.JWT != nil {
		change := &TokenChange{
			Claims: claims, Trigger: TriggerSignIn,
			User: d.user, Account: d.account, Profile: who.profile, NewUser: d.newUser,
		}
		if d.newUser != nil && *d.newUser {
			change.Trigger = TriggerSignUp
		}
		if claims, err = x.Callbacks.JWT(x.ctx, change); err != nil {
			return false, fmt.Errorf("Callbacks.JWT: %w", err)
		}
	}
	if claims == nil {
		if err := x.endHeldTokens(); err != nil {
			return false, err
		}
		x.addCookie(x.clearSession()...)
		return false, nil
	}
	text, err := x.encode(x.ctx, x.set, marks.in(claims))
	if err != nil {
		return false, err
	}
	lines, err := x.tokenCookies(x.ctx, x.set, x.r.Header, text)
	if err != nil {
		return false, err
	}
	// The session this browser held ends, if token sessions can be ended: a copy
	// of its token must not outlive the sign-in (SH-41). Without an answer of
	// the list there is no sign-in.
	if err := x.endHeldTokens(); err != nil {
		return false, err
	}
	x.addCookie(lines...)
	return true, nil
}

// endHeldTokens ends the token sessions that this browser held before a sign-in.
func (x *exchange) endHeldTokens() error {
	held, _ := x.heldSessions()
	_, err := x.endTokens(held)
	return err
}

// sessionFor makes the database session of a user, or none when sessions are
// kept in tokens.
func (x *exchange) sessionFor(w *work, userID string) (*StoredSession, error) {
	if x.strategy != StrategyDatabase {
		return nil, nil // nil is how a decision says "a token"
	}
	return x.newSession(w.ctx, w.records, userID)
}

func (x *exchange) newSession(ctx context.Context, store *records, userID string) (*StoredSession, error) {
	generate := x.Session.GenerateToken
	if generate == nil {
		generate = randomToken
	}
	token, err := generate()
	if err != nil {
		return nil, fmt.Errorf("Config.Session.GenerateToken: %w", err)
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	session := &StoredSession{Token: token, UserID: userID, Created: now, Expires: now.Add(x.Session.MaxAge)}
	if x.Session.Describe != nil {
		session.Data = map[string]any{}
		x.Session.Describe(x.r, session.Data)
	}
	if err := store.createSession(ctx, session); err != nil {
		return nil, err
	}
	return session, nil
}

// randomToken returns 256 random bits. A UUID, which Auth.js writes, has half
// as many.
func randomToken() (string, error) {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b), nil
}
