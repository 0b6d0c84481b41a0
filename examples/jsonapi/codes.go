package main

import (
	"context"
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
	users pintle.Store

	mu    sync.Mutex
	given map[string]grant
}

// A grant is a user's consent to an application.
type grant struct {
	request
	userID  string
	expires time.Time
}

func newCodes(users pintle.Store) *codes {
	return &codes{users: users, given: map[string]grant{}}
}

// give returns a code for an application that may act as the user.
func (c *codes) give(asked request, userID string) (code string) {
	now := time.Now()
	code = rand.Text()
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.given, func(_ string, g grant) bool { return g.expires.Before(now) })
	c.given[code] = grant{asked, userID, now.Add(time.Minute)}
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

// redeem returns the user of a code to Pintle, or nil to reject the request.
func (c *codes) redeem(ctx context.Context, s *pintle.Submission) (*pintle.User, error) {
	g, ok := c.take(s.Text("code"))
	sum := sha256.Sum256([]byte(s.Text("code_verifier")))
	challenge := base64.RawURLEncoding.EncodeToString(sum[:])
	if !ok || g.Client != s.Text("client_id") || g.Redirect != s.Text("redirect_uri") ||
		subtle.ConstantTimeCompare([]byte(g.Challenge), []byte(challenge)) != 1 {
		return nil, nil // an unknown or used code
	}
	return c.users.User(ctx, g.userID)
}
