// Package bearer reads the session token that a native application sends in
// the Authorization header.
package bearer

import (
	"net/http"
	"strings"

	"github.com/pintleauth/pintle/internal/cookie"
)

// Token returns the word after "Bearer " in the first Authorization header,
// percent-decoded as Auth.js does, or "" if the request has no such header. The
// scheme is compared with regard to case, also as Auth.js does.
//
// https://www.rfc-editor.org/rfc/rfc6750#section-2.1
func Token(h http.Header) string {
	scheme, rest, _ := strings.Cut(h.Get("Authorization"), " ")
	if scheme != "Bearer" {
		return ""
	}
	word, _, _ := strings.Cut(rest, " ")
	return cookie.Decode(word)
}
