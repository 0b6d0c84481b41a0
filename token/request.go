package token

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/pintleauth/pintle/internal/bearer"
	"github.com/pintleauth/pintle/internal/cookie"
)

// FromRequest reads the token of a request: from the codec's cookie, or without
// such a cookie from an Authorization header of the form "Bearer token". An
// invalid cookie hides the header. Errors are those of [Codec.Decode].
//
// A browser also sends the cookie with requests that another site causes. If the
// token comes from a cookie, protect requests that change state against that, for
// example with [http.CrossOriginProtection].
func (c *Codec) FromRequest(r *http.Request) (Token, error) {
	t, err := c.FromCookie(r)
	if errors.Is(err, ErrNoToken) {
		return c.Decode(bearer.Token(r.Header))
	}
	return t, err
}

// FromCookie reads the token of a request from the codec's cookie only. Errors
// are those of [Codec.Decode].
//
// A long token is split into several cookies, name.0, name.1 and so on. Other
// cookies that begin with the name do not belong to it. If a request has both a
// cookie without number and numbered ones, the one without number is tried first
// and the numbered ones if it is not valid. Of two cookies with the same name the
// first counts.
//
// A site on a sibling domain can plant cookies. If a request carries valid tokens
// of different users the error is [ErrInvalid], since the request does not show
// which token was planted. A cookie whose name begins with __Host- cannot be
// planted.
func (c *Codec) FromCookie(r *http.Request) (Token, error) {
	t, err := cookie.Open(r.Header, c.cookie, c.Decode, sameSubject)
	if err != nil && errors.Is(err, cookie.ErrConflict) {
		return Token{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return t, err
}

// sameSubject reports whether two tokens belong to one user. It returns false for
// tokens without a subject, which could belong to any user.
func sameSubject(a, b Token) bool {
	subject := a.raw(claimSubject)
	return subject != "" && subject == b.raw(claimSubject)
}
