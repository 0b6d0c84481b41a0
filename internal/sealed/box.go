// Package sealed keeps small values for a time where others can read, copy and
// replace them: in cookies, and in parameters that pass through another server. A
// value is encrypted and authenticated, for one purpose, until it expires.
//
// The form is that of Auth.js's tokens: an object with the members iat, exp and
// jti, sealed by package seal.
package sealed

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/pintleauth/pintle/internal/seal"
	"github.com/pintleauth/pintle/internal/uuid"
	"github.com/pintleauth/pintle/internal/wire"
)

// ClockTolerance is how far the clocks of two servers that share a value may be
// apart.
const ClockTolerance = 15 * time.Second

// Why a value does not open. The texts follow the name of what should have held it.
var (
	ErrKey     = errors.New("cannot be opened: it was not made with a current secret")
	ErrContent = errors.New("holds nothing to read")
	ErrExpired = errors.New("has expired")

	// ErrAhead is a value that is good for longer than any made now. What remembers
	// that it was used could forget it first.
	ErrAhead = errors.New("expires later than it could: the clocks of the servers differ")
)

// A Box seals values of one purpose. Only [NewBox] makes one. Its methods may be
// called concurrently.
type Box struct {
	keys   *seal.Keys
	maxAge time.Duration
}

// NewBox returns a box for values that are good for maxAge, or, if that is zero, one
// that opens values whatever their age. Secrets and salt are those of [seal.New]:
// the salt keeps the values of two purposes apart.
func NewBox(secrets []string, salt string, maxAge time.Duration) (*Box, error) {
	keys, err := seal.New(secrets, salt)
	if err != nil {
		return nil, err
	}
	return &Box{keys, maxAge}, nil
}

// A Value is a pointer to a struct in which a [Stamp] or an [Expiry] is embedded.
type Value interface {
	issue(issued, expires int64)
	end() int64
}

// A Stamp is the times of a value in Unix seconds, and its id.
type Stamp struct {
	IssuedAt int64  `json:"iat"`
	Expires  int64  `json:"exp"`
	ID       string `json:"jti"` // a random UUID, unless it was set
}

func (s *Stamp) issue(issued, expires int64) {
	s.IssuedAt, s.Expires = issued, expires
	if s.ID == "" {
		s.ID = uuid.New()
	}
}

func (s *Stamp) end() int64 { return s.Expires }

// An Expiry is the end of a value in Unix seconds, for values of which nothing else
// has to be known.
type Expiry struct {
	Expires int64 `json:"exp"`
}

func (e *Expiry) issue(_, expires int64) { e.Expires = expires }
func (e *Expiry) end() int64             { return e.Expires }

// Seal stamps a value with the time and returns it sealed. It fails only for a value
// that is no JSON.
func (b *Box) Seal(v Value) (string, error) {
	now := time.Now()
	v.issue(now.Unix(), now.Add(b.maxAge).Unix())
	text, err := wire.Marshal(v)
	if err != nil {
		return "", err
	}
	return string(b.keys.AppendSeal(nil, text)), nil
}

// Open reads what Seal, or Auth.js, sealed for the same purpose. Its error matches
// one of those above, and v is not to be used then.
func (b *Box) Open(text string, v Value) error {
	plain, err := b.keys.Open(nil, text)
	if err != nil {
		return ErrKey
	}
	if err := json.Unmarshal(plain, v); err != nil {
		return ErrContent
	}
	switch now := time.Now(); {
	case v.end() <= now.Add(-ClockTolerance).Unix():
		return ErrExpired
	case b.maxAge > 0 && v.end() > now.Add(b.maxAge+ClockTolerance).Unix():
		return ErrAhead
	}
	return nil
}
