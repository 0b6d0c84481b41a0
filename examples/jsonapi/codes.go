package main

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"maps"
	"sync"
	"time"

	"github.com/pintleauth/pintle"
)

// codes are the authorization codes. A code works once, within a minute, for the
// application that began the sign-in: only that one has the verifier of the
// challenge.
//
// https://www.rfc-editor.org/rfc/rfc7636#section-4
type codes struct {
	mu    sync.Mutex
	given map[string]grant
}

// A grant is a user's consent to an application.
type grant struct {
	request
	userID   string
	signedIn pintle.Authentication // in the browser
	expires  time.Time
}

func newCodes() *codes { return &codes{given: map[string]grant{}} }

// give returns a code for an application that may act as the user of a session.
func (c *codes) give(asked request, s *pintle.Session) (code string) {
	now := time.Now()
	code = rand.Text()
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.given, func(_ string, g grant) bool { return g.expires.Before(now) })
	c.given[code] = grant{asked, s.User.ID, s.Authentication, now.Add(time.Minute)}
	return code
}

// take returns the grant of a code, and deletes it: a second request with the code
// comes from an attacker, and a request without the verifier gets no second try.
func (c *codes) take(code string) (grant, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g, ok := c.given[code]
	delete(c.given, code)
	return g, ok && time.Now().Before(g.expires)
}

// redeem returns the grant of a code, if the application that was given the code has
// sent it.
func (c *codes) redeem(code string, by request, verifier string) (grant, bool) {
	g, ok := c.take(code)
	sum := sha256.Sum256([]byte(verifier))
	challenge := base64.RawURLEncoding.EncodeToString(sum[:])
	return g, ok && g.Client == by.Client && g.Redirect == by.Redirect &&
		subtle.ConstantTimeCompare([]byte(g.Challenge), []byte(challenge)) == 1
}
