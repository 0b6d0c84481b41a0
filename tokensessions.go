package pintle

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/pintleauth/pintle/internal/wire"
	"github.com/pintleauth/pintle/token"
)

// tokenSession reads a session that is kept in a token.
func (r *reading) tokenSession() (*Session, error) {
	held, err := r.decode(r.ctx, r.req, r.set, r.bearer())
	if errors.Is(err, token.ErrNoToken) {
		r.end()         // parts that lead to nothing, as Auth.js clears them
		return nil, nil // signed out
	}
	if isConflict(err) {
		// Clearing would remove the user's own cookie and leave the planted one,
		// which has a domain or a path that this server does not know.
		return nil, err
	}
	if err == nil {
		err = r.stillGood(held)
	}
	if err != nil {
		return nil, r.endWith(err)
	}
	if r.Callbacks.JWT == nil && r.changes == nil && held.claims == nil &&
		(!r.needsSignInTime() || !r.renewing(held) || r.marksOf(held).areIn(held)) {
		return r.plainTokenSession(held)
	}
	marks := r.marksOf(held)
	claims, err := held.all()
	if err != nil {
		return nil, r.endWith(fail(codeJWTSession, err))
	}
	maps.Copy(claims, r.changes)
	claims = marks.in(claims)
	before, err := wire.Marshal(claims)
	if err != nil {
		return nil, r.endWith(fail(codeJWTSession, err))
	}
	if r.Callbacks.JWT != nil {
		claims, err = r.Callbacks.JWT(r.ctx, &TokenChange{Claims: claims, Trigger: r.trigger, Session: r.update})
		if err != nil {
			r.broken = true
			return nil, r.endWith(fail(codeJWTSession, fmt.Errorf("Callbacks.JWT: %w", err)))
		}
	}
	if claims == nil {
		r.end()
		r.log.debug(r.ctx, "session ended by Callbacks.JWT")
		return nil, nil // the host ended the session
	}
	claims = marks.in(claims)
	after, err := wire.Marshal(claims)
	if err != nil {
		return nil, r.endWith(fail(codeJWTSession, fmt.Errorf("Callbacks.JWT: %w", err)))
	}
	// What a callback put into the token may be there once only, such as a
	// provider's new refresh token.
	r.changed = !bytes.Equal(before, after)
	return r.changedTokenSession(held, claims)
}

// endWith clears the cookies of a session that cannot be read, on the route
// whose clients count on it.
func (r *reading) endWith(err error) error {
	r.end()
	return err
}

func (r *reading) end() {
	if r.renewal == renewAlways {
		r.lines = r.sessionClearing(r.set, r.req.Header)
	}
}

// plainTokenSession is the session of a token that stays as it is: the way
// nearly every request goes.
func (r *reading) plainTokenSession(held heldToken) (*Session, error) {
	s := &Session{claims: held.Token, hasData: true, Expires: r.tokenExpiry(held)}
	s.User.fromToken(held.Token)
	renewing := r.renewing(held)
	if renewing {
		signedIn := r.signedInAt(held)
		now := time.Now()
		s.Expires = r.lifetime.Extended(signedIn, now)
		text, err := r.set.tokens.Renew(held.Token, r.lifetime.TokenAge(signedIn, now))
		if err != nil {
			return nil, r.endWith(fail(codeJWTSession, err))
		}
		if err := r.renew(text); err != nil {
			return nil, err
		}
	}
	if err := r.show(s, nil); err != nil {
		return nil, err
	}
	if renewing {
		r.log.debug(r.ctx, "session extended")
	}
	return s, nil
}

// changedTokenSession is the session of claims that a callback has seen.
func (r *reading) changedTokenSession(held heldToken, claims Claims) (*Session, error) {
	s := &Session{data: claims, Expires: r.tokenExpiry(held)}
	s.User.fromClaims(claims)
	renewing := r.renewing(held)
	if renewing {
		s.Expires = r.lifetime.Extended(r.beganAt(held), time.Now())
	}
	if err := r.show(s, claims); err != nil {
		return nil, err
	}
	if renewing {
		text, err := r.encode(r.ctx, r.set, claims)
		if err != nil {
			return nil, r.endWith(fail(codeJWTSession, err))
		}
		if err := r.renew(text); err != nil {
			return nil, err
		}
		r.log.debug(r.ctx, "session extended")
	}
	return s, nil
}

// renew gives the browser a new token. One that is too long for cookies leaves it
// the one it has.
func (r *reading) renew(text string) error {
	lines, err := r.tokenCookies(r.ctx, r.set, r.req.Header, text)
	if err != nil {
		r.broken = true
		return fail(codeJWTSession, err)
	}
	r.lines = lines
	return nil
}

// fromToken fills in a user from the known claims of a token.
func (u *User) fromToken(tok token.Token) {
	u.ID, u.Name, u.Email, u.Image = tok.Subject(), tok.Name(), tok.Email(), tok.Picture()
}

// fromClaims fills in a user from claims. What is not of the right type is left
// out: a token of another server may hold anything.
func (u *User) fromClaims(claims Claims) {
	u.ID, _ = wire.ID(claims["sub"])
	u.Name, _ = claims["name"].(string)
	u.Email, _ = claims["email"].(string)
	u.Image, _ = claims["picture"].(string)
}
