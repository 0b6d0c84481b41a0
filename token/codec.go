// Package token reads and writes the encrypted session tokens of Auth.js and
// Pintle. It needs only the application's secret, so a Go service beside a Next.js
// application can read the sessions of its users:
//
//	sessions, err := token.New("__Secure-authjs.session-token", os.Getenv("AUTH_SECRET"))
//	…
//	session, err := sessions.FromRequest(r)
//
// A token is a JWE holding the claims as JSON. Only holders of the secret can
// read one or make one. It stays valid until it expires: signing out deletes
// the cookie, it does not revoke the token.
//
// The name of the cookie is an input of the key derivation. Over https the cookie
// is called __Secure-authjs.session-token, over http authjs.session-token, and a
// token made for one name is not valid under the other.
package token

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pintleauth/pintle/internal/seal"
)

var (
	// ErrNoToken is matched by the error if there is no token to read.
	ErrNoToken = errors.New("token: no token")

	// ErrInvalid is returned for a token that is not sealed with one of the
	// secrets, or is malformed. It does not tell the reason, because an attacker
	// could learn from it.
	ErrInvalid = errors.New("token: not valid")

	// ErrExpired is returned for a valid token that has expired.
	ErrExpired = errors.New("token: expired")
)

// A Codec seals claims into tokens and reads them back. Make it with [New]. Its
// methods may be called concurrently.
type Codec struct {
	cookie  string
	keys    *seal.Keys
	buffers sync.Pool // of *[]byte, for plaintexts

	// siblings are the names that the cookie has on a site with another scheme. The errors
	// are made once: most requests may be those of anonymous clients.
	siblings                          []string
	noTokenInCookie, noTokenInRequest error
}

// New returns a codec for the tokens of one cookie, such as
// "authjs.session-token". For tokens outside of cookies use a name for their
// purpose instead.
//
// The first secret seals, all of them open: put a new one in front to rotate.
// A secret is used as text, without decoding hex or base64.
func New(cookie string, secrets ...string) (*Codec, error) {
	return NewTenant("", cookie, secrets...)
}

// NewTenant returns a codec for the tokens of one tenant of a service whose
// tenants may share a secret: the tokens of each are invalid for the others. The
// name is that of pintle's Config.Tenant, or the key of a configuration of
// pintle.NewFunc. With an empty name the codec is that of [New].
func NewTenant(tenant, cookie string, secrets ...string) (*Codec, error) {
	keys, err := seal.New(secrets, seal.Salt(cookie, tenant))
	if err != nil {
		return nil, fmt.Errorf("token: make a codec for cookie %q: %w", cookie, err)
	}
	return &Codec{
		cookie:  cookie,
		keys:    keys,
		buffers: sync.Pool{New: func() any { return new([]byte) }},

		siblings:         siblings(cookie),
		noTokenInCookie:  fmt.Errorf("%w in the cookie %q of the request", ErrNoToken, cookie),
		noTokenInRequest: fmt.Errorf("%w in the cookie %q of the request, and none behind Authorization: Bearer", ErrNoToken, cookie),
	}, nil
}

// Encode seals claims into a token that expires after maxAge, counted in whole
// seconds. With zero or a negative maxAge the token has expired already.
//
// The claims may be any value that [encoding/json] encodes as an object. Encode
// sets the claims iat, exp and jti, replacing earlier values, and keeps the order
// of the members.
func (c *Codec) Encode(claims any, maxAge time.Duration) (string, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // as JavaScript writes it, and shorter
	if err := enc.Encode(claims); err != nil {
		return "", fmt.Errorf("token: encode claims: %w", err)
	}
	if text.Len() > seal.MaxToken { // the offsets of a scanner have 32 bits
		return "", errTooLong
	}
	return c.seal(text.String(), maxAge)
}

// Renew seals the claims of a token again, with new iat, exp and jti, as
// [Codec.Encode] does. It ignores the old expiry.
func (c *Codec) Renew(t Token, maxAge time.Duration) (string, error) {
	if t.text == "" {
		return "", ErrNoToken
	}
	return c.seal(t.text, maxAge)
}

var errTooLong = fmt.Errorf("token: the claims make a token longer than %d bytes, which Decode would reject: put less into them", seal.MaxToken)

func (c *Codec) seal(text string, maxAge time.Duration) (string, error) {
	buf := c.buffers.Get().(*[]byte)
	defer c.release(buf)
	plain, ok := appendStamped((*buf)[:0], text, time.Now(), maxAge)
	*buf = plain
	if !ok {
		return "", errors.New("token: the claims are not a JSON object, not UTF-8 or nested too deeply")
	}
	both := c.keys.AppendSeal(plain, plain)
	*buf = both
	sealed := both[len(plain):]
	if len(sealed) > seal.MaxToken {
		return "", errTooLong
	}
	return string(sealed), nil
}

// Decode verifies and opens a token. The error is [ErrNoToken] for the empty
// string, [ErrExpired] or [ErrInvalid]; the token is then zero.
//
// A token without exp does not expire. Clocks may differ by 15 seconds.
func (c *Codec) Decode(sealed string) (Token, error) {
	if sealed == "" {
		return Token{}, ErrNoToken
	}
	buf := c.buffers.Get().(*[]byte)
	defer c.release(buf)
	plain, err := c.keys.Open((*buf)[:0], sealed)
	if err != nil {
		return Token{}, ErrInvalid
	}
	*buf = plain
	t, ok := parse(string(plain))
	if !ok {
		return Token{}, ErrInvalid
	}
	if err := t.check(time.Now()); err != nil {
		return Token{}, err
	}
	return t, nil
}

// keepBuffer bounds the memory that an idle buffer keeps.
const keepBuffer = 64 << 10

func (c *Codec) release(buf *[]byte) {
	if cap(*buf) <= keepBuffer {
		c.buffers.Put(buf)
	}
}
