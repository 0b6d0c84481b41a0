package pintle

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pintleauth/pintle/token"
)

// Claims are the members of a session token by their names. Values are those
// of encoding/json, with float64 for numbers.
type Claims = token.Claims

// A Claim is a typed key for data that a session carries.
//
//	var Role = pintle.NewClaim[string]("role")
//
// In token sessions the data is a claim of the token, written by
// [Callbacks.JWT] through [Claim.Put] or by server code through [Claim.Set]
// and [Auth.UpdateSession]. In database sessions it is kept with the session
// where the store has room for it.
type Claim[T any] struct{ name string }

// NewClaim returns the key for the data named name. The names of the
// registered claims (sub, exp, iat, nbf, jti, iss, aud) are refused by a panic. So
// are the names by which a session records how it began (auth_time, amr,
// auth_provider, acr, act, sid, started, proofs, roles): [Session.Authentication]
// has what is recorded.
//
// https://www.rfc-editor.org/rfc/rfc7519#section-4.1
func NewClaim[T any](name string) Claim[T] {
	if slices.Contains(reservedClaims, name) {
		panic(fmt.Sprintf("pintle: NewClaim(%q): the name is reserved", name))
	}
	return Claim[T]{name}
}

// Get returns the data in s, and reports whether s has data of the right type.
// A nil session has no data.
func (c Claim[T]) Get(s *Session) (value T, ok bool) {
	if s == nil {
		return value, false
	}
	if v, set := s.changes[c.name]; set {
		value, ok = v.(T)
		return value, ok
	}
	if s.stored != nil {
		return c.In(s.stored.Data)
	}
	if v, set := s.data[c.name]; set {
		return c.from(v)
	}
	if s.hasData {
		found, err := s.claims.Claim(c.name, &value)
		return value, found && err == nil
	}
	return value, false
}

// Set stores v in s. It lasts for this request; [Auth.UpdateSession] saves it.
func (c Claim[T]) Set(s *Session, v T) {
	if s.changes == nil {
		s.changes = map[string]any{}
	}
	s.changes[c.name] = v
}

// In returns the data in the claims of a token, as [Callbacks.JWT] receives
// them, and reports whether they have data of the right type.
func (c Claim[T]) In(claims map[string]any) (value T, ok bool) {
	v, ok := claims[c.name]
	if !ok {
		return value, false
	}
	return c.from(v)
}

// from converts what encoding/json made of the data back to its type.
func (c Claim[T]) from(v any) (value T, ok bool) {
	if value, ok = v.(T); ok {
		return value, true
	}
	text, err := json.Marshal(v)
	if err != nil {
		return value, false
	}
	return value, json.Unmarshal(text, &value) == nil
}

// Put stores v in the claims of a token.
func (c Claim[T]) Put(claims map[string]any, v T) { claims[c.name] = v }
