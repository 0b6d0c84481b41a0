package token

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth is how deep claims may be nested. Without a bound, a token could
// make the recursion use all memory.
const maxDepth = 1000

// A span is the position of a value in a text. The zero span means absent: no
// value of a member is at the start.
type span struct{ start, end uint32 }

func (s span) in(text string) string { return text[s.start:s.end] }

// A scanner checks JSON and finds the positions of values in it. It accepts the
// same as [json.Valid], except for invalid UTF-8 and nesting beyond maxDepth.
//
// It exists because it runs on every request: finding eight claims takes a tenth of
// the time of decoding them.
//
// https://www.rfc-editor.org/rfc/rfc8259
type scanner struct {
	text  string
	pos   int
	depth int
}

// space skips white space.
func (s *scanner) space() {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// skip moves past c if it is the next byte.
func (s *scanner) skip(c byte) bool {
	if s.pos < len(s.text) && s.text[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

// value checks the next value and moves past it.
func (s *scanner) value() bool {
	if s.pos >= len(s.text) {
		return false
	}
	switch s.text[s.pos] {
	case '"':
		_, ok := s.str()
		return ok
	case '{':
		return s.object(nil)
	case '[':
		return s.array()
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	}
	return s.number()
}

func (s *scanner) word(word string) bool {
	if !strings.HasPrefix(s.text[s.pos:], word) {
		return false
	}
	s.pos += len(word)
	return true
}

// object checks an object and calls member, unless it is nil, with the name and
// the value's place of each of its members, in order.
func (s *scanner) object(member func(name string, value span)) bool {
	if s.depth++; s.depth > maxDepth || !s.skip('{') {
		return false
	}
	s.space()
	if s.skip('}') {
		s.depth--
		return true
	}
	for {
		start := s.pos
		escaped, ok := s.str()
		if !ok {
			return false
		}
		end := s.pos
		s.space()
		if !s.skip(':') {
			return false
		}
		s.space()
		at := s.pos
		if !s.value() {
			return false
		}
		if member != nil {
			name := s.text[start+1 : end-1]
			if escaped {
				name = unquote(s.text[start:end])
			}
			member(name, span{uint32(at), uint32(s.pos)}) //nolint:gosec // texts are at most seal.MaxToken long
		}
		s.space()
		if s.skip('}') {
			s.depth--
			return true
		}
		if !s.skip(',') {
			return false
		}
		s.space()
	}
}

func (s *scanner) array() bool {
	if s.depth++; s.depth > maxDepth || !s.skip('[') {
		return false
	}
	s.space()
	if s.skip(']') {
		s.depth--
		return true
	}
	for s.value() {
		s.space()
		if s.skip(']') {
			s.depth--
			return true
		}
		if !s.skip(',') {
			return false
		}
		s.space()
	}
	return false
}

// number checks a number: -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
func (s *scanner) number() bool {
	s.skip('-')
	if !s.skip('0') && !s.digits() {
		return false
	}
	if s.skip('.') && !s.digits() {
		return false
	}
	if s.skip('e') || s.skip('E') {
		if !s.skip('+') {
			s.skip('-')
		}
		return s.digits()
	}
	return true
}

// digits moves past one digit or more.
func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.text) && '0' <= s.text[s.pos] && s.text[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}

// str checks a string and reports whether it has an escape in it.
func (s *scanner) str() (escaped, ok bool) {
	if !s.skip('"') {
		return false, false
	}
	text, i := s.text, s.pos
	for {
		i = skipPlain(text, i)
		if i >= len(text) {
			return false, false
		}
		switch c := text[i]; {
		case c == '"':
			s.pos = i + 1
			return escaped, true
		case c == '\\':
			n := escape(text[i:])
			if n == 0 {
				return false, false
			}
			i += n
			escaped = true
		case c < ' ':
			return false, false
		default:
			r, n := utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && n == 1 {
				return false, false
			}
			i += n
		}
	}
}

// escape returns the length of the escape sequence at the start of text, or 0 if
// it is malformed.
func escape(text string) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(text) < 6 {
			return 0
		}
		for _, c := range []byte(text[2:6]) {
			if strings.IndexByte("0123456789abcdefABCDEF", c) < 0 {
				return 0
			}
		}
		return 6
	}
	return 0
}

// skipPlain returns the position of the first byte at or after i that is a quote,
// a backslash, a control character or not ASCII. It reads eight bytes at a time: a
// loop over single bytes takes [Codec.FromRequest] about 1.1 times as long with a
// token of 2 KB and 1.2 times with one of 8 KB, and as long with one of 0.5 KB.
//
// https://graphics.stanford.edu/~seander/bithacks.html#HasLessInWord
func skipPlain(text string, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(text); i += 8 {
		t := text[i : i+8]
		w := uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 |
			uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		if (w|(w-ones*' ')|(quote-ones)|(slash-ones))&highs != 0 {
			break
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c == '"' || c == '\\' || c < ' ' || c >= utf8.RuneSelf {
			break
		}
	}
	return i
}

// unquote returns the text of a checked JSON string. A string without an escape is
// a part of the input, and is not copied.
func unquote(quoted string) string {
	if strings.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var s string
	// Half of a surrogate pair becomes U+FFFD, which no error reports.
	_ = json.Unmarshal([]byte(quoted), &s)
	return s
}

// isNumber reports whether a checked value is a number.
func isNumber(value string) bool {
	return value[0] == '-' || '0' <= value[0] && value[0] <= '9'
}

// number returns the value of a checked number as JavaScript does: too large
// numbers are infinite.
func number(text string) float64 {
	const digits = 18 // fit an int64, which is then rounded like a longer number
	if len(text) <= digits {
		n := int64(0)
		for i := 0; ; i++ {
			if i == len(text) {
				return float64(n)
			}
			d := text[i] - '0'
			if d > 9 {
				break
			}
			n = n*10 + int64(d)
		}
	}
	f, _ := strconv.ParseFloat(text, 64)
	return f
}
