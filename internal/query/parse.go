package query

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pintleauth/pintle/internal/percent"
)

const (
	// MaxLength is how many bytes of text [Parse] accepts.
	MaxLength = 256 << 10

	// MaxMembers is how many members [Parse] accepts. Empty ones, as in "&&",
	// are not counted.
	MaxMembers = 4096
)

// ErrTooMuch is matched by the only errors [Parse] returns.
var ErrTooMuch = errors.New("form is too large")

// Parse reads the members of a raw query or form body. Malformed text is never
// an error: a percent sign that starts no escape stands for itself and bytes
// that are not UTF-8 become U+FFFD, as in a browser. Only text beyond
// [MaxLength] or [MaxMembers] is rejected, with an error matching [ErrTooMuch].
//
// https://url.spec.whatwg.org/#concept-urlencoded-parser
func Parse(raw string) (Values, error) {
	if raw == "" {
		return nil, nil
	}
	if len(raw) > MaxLength {
		return nil, fmt.Errorf("parse form: %d bytes, %d are allowed: %w", len(raw), MaxLength, ErrTooMuch)
	}
	v := make(Values, 0, min(strings.Count(raw, "&")+1, 64))
	for member := range strings.SplitSeq(raw, "&") {
		if member == "" {
			continue
		}
		if len(v) == MaxMembers {
			return nil, fmt.Errorf("parse form: more than %d members: %w", MaxMembers, ErrTooMuch)
		}
		key, value, _ := strings.Cut(member, "=")
		v = append(v, Pair{unescape(key), unescape(value)})
	}
	return v, nil
}

func unescape(text string) string {
	if !strings.ContainsAny(text, "%+") {
		return valid(text)
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '+':
			c = ' '
		case c == '%' && i+2 < len(text):
			if b, ok := percent.Byte(text[i+1], text[i+2]); ok {
				c, i = b, i+2
			}
		}
		out = append(out, c)
	}
	return valid(string(out))
}

func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}
