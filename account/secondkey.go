package account

import (
	"errors"
	"slices"

	"github.com/pintleauth/pintle"
)

// A passkey is a second factor on the page that a sign-in waits at. The challenge is for this
// sign-in: an answer to it is no sign-in by itself and confirms no session, and an answer to
// the challenge of a sign-in or of a session is not accepted here. Package pintle keeps the
// challenges apart.

// secondOptions begins the ceremony, for the script of the page or of the application. It
// stores nothing.
func (v *visit) secondOptions() (*view, error) {
	s, err := v.secondStep()
	if err != nil {
		return nil, err
	}
	if s.passkey == "" {
		return nil, problemOf("invalid")
	}
	// Beside an account of a provider, or another passkey, the possession of a key is no
	// second factor: the authenticator has to verify its user.
	o := pintle.SignInOptions{RequireUserVerification: !hasKnowledge(s.pending)}
	options, err := v.auth.BeginPasskeySecondFactor(v.w, v.r, s.passkey, o)
	if err != nil {
		return nil, asSecondProblem(err)
	}
	return &view{data: map[string]any{"action": "authenticate", "options": options}}, nil
}

// secondByPasskey verifies the answer of the ceremony, and completes the sign-in. Attempts are
// not counted: a signature cannot be guessed, and a user whose codes are suspended needs this
// way.
func (v *visit) secondByPasskey(s *secondStep) (next string, err error) {
	methods, err := v.auth.FinishPasskeySecondFactor(v.w, v.r, s.passkey, []byte(v.form["data"]))
	if err != nil {
		return "", asSecondProblem(err)
	}
	if next, err = v.completeSecond(s, methods...); err != nil {
		return "", err
	}
	// As at a sign-in with it, an authenticator that has verified its user ends a suspension
	// of codes.
	if slices.Contains(methods, methodVerified) {
		v.acceptCodes(s.pending.User.ID)
	}
	return next, nil
}

// asSecondProblem is the problem of a passkey that the root has not accepted, and has logged.
func asSecondProblem(err error) error {
	if errors.Is(err, pintle.CodeStore) || errors.Is(err, pintle.CodeConfiguration) {
		return unavailable(err)
	}
	return problemOf("passkey_failed")
}
