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
	return r.lifetime.Due(held.issued(), time.Now())
}

// tokenExpiry is when a token ends as it is.
func (r *reading) tokenExpiry(held heldToken) time.Time {
	if expires := held.ends(); !expires.IsZero() {
		return expires
	}
	return r.lifetime.Extended(time.Time{}, time.Now())
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
		case r.lifetime.Over(began, time.Now()):
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
