package pintle

import (
	"maps"
	"reflect"
	"time"

	"github.com/pintleauth/pintle/internal/uuid"
)

// sessionMarks are the claims by which a token session is limited and ended.
// They come from the sign-in, and afterwards from the token before, never from a
// callback or a client: without them [SessionConfig.AbsoluteMaxAge] and
// [SessionConfig.Revocation] would not hold.
type sessionMarks Claims

// newMarks returns the marks of a session that begins at a time.
func (s *settings) newMarks(began time.Time) sessionMarks {
	marks := sessionMarks{}
	if s.needsSignInTime() {
		marks[claimSignedIn] = began.Unix()
	}
	if s.Session.Revocation != nil {
		marks[claimSession] = uuid.New()
	}
	return marks
}

// marksOf returns the marks of the session of a token. A token that lacks them
// was written by Auth.js, or before they were needed: its session counts as
// begun when the token was issued, and is named by the token's id, so that a
// copy of the token ends with it.
func (s *settings) marksOf(held heldToken) sessionMarks {
	if !s.needsSignInTime() {
		return nil
	}
	marks := sessionMarks{}
	if began := s.beganAt(held); !began.IsZero() {
		marks[claimSignedIn] = began.Unix()
	}
	if s.Session.Revocation != nil {
		marks[claimSession] = held.session()
		if marks[claimSession] == "" {
			marks[claimSession] = uuid.New()
		}
	}
	return marks
}

// in returns claims with the marks in them. The map itself is left alone when it
// lacks some: a callback may return one that it uses for every user.
func (m sessionMarks) in(claims Claims) Claims {
	for name, value := range m {
		if !sameMark(claims[name], value) {
			marked := maps.Clone(claims)
			maps.Copy(marked, m)
			return marked
		}
	}
	return claims
}

// areIn reports whether a token has the marks.
func (m sessionMarks) areIn(held heldToken) bool {
	for name, value := range m {
		var claim any
		if found, err := held.Claim(name, &claim); !found || err != nil || !sameMark(claim, value) {
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
