package pintle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"time"

	"github.com/pintleauth/pintle/internal/uuid"
)

// sessionMarks are the claims by which a token session is limited and ended.
// They come from the sign-in, and afterwards from the token before, never from a
// callback or a client: without them [SessionConfig.AbsoluteMaxAge],
// [SessionConfig.Revocation] and [Session.Authentication] would not hold. A mark
// that is nil is a claim that the token must not have.
type sessionMarks Claims

// unmarked are the marks of a configuration that records nothing.
var unmarked = sessionMarks{claimProvider: nil}

// newMarks returns the marks of the session of a decision.
func (s tokenSessions) newMarks(x *exchange, who *arrival, d *decision) sessionMarks {
	a := d.authentication
	switch {
	case d.kept == nil:
		a = a.startedAt(who.errands.sessionStart(d.user.ID, a.Started))
	case a.Started.IsZero():
		if a.Started = d.kept.began; a.Started.IsZero() {
			a.Started = x.began
		}
	}
	if d.kept != nil && who.newPasskey != nil { // it has ended the others: see endOthersFor
		a = a.startedAt(who.errands.sessionStart(d.user.ID, a.Started)) // its proofs keep their time
	}
	marks := s.marks(a)
	if s.Session.Revocation != nil {
		marks[claimSession] = uuid.New()
		// A session that goes on keeps its id: a sign-out of it that comes at any
		// moment, perhaps while this token is written, ends this token as well.
		if d.kept != nil && d.kept.token.ID != "" {
			marks[claimSession] = d.kept.token.ID
		}
	}
	switch {
	case !s.tied:
	case d.kept != nil:
		marks[claimAtProvider] = d.kept.atProvider
	case who.atProvider != nil:
		marks[claimAtProvider] = s.newProviderClaim(who.atProvider).value()
	default:
		marks[claimAtProvider] = nil
	}
	return marks
}

// marks returns the marks, but for claimSession, of a session that records an
// authentication.
func (s tokenSessions) marks(a Authentication) sessionMarks {
	if !s.isMarked() {
		return unmarked
	}
	marks := sessionMarks{claimSignedIn: nil, claimStarted: nil, claimProvider: nil}
	switch {
	case a.Time.IsZero():
		if s.needsSignInTime() && !a.Started.IsZero() {
			marks[claimStarted] = a.Started.Unix()
		}
	case s.Session.RecordAuthentication:
		marks[claimSignedIn], marks[claimStarted] = a.Time.Unix(), a.Started.Unix()
		marks[claimProvider], marks[claimMethods], marks[claimProofs] = a.Provider, encodable(a.Methods), encodableTimes(a.Proofs)
	default:
		marks[claimSignedIn] = a.Started.Unix()
	}
	return marks
}

// addRoles adds the roles of a user, as they are now. Without roles the claim is removed: a
// callback must not write it.
func (s tokenSessions) addRoles(ctx context.Context, marks sessionMarks, userID string) error {
	if s.Callbacks.Roles == nil {
		return nil
	}
	roles, err := s.Callbacks.Roles(ctx, userID)
	if err != nil {
		return fmt.Errorf("Callbacks.Roles: %w", err)
	}
	marks[claimRoles] = encodable(roles)
	return nil
}

// rolesFault is the error of a sign-in whose token got no roles.
func rolesFault(err error) error {
	if errors.Is(err, CodeAccessDenied) {
		return fail(CodeAccessDenied, err)
	}
	return fail(CodeStore, err)
}

// roles are those of a session whose token has a claim. A session of which nothing is recorded
// was begun by another server, or before roles were: what it has in that claim is not known.
func (s tokenSessions) roles(claim any, a Authentication) []string {
	if s.Callbacks.Roles == nil || a.Time.IsZero() {
		return nil
	}
	return recordedRoles(claim)
}

// marksOf returns the marks of the session of a token. A token that lacks them
// was written by Auth.js, or before they were needed: its session counts as
// begun when the token was issued, and is named by the token's id, so that a
// copy of the token ends with it.
func (s tokenSessions) marksOf(held heldToken) sessionMarks {
	a := s.authentication(held)
	if a.Started.IsZero() {
		a.Started = s.beganAt(held)
	}
	marks := s.marks(a)
	if s.Session.Revocation != nil {
		marks[claimSession] = held.session()
		if marks[claimSession] == "" {
			marks[claimSession] = uuid.New()
		}
	}
	if s.tied {
		marks[claimAtProvider] = held.atProviderValue()
	}
	if s.Callbacks.Roles != nil {
		marks[claimRoles] = held.value(claimRoles)
	}
	return marks
}

// in returns claims with the marks in them. The map itself is left alone when it
// lacks some: a callback may return one that it uses for every user.
func (m sessionMarks) in(claims Claims) Claims {
	for name, value := range m {
		claim, present := claims[name]
		if present == (value != nil) && sameMark(claim, value) {
			continue
		}
		marked := maps.Clone(claims)
		for name, value := range m {
			if value == nil {
				delete(marked, name)
			} else {
				marked[name] = value
			}
		}
		return marked
	}
	return claims
}

// areIn reports whether a token has the marks.
func (m sessionMarks) areIn(held heldToken) bool {
	for name, value := range m {
		var claim any
		found, err := held.Claim(name, &claim)
		if found != (value != nil) || err != nil || !sameMark(claim, value) {
			return false
		}
	}
	return true
}

// sameMark reports whether a claim, as it was decoded, is a mark.
func sameMark(claim, mark any) bool {
	if at, ok := mark.(int64); ok {
		seconds, isNumber := claim.(float64)
		return claim == mark || isNumber && seconds == float64(at)
	}
	return reflect.DeepEqual(claim, mark)
}

// isMarked reports whether tokens have [sessionMarks].
func (s tokenSessions) isMarked() bool {
	return s.needsSignInTime() || s.Session.RecordAuthentication || s.Callbacks.Roles != nil
}

// authentication is what a token records of the sign-in.
func (s tokenSessions) authentication(held heldToken) Authentication {
	switch {
	case s.Session.RecordAuthentication:
		return held.authentication()
	case s.needsSignInTime():
		a := Authentication{Time: held.recorded(claimSignedIn), Started: held.began()}
		if !a.Time.IsZero() {
			a.Time = a.Started // a later proof is not recorded here
		}
		return a
	}
	return Authentication{}
}

// needsSignInTime reports whether tokens must record when the session began.
func (s tokenSessions) needsSignInTime() bool {
	return s.Session.AbsoluteMaxAge > 0 || s.Session.Revocation != nil
}

// signedInAt is when the session began, if the token records it.
func (s tokenSessions) signedInAt(held heldToken) time.Time {
	if !s.needsSignInTime() {
		return time.Time{}
	}
	return held.began()
}

// beganAt is when the session of a token began, at the latest: Auth.js writes
// no sign-in time, and neither has a token from before the time was needed.
func (s tokenSessions) beganAt(held heldToken) time.Time {
	if at := s.signedInAt(held); !at.IsZero() || !s.needsSignInTime() {
		return at
	}
	return past(held.issued())
}

// sessionStart returns when a user's session begins, for a sign-in whose
// request began at a given time.
//
// A session begins with the request, before a password or a code is checked. If
// it began when it is issued, a sign-in under way with an old password would
// outlive the end of all sessions that comes with a new one. The exception is a
// sign-in that ended the user's sessions itself.
func (e *errands) sessionStart(userID string, began time.Time) time.Time {
	if next := e.revoked[userID]; next.After(began) {
		return next
	}
	return began
}
