package query

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
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
		switch c := text[i]; {
		case c == '+':
			out = append(out, ' ')
		case c == '%' && i+2 < len(text) && unhex(text[i+1]) < 16 && unhex(text[i+2]) < 16:
			out = append(out, unhex(text[i+1])<<4|unhex(text[i+2]))
			i += 2
		default:
			out = append(out, c)
		}
	}
	return valid(string(out))
}

func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}

// unhex returns the value of a hexadecimal digit, or 255.
func unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}
