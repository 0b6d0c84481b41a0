package account

import (
	"context"
	"errors"
	"strings"

	"github.com/pintleauth/pintle"
)

// SecondFactor is which users need a second factor. The zero value offers one to each
// user, and asks those who have one at every sign-in.
type SecondFactor struct {
	// Required reports whether a user needs a second factor, for example because of a
	// role. A user who has none adds one before the sign-in goes on. Nil means that
	// no user needs one.
	Required func(ctx context.Context, p *pintle.PendingSignIn) (bool, error)

	// SkipFor are the ids of providers that vouch for a second factor: a user who
	// signs in with one of them is not asked here.
	SkipFor []string

	// Off takes second factors out. Those that users have are no longer asked for.
	Off bool

	// Issuer names the site in authenticator apps. It has no colon. Empty means
	// Config.Texts.Site, or the host of Config.URL.
	Issuer string
}

func (s SecondFactor) check() error {
	if s.Off && s.Required != nil {
		return errors.New("account: Options.SecondFactor has Off and Required: choose one")
	}
	if strings.Contains(s.Issuer, ":") {
		return errors.New("account: Options.SecondFactor.Issuer has a colon, which separates it from the name of the account in the apps")
	}
	return nil
}
