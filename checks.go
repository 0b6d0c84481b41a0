package pintle

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/pintleauth/pintle/internal/cookie"
	"github.com/pintleauth/pintle/internal/once"
	"github.com/pintleauth/pintle/internal/sealed"
)

// clockTolerance is how far the clocks of two servers that share a cookie may
// be apart.
const clockTolerance = sealed.ClockTolerance

// usedLifetime is how long a value can be good after it was used: what a server
// issued whose clock is ahead expires later here, and clocks may differ when it
// is read as well.
const usedLifetime = checkMaxAge + 2*clockTolerance

// spent is what was used and must not be used again.
//
// The memory is that of one process, for all tenants of [NewFunc]. Where several
// processes serve one site, a copy of a browser's cookies works once at each of
// them. For passkeys the counter of an authenticator that counts stops that; for
// providers, that a code is redeemed once:
// https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2
type spent struct {
	// flows are the states of providers' responses, and the verifiers or nonces
	// of flows without a state.
	flows *once.Values

	// challenges are those of passkey ceremonies.
	challenges *once.Values
}

func newSpent() *spent {
	return &spent{flows: once.New(usedLifetime), challenges: once.New(usedLifetime)}
}

// A sealedCheck is what a check cookie holds. Auth.js reads and writes the same
// members; to it the jti is an arbitrary text.
type sealedCheck struct {
	Value    string `json:"value"`
	Provider string `json:"provider"`

	// The ID is a [flowID], the same in every cookie of one flow.
	sealed.Stamp

	// CallbackURL is where the browser goes in the end, in the state cookie of a
	// flow whose response is posted from the provider's site: no other cookie
	// comes along that could tell. Auth.js ignores it.
	CallbackURL string `json:"callbackUrl,omitempty"`
}

// issued returns when the check was made, in Unix seconds.
func (c *sealedCheck) issued() int64 { return c.Expires - int64(checkMaxAge/time.Second) }

// A sealedCookie is a cookie whose content only this application can make.
type sealedCookie struct {
	namedCookie
	box *sealed.Box
}

func (c *cookieSet) pkceCheck() sealedCookie      { return sealedCookie{c.pkce, c.pkceBox} }
func (c *cookieSet) stateCheck() sealedCookie     { return sealedCookie{c.state, c.stateBox} }
func (c *cookieSet) nonceCheck() sealedCookie     { return sealedCookie{c.nonce, c.nonceBox} }
func (c *cookieSet) challengeCheck() sealedCookie { return sealedCookie{c.challenge, c.challengeBox} }

// seal returns the Set-Cookie line that keeps a check until the browser is back.
func (c sealedCookie) seal(check sealedCheck, crossSite bool) (string, error) {
	value, err := c.box.Seal(&check)
	if err != nil {
		return "", fmt.Errorf("seal check: %w", err)
	}
	attrs := c.lasting(checkMaxAge)
	if crossSite {
		// A provider that answers with a form posts it from its own site, and a
		// browser sends only cookies along that say None.
		attrs.SameSite, attrs.Secure = "None", true
	}
	return cookie.Line(c.name, value, attrs), nil
}

// open returns what a check cookie of this request holds for the provider.
func (c sealedCookie) open(x *exchange, provider string) (*sealedCheck, error) {
	check, fault := c.read(x, provider)
	if fault != nil {
		x.debug("cookie not accepted", "cookie", c.name, "reason", fault.Err.Error())
		return nil, fault
	}
	return check, nil
}

func (c sealedCookie) read(x *exchange, provider string) (*sealedCheck, *Error) {
	value, ok := x.initialCookie(c.namedCookie)
	if !ok || value == "" {
		return nil, fail(ErrInvalidCheck, fmt.Errorf("the cookie %s is missing: the sign-in began in another browser, more than 15 minutes ago, or under another host name", c.name))
	}
	var check sealedCheck
	switch err := c.box.Open(value, &check); {
	case errors.Is(err, sealed.ErrKey):
		x.noteForeign(x.ctx, c.name, value)
		return nil, fail(ErrInvalidCheck, fmt.Errorf("the cookie %s %w: %s", c.name, err, fixSecrets))
	case errors.Is(err, sealed.ErrExpired):
		return nil, &Error{Code: ErrInvalidCheck, Detail: flowExpired, Err: fmt.Errorf("the cookie %s %w: the sign-in took more than 15 minutes", c.name, err)}
	case err != nil:
		return nil, fail(ErrInvalidCheck, fmt.Errorf("the cookie %s %w", c.name, err))
	case check.Value == "":
		return nil, fail(ErrInvalidCheck, fmt.Errorf("the cookie %s is empty", c.name))
	case check.Provider != provider:
		// A response of one provider must not complete the flow of another.
		return nil, &Error{Code: ErrInvalidCheck, Detail: flowReplaced, Err: fmt.Errorf("the cookie %s belongs to a sign-in with another provider, which began later in this browser, mostly in another tab", c.name)}
	}
	return &check, nil
}

// stateSalt is the salt of the state parameter itself, which the redirect proxy
// has to read without a cookie.
const stateSalt = "encodedState"

// resolveBoxes derives the keys that all cookies of the site have in common.
func (s *settings) resolveBoxes() *Error {
	if len(s.jwtSecrets) == 0 {
		return nil // resolveSecrets reports it
	}
	for box, salt := range map[**sealed.Box]string{&s.states: stateSalt, &s.challenges: challengeSalt} {
		var err error
		if *box, err = sealed.NewBox(s.jwtSecrets, salt, checkMaxAge); err != nil {
			return fail(ErrConfiguration, err)
		}
	}
	return nil
}

// A sealedState is the content of the state parameter.
type sealedState struct {
	// Origin is the callback URL of the deployment a redirect proxy is to send
	// the browser on to.
	Origin string `json:"origin,omitempty"`
	Random string `json:"random"`
	sealed.Stamp
}

func (s *settings) sealState(origin string) (string, error) {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails
	return s.states.Seal(&sealedState{Origin: origin, Random: base64.RawURLEncoding.EncodeToString(random)})
}

func (s *settings) openState(state string) (*sealedState, error) {
	var content sealedState
	switch err := s.states.Open(state, &content); {
	case errors.Is(err, sealed.ErrKey):
		return nil, fail(ErrInvalidCheck, fmt.Errorf("the state %w; both ends of a redirect proxy need the same", err))
	case errors.Is(err, sealed.ErrExpired):
		return nil, &Error{Code: ErrInvalidCheck, Detail: flowExpired, Err: fmt.Errorf("the state %w: the sign-in took more than 15 minutes", err)}
	case err != nil:
		return nil, fail(ErrInvalidCheck, fmt.Errorf("the state %w", err))
	}
	return &content, nil
}
