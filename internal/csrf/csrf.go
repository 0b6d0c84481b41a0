// Package csrf makes and checks double-submit tokens: a random token and, in a
// cookie, the same token with a hash keyed by the application's secret. A form
// repeats the token; another site can neither read the cookie nor, without the
// secret, make one.
//
// The cookie value is "token|hash", both 64 lower-case hexadecimal characters,
// as Auth.js writes it. Cookies of other implementations are accepted if the hash
// is right: another token length is fine, a second bar is not (SH-45).
//
// The token is not bound to a session. An attacker who can set cookies for the
// host can plant a valid pair. The prefix __Host- on the cookie's name prevents
// that on sites with TLS.
package csrf

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"strings"

	"github.com/pintleauth/pintle/internal/tokenhash"
)

const (
	// tokenLen is the length of the tokens made here: 32 random bytes.
	tokenLen = 64

	// maxToken bounds what is hashed for an anonymous client.
	maxToken = 512
)

// Tokens makes and checks tokens. It may be used concurrently.
type Tokens struct{ hash tokenhash.Hasher }

// New returns Tokens whose cookies are keyed by h. With a Hasher that has no
// secret, [Tokens.Parse] rejects everything and [Tokens.Generate] panics.
func New(h tokenhash.Hasher) Tokens { return Tokens{h} }

// Generate returns a new token and the value of its cookie, not yet encoded.
func (t Tokens) Generate() (token, cookieValue string) {
	var raw [tokenLen / 2]byte
	rand.Read(raw[:]) // never fails
	var out [tokenLen + 1 + tokenhash.Size]byte
	hex.Encode(out[:tokenLen], raw[:])
	out[tokenLen] = '|'
	t.hash.AppendSum(out[:tokenLen+1], out[:tokenLen])
	cookieValue = string(out[:])
	return cookieValue[:tokenLen], cookieValue
}

// Parse returns the token of a cookie value, decoded, and whether its hash is
// right under one of the secrets, current or earlier.
func (t Tokens) Parse(cookieValue string) (token string, ok bool) {
	token, hash, found := strings.Cut(cookieValue, "|")
	if !found || token == "" || len(token) > maxToken || !t.hash.Equal(token, hash) {
		return "", false
	}
	return token, true
}

// Bound returns what a form repeats instead of a token, so that it is rejected once the value that
// it is bound to has changed. The token itself is not in the result. Without a value it is the
// token.
func Bound(token, value string) string {
	if token == "" || value == "" {
		return token
	}
	sum := sha256.Sum256([]byte(token + "|" + value)) // no token has a bar
	return hex.EncodeToString(sum[:])
}

// Verify reports whether the token of a request's body equals the one of its
// cookie. An empty token equals no other, not even an empty one. The comparison
// takes the same time wherever the two differ (W-13).
func (t Tokens) Verify(cookieToken, bodyToken string) bool {
	return cookieToken != "" && len(cookieToken) == len(bodyToken) &&
		subtle.ConstantTimeCompare([]byte(cookieToken), []byte(bodyToken)) == 1
}
