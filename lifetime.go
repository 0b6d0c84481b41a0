package pintle

import (
	"errors"
	"fmt"
	"time"
)

// renewing reports whether the token is to be written anew.
func (r *reading) renewing(held heldToken) bool {
	switch {
	case r.renewal == renewAlways || r.changes != nil || r.changed || r.trigger == TriggerUpdate:
		return r.renewal != renewNever
	case r.renewal == renewNever:
		return false
	}
	return !held.issued().Add(max(r.Session.UpdateAge, 0)).After(time.Now())
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
func (r *reading) tokenExpiry(held heldToken) time.Time {
	if expires := held.ends(); !expires.IsZero() {
		return expires
	}
	return r.renewed(time.Time{})
}

// needsSignInTime reports whether tokens have to say when the user signed in.
func (s *settings) needsSignInTime() bool {
	return s.Session.AbsoluteMaxAge > 0 || s.Session.Revocation != nil
}

// signedInAt is when the user signed in, if the token says so.
func (s *settings) signedInAt(held heldToken) time.Time {
	if !s.needsSignInTime() {
		return time.Time{}
	}
	return held.time(claimSignedIn)
}

// beganAt is when the session of a token began, at the latest: Auth.js writes no
// sign-in time, and a token from before one was needed has none either.
func (s *settings) beganAt(held heldToken) time.Time {
	if at := s.signedInAt(held); !at.IsZero() || !s.needsSignInTime() {
		return at
	}
	return held.issued()
}

// stillGood checks whether a valid token has been ended before its time.
func (r *reading) stillGood(held heldToken) error {
	if !r.needsSignInTime() {
		return nil
	}
	if r.Session.AbsoluteMaxAge > 0 {
		switch began := r.beganAt(held); {
		case began.IsZero():
			return fail(codeJWTSession, errors.New("the token does not say when it was issued, which Config.Session.AbsoluteMaxAge needs"))
		case r.tooOld(began):
			return fail(codeJWTSession, errors.New("the session has reached its absolute lifetime"))
		}
	}
	if r.Session.Revocation == nil {
		return nil
	}
	// A token without a sign-in time counts as older than any RevokeUser: Auth.js
	// writes another iat at each renewal, so iat would outdate the revocation.
	revoked, err := r.Session.Revocation.Revoked(r.ctx, held.subject(), held.session(), r.signedInAt(held))
	if err != nil {
		return r.unanswered(codeJWTSession, fmt.Errorf("Config.Session.Revocation: %w", err))
	}
	if revoked {
		return fail(codeJWTSession, errors.New("the session was ended"))
	}
	return nil
}
