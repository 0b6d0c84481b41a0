package account

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
)

// A Level is how strong the proofs of a session are together. The zero Level is that of a
// session that records none.
type Level int

// The levels. Each meets a [Demand] of those before it.
const (
	// OneFactor is one proof: a password, a mail, a provider, a code.
	OneFactor Level = iota + 1

	// TwoFactors is a code of an authenticator app or a recovery code beside another
	// proof, or a provider of [SecondFactor].SkipFor whose verified ID token reports "mfa".
	TwoFactors

	// PhishingResistant is a passkey whose authenticator has verified its user, by a
	// PIN or a biometric.
	PhishingResistant
)

// levelNames are the values of acr for the levels. They claim no level of NIST SP 800-63B.
var levelNames = [...]string{"", "1fa", "mfa", "phr"}

// String returns the level as clients see it: "1fa", "mfa" or "phr", and "" for the zero
// Level.
func (l Level) String() string {
	if l < 0 || int(l) >= len(levelNames) {
		return fmt.Sprintf("Level(%d)", int(l))
	}
	return levelNames[l]
}

// levelNamed returns the level of a name, or zero.
func levelNamed(name string) Level { return Level(max(slices.Index(levelNames[:], name), 0)) }

// andAbove lists the levels that do where l is demanded, for acr_values.
func (l Level) andAbove() string { return strings.Join(levelNames[max(l, OneFactor):], " ") }

// The methods of proofs by the root, as values of the claim amr. Pages of this package add
// methodTOTP and methodRecovery.
//
// https://www.rfc-editor.org/rfc/rfc8176#section-2
const (
	methodPassword = "pwd"
	methodMail     = "mail"
	methodProvider = "fed"
	methodKey      = "pop"
	methodVerified = "mfa" // of a passkey; what a provider reports is "fed:mfa"
)

// clockTolerance is how far the clocks of two servers may be apart.
const clockTolerance = 15 * time.Second

// Level returns how strong the proofs of a session are together, whenever they were
// given. A nil session has the zero Level, and so has one that Auth.js has begun.
// [Accounts.Meets] takes the time into account.
func (a *Accounts) Level(s *pintle.Session) Level {
	if s == nil {
		return 0
	}
	return a.levelSince(s.Authentication, time.Time{})
}

// levelSince returns how strong the proofs since a time are. Older ones add nothing: a
// code of last week does not make a password of now two factors.
func (a *Accounts) levelSince(facts pintle.Authentication, since time.Time) Level {
	latest := time.Now().Add(clockTolerance)
	has := func(method string) bool {
		at, proven := facts.Proofs[method]
		return proven && !at.IsZero() && !at.Before(since) && !at.After(latest)
	}
	// Two mails, or a password whose reset goes to the same mailbox, are one factor.
	knows := has(methodPassword) || has(methodMail)
	first := knows || has(methodProvider) || has(methodKey)
	second := has(methodTOTP) || has(methodRecovery)
	switch {
	case has(methodKey) && has(methodVerified):
		return PhishingResistant
	case first && second, knows && has(methodKey), has(methodProvider+":"+methodVerified) && a.vouches(facts.Provider):
		return TwoFactors
	case first, second:
		return OneFactor
	}
	return 0
}

// vouches reports whether the application trusts what a provider says of second factors.
func (a *Accounts) vouches(provider string) bool {
	return provider != "" && slices.Contains(a.o.SecondFactor.SkipFor, provider)
}

// strongest returns the level that [Demand].Strongest demands of a user. It reads the store,
// because the session may be older than the factors of the user.
func (a *Accounts) strongest(ctx context.Context, userID string) (Level, error) {
	if a.o.SecondFactor.Off {
		return OneFactor, nil
	}
	set, err := a.factorsOf(ctx, userID)
	if err != nil {
		return 0, unavailable(err)
	}
	if set.asked() {
		return TwoFactors, nil
	}
	if len(a.passkeys) == 0 {
		return OneFactor, nil
	}
	// Whether the authenticator can verify its user is not known: one that does reaches
	// more, and one that does not is a second factor beside the password.
	keys, err := a.keyring(ctx, userID)
	if err != nil {
		return 0, err
	}
	if keys.passkey != "" {
		return TwoFactors, nil
	}
	return OneFactor, nil
}
