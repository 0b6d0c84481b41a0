package token

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/pintleauth/pintle/internal/bearer"
	"github.com/pintleauth/pintle/internal/cookie"
)

// FromRequest reads the token of a request: from the codec's cookie, or without
// such a cookie from an Authorization header of the form "Bearer token". An
// invalid cookie hides the header. Errors match those of [Codec.Decode]. One that matches
// [ErrNoToken] names the cookie that is missing, and the request's cookie under the name
// with the other prefix, as of a site that is open by http; it has no value of either.
//
// A browser also sends the cookie with requests that another site causes. If the
// token comes from a cookie, protect requests that change state against that, for
// example with [http.CrossOriginProtection].
func (c *Codec) FromRequest(r *http.Request) (Token, error) {
	t, err := c.FromCookie(r)
	if errors.Is(err, ErrNoToken) {
		if t, err = c.Decode(bearer.Token(r.Header)); errors.Is(err, ErrNoToken) {
			return Token{}, c.without(r, c.noTokenInRequest)
		}
	}
	return t, err
}

// FromCookie reads the token of a request from the codec's cookie only. Errors
// match those of [Codec.Decode], as for [Codec.FromRequest].
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
	if errors.Is(err, ErrNoToken) {
		return Token{}, c.without(r, c.noTokenInCookie)
	}
	return t, err
}

// prefixes are those of cookies on a site of https; see the documentation of [New].
var prefixes = [...]string{"__Secure-", "__Host-"}

// without returns the error for a request without a token. If the request has the cookie
// under the name with another prefix, the error says so.
func (c *Codec) without(r *http.Request, absent error) error {
	for _, other := range c.siblings {
		if len(cookie.Received(r.Header, other)) > 0 {
			return fmt.Errorf("%w; it has the cookie %q: over https the name begins with __Secure- or __Host-, and over "+
				"http with neither, so make the codec for the name that the site has", absent, other)
		}
	}
	return absent
}

// siblings returns the names that a cookie has on a site with another scheme or setting.
func siblings(name string) []string {
	bare := name
	for _, prefix := range prefixes {
		bare = strings.TrimPrefix(bare, prefix)
	}
	var others []string
	for _, other := range []string{bare, prefixes[0] + bare, prefixes[1] + bare} {
		if other != name && bare != "" {
			others = append(others, other)
		}
	}
	return others
}

// sameSubject reports whether two tokens belong to one user. It returns false for
// tokens without a subject, which could belong to any user.
func sameSubject(a, b Token) bool {
	subject := a.raw(claimSubject)
	return subject != "" && subject == b.raw(claimSubject)
}
