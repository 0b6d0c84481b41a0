package pintle

import (
	"errors"
	"fmt"
	"time"

	"github.com/pintleauth/pintle/token"
)

// renewing reports whether the token is to be written anew.
func (r *reading) renewing(tok token.Token) bool {
	switch {
	case r.renewal == renewAlways || r.changes != nil || r.changed || r.trigger == TriggerUpdate:
		return r.renewal != renewNever
	case r.renewal == renewNever:
		return false
	}
	return !tok.IssuedAt().Add(max(r.Session.UpdateAge, 0)).After(time.Now())
}

// renewed is when a session ends that is extended now.
func (s *settings) renewed(signedIn time.Time) time.Time {
	return s.capped(time.Now().Add(s.Session.MaxAge), signedIn)
}

// tokenAge is how long a token is good that is written now.
func (s *settings) tokenAge(signedIn time.Time) time.Duration {
	if s.Session.AbsoluteMaxAge == 0 || signedIn.IsZero() {
		return s.JWT.MaxAge
	}
	return min(s.JWT.MaxAge, time.Until(signedIn.Add(s.Session.AbsoluteMaxAge)))
}

func (s *settings) capped(expires, signedIn time.Time) time.Time {
	if s.Session.AbsoluteMaxAge > 0 && !signedIn.IsZero() {
		if last := signedIn.Add(s.Session.AbsoluteMaxAge); last.Before(expires) {
			return last
		}
	}
	return expires
}

// tooOld reports whether a session has reached its absolute lifetime.
func (s *settings) tooOld(signedIn time.Time) bool {
	return s.Session.AbsoluteMaxAge > 0 && !signedIn.IsZero() && !time.Now().Before(signedIn.Add(s.Session.AbsoluteMaxAge))
}

// tokenExpiry is when a token ends as it is.
func (r *reading) tokenExpiry(tok token.Token) time.Time {
	if expires := tok.Expires(); !expires.IsZero() {
		return expires
	}
	return r.renewed(time.Time{})
}

// needsSignInTime reports whether tokens have to say when the person signed in.
func (s *settings) needsSignInTime() bool {
	return s.Session.AbsoluteMaxAge > 0 || s.Session.Revocation != nil
}

// signedInAt is when the person signed in, if the token says so.
func (s *settings) signedInAt(tok token.Token) time.Time {
	if !s.needsSignInTime() {
		return time.Time{}
	}
	var seconds int64
	if found, err := tok.Claim(claimSignedIn, &seconds); !found || err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// stillGood asks whether a valid token has been ended before its time.
func (r *reading) stillGood(tok token.Token, claims Claims) error {
	if !r.needsSignInTime() {
		return nil
	}
	signedIn, user, id := r.signedInAt(tok), tok.Subject(), tok.ID()
	if _, err := tok.Claim(claimSession, &id); err != nil {
		id = tok.ID()
	}
	if claims != nil {
		user, _ = identifier(claims["sub"])
		id = sessionID(claims)
		if seconds, ok := unixSeconds(claims[claimSignedIn]); ok {
			signedIn = time.Unix(seconds, 0)
		}
	}
	if r.tooOld(signedIn) {
		return fail(codeJWTSession, errors.New("the session has reached its absolute lifetime"))
	}
	if r.Session.Revocation == nil {
		return nil
	}
	revoked, err := r.Session.Revocation.Revoked(r.ctx, user, id, signedIn)
	if err != nil {
		return r.unanswered(codeJWTSession, fmt.Errorf("Config.Session.Revocation: %w", err))
	}
	if revoked {
		return fail(codeJWTSession, errors.New("the session was ended"))
	}
	return nil
}

// sessionID is what a session is revoked by: its own id, or that of the token
// for one that began before sessions could be revoked.
func sessionID(claims Claims) string {
	if id, ok := identifier(claims[claimSession]); ok {
		return id
	}
	id, _ := identifier(claims["jti"])
	return id
}
