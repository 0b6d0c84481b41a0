package token

import (
	"fmt"
	"log/slog"
	"math"
	"strings"
	"time"
)

// A Token has the verified claims of a sealed token, which cannot be changed. The
// zero Token has no claims.
//
// The claims stay JSON until a method decodes them. Methods that return a string
// return "" for a claim that is absent, null or not a string.
type Token struct {
	text  string // one JSON object
	known [knownClaims]span
}

// The claims whose positions are found while the JSON is checked.
const (
	claimName = iota
	claimEmail
	claimPicture
	claimSubject
	claimID
	claimExpires
	claimIssued
	claimNotBefore
	knownClaims
)

// known returns the number of a claim that has one, or -1.
func known(name string) int {
	switch name {
	case "name":
		return claimName
	case "email":
		return claimEmail
	case "picture":
		return claimPicture
	case "sub":
		return claimSubject
	case "jti":
		return claimID
	case "exp":
		return claimExpires
	case "iat":
		return claimIssued
	case "nbf":
		return claimNotBefore
	}
	return -1
}

// parse reads the claims, which must be a JSON object to the last byte: "a
// completely valid JSON object" in UTF-8. If a claim is repeated the last one
// counts, as for JSON.parse.
//
// https://www.rfc-editor.org/rfc/rfc7519#section-7.2
func parse(text string) (Token, bool) {
	t := Token{text: text}
	s := scanner{text: text}
	s.space()
	ok := s.object(func(name string, value span) {
		if i := known(name); i >= 0 {
			t.known[i] = value
		}
	})
	s.space()
	return t, ok && s.pos == len(text)
}

// leeway is how far the clocks of two servers may differ, in seconds. It is that
// of Auth.js.
const leeway = 15

// check rejects a token outside its time. A time claim that is not a number makes
// the whole token invalid, even if the claim is null.
func (t Token) check(now time.Time) error {
	clock := float64(now.Unix())
	for _, claim := range [...]int{claimExpires, claimIssued, claimNotBefore} {
		if v := t.raw(claim); v != "" && !isNumber(v) {
			return ErrInvalid
		}
	}
	if v := t.raw(claimNotBefore); v != "" && number(v) > clock+leeway {
		return ErrInvalid
	}
	if v := t.raw(claimExpires); v != "" && number(v) <= clock-leeway {
		return ErrExpired
	}
	return nil
}

// Name returns the claim name: the name of the user.
func (t Token) Name() string { return t.str(claimName) }

// Email returns the claim email.
func (t Token) Email() string { return t.str(claimEmail) }

// Picture returns the claim picture: a URL.
func (t Token) Picture() string { return t.str(claimPicture) }

// Subject returns the claim sub: the user's id.
func (t Token) Subject() string { return t.str(claimSubject) }

// ID returns the claim jti: the token's own id, another one at each renewal.
func (t Token) ID() string { return t.str(claimID) }

// Expires returns the claim exp, or the zero time for a token that does not
// expire.
func (t Token) Expires() time.Time { return t.time(claimExpires) }

// IssuedAt returns the claim iat, or the zero time.
func (t Token) IssuedAt() time.Time { return t.time(claimIssued) }

// NotBefore returns the claim nbf, or the zero time.
func (t Token) NotBefore() time.Time { return t.time(claimNotBefore) }

// JSON returns the claims as they were sealed: one JSON object, or nil for the
// zero Token. Unmarshal it to read all claims into your own struct.
func (t Token) JSON() []byte { return []byte(t.text) }

// MarshalJSON returns the claims, or null for the zero Token.
func (t Token) MarshalJSON() ([]byte, error) {
	if t.text == "" {
		return []byte("null"), nil
	}
	return t.JSON(), nil
}

// String returns the subject and the expiry, but no other claims: a token may be
// printed to a log.
func (t Token) String() string {
	if t.Expires().IsZero() {
		return fmt.Sprintf("token of %q", t.Subject())
	}
	return fmt.Sprintf("token of %q until %s", t.Subject(), t.Expires().UTC().Format(time.RFC3339))
}

// LogValue returns the same as [Token.String], as attributes.
func (t Token) LogValue() slog.Value {
	return slog.GroupValue(slog.String("sub", t.Subject()), slog.Time("exp", t.Expires()))
}

// raw returns the JSON of a known claim, or "" if it is absent.
func (t Token) raw(claim int) string { return t.known[claim].in(t.text) }

func (t Token) str(claim int) string {
	v := t.raw(claim)
	if !strings.HasPrefix(v, `"`) {
		return ""
	}
	return unquote(v)
}

// time returns a claim that check has accepted as a number. Times beyond year
// 9999 become its end, because RFC 3339 cannot express them.
func (t Token) time(claim int) time.Time {
	v := t.raw(claim)
	if v == "" {
		return time.Time{}
	}
	const first, last = -62135596800, 253402300799 // years 1 and 9999
	whole, frac := math.Modf(min(max(number(v), first), last))
	return time.Unix(int64(whole), int64(frac*1e9))
}
