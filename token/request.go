package token

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// maxChunks is how many parts of a token are read from cookies. Auth.js cuts
// tokens into parts of 3936 characters, so this is 125 KB; browsers and servers
// stop at much less.
const maxChunks = 32

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
	if !errors.Is(err, ErrNoToken) {
		return t, err
	}
	return c.fromBearer(r)
}

// FromCookie reads the token of a request from the codec's cookie only. Errors
// are those of [Codec.Decode].
//
// A long token comes in several cookies, name.0, name.1 and so on. Other
// cookies that begin with the name are none of ours; of two with the same name
// the first counts. Where both a cookie without number and numbered ones came,
// one of them is a leftover: the numbered ones are tried first.
func (c *Codec) FromCookie(r *http.Request) (Token, error) {
	var found cookies
	for _, line := range r.Header["Cookie"] {
		found.read(line, c.cookie)
	}
	joined := found.joined()
	if joined == "" {
		return c.Decode(found.whole)
	}
	t, err := c.Decode(joined)
	if err != nil && found.whole != "" {
		return c.Decode(found.whole)
	}
	return t, err
}

func (c *Codec) fromBearer(r *http.Request) (Token, error) {
	scheme, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if scheme != "Bearer" {
		return Token{}, ErrNoToken
	}
	word, _, _ := strings.Cut(rest, " ")
	sealed, err := url.PathUnescape(word)
	if err != nil {
		return Token{}, ErrInvalid
	}
	return c.Decode(sealed)
}

// cookies are the values of one token's cookies in one request.
type cookies struct {
	whole  string // of the cookie without number
	chunks [maxChunks]string

	// Which were there: the first of a name counts even if it is empty.
	hasWhole bool
	has      [maxChunks]bool
}

// read takes what belongs to the cookie called name from one Cookie header. It
// is not [http.Request.CookiesNamed] because that reads the whole header again
// for each name, drops quotes, and skips values that Auth.js accepts.
func (c *cookies) read(line, name string) {
	for len(line) > 0 {
		var pair string
		pair, line, _ = strings.Cut(line, ";")
		rest, ok := strings.CutPrefix(strings.TrimLeft(pair, " \t"), name)
		if !ok {
			continue
		}
		suffix, value, ok := strings.Cut(rest, "=")
		if !ok {
			continue
		}
		suffix = strings.TrimRight(suffix, " \t")
		if suffix == "" {
			setFirst(&c.whole, &c.hasWhole, value)
		} else if i, ok := chunkNumber(suffix); ok {
			setFirst(&c.chunks[i], &c.has[i], value)
		}
	}
}

// setFirst keeps the first value that it is given.
func setFirst(dst *string, has *bool, value string) {
	if *has {
		return
	}
	*has = true
	*dst = unescape(strings.Trim(value, " \t"))
}

// unescape undoes percent-encoding where there is any. Text that is encoded
// wrongly stays as it is.
func unescape(value string) string {
	if strings.IndexByte(value, '%') < 0 {
		return value
	}
	if plain, err := url.PathUnescape(value); err == nil {
		return plain
	}
	return value
}

// chunkNumber reads ".0" to ".31". Anything else, ".01" and ".0.1" among it, is
// somebody else's cookie, which must not get into the token (W-10).
func chunkNumber(suffix string) (int, bool) {
	digits, ok := strings.CutPrefix(suffix, ".")
	if !ok || len(digits) > 2 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 8)
	if err != nil || n >= maxChunks || len(digits) == 2 && digits[0] == '0' {
		return 0, false
	}
	return int(n), true
}

// joined returns the numbered values from 0 to the last before a gap.
func (c *cookies) joined() string {
	n := 0
	for n < maxChunks && c.chunks[n] != "" {
		n++
	}
	return strings.Join(c.chunks[:n], "")
}
