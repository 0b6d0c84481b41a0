package token

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/pintleauth/pintle/internal/bearer"
	"github.com/pintleauth/pintle/internal/cookie"
)

// FromRequest reads the token of a request: from the codec's cookie, or when
// there is none, from an Authorization header of the form "Bearer token". A
// cookie that is there and not valid hides the header. Errors are those of
// [Codec.Decode].
//
// A browser sends the cookie along when another site makes it send the request.
// Behind a token from a cookie, a request that changes something needs
// protection against that, such as [http.CrossOriginProtection].
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
// A long token comes in several cookies, name.0, name.1 and so on. Other
// cookies that begin with the name do not belong to it. Where both a cookie
// without number and numbered ones came, the one without number goes first and
// the numbered ones are tried if it is not valid; of two with the same name the
// first counts.
//
// A site on a sibling domain can plant cookies. When a request carries valid
// tokens of different users the error is [ErrInvalid], since the token that was
// planted cannot be told from the other. A cookie whose name begins with
// __Host- cannot be planted.
func (c *Codec) FromCookie(r *http.Request) (Token, error) {
	t, err := cookie.Open(r.Header, c.cookie, c.Decode, sameSubject)
	if err != nil && errors.Is(err, cookie.ErrConflict) {
		return Token{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return t, err
}

// sameSubject reports whether two tokens are of one user. Tokens that do not say
// whose they are could be of anyone.
func sameSubject(a, b Token) bool {
	subject := a.raw(claimSubject)
	return subject != "" && subject == b.raw(claimSubject)
}
