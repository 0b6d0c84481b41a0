package query

import "strings"

const upperHex = "0123456789ABCDEF"

// Append adds members to the query of rawURL, before its fragment, and leaves
// the rest of the text alone. Keys and values alternate; a last key without a
// value gets the empty one.
func Append(rawURL, key, value string, more ...string) string {
	return AppendValues(rawURL, pairs(key, value, more))
}

// AppendValues is [Append] for [Values].
func AppendValues(rawURL string, v Values) string {
	if len(v) == 0 {
		return rawURL
	}
	fragment := ""
	if i := strings.IndexByte(rawURL, '#'); i >= 0 {
		rawURL, fragment = rawURL[:i], rawURL[i:]
	}
	separator := "&"
	switch {
	case !strings.Contains(rawURL, "?"):
		separator = "?"
	case strings.HasSuffix(rawURL, "?"), strings.HasSuffix(rawURL, "&"):
		separator = ""
	}
	return rawURL + separator + v.Encode() + fragment
}

func pairs(key, value string, more []string) Values {
	v := make(Values, 1, 1+(len(more)+1)/2)
	v[0] = Pair{key, value}
	for len(more) > 1 {
		v.Add(more[0], more[1])
		more = more[2:]
	}
	if len(more) == 1 {
		v.Add(more[0], "")
	}
	return v
}

func encodedLen(text string) int {
	n := len(text)
	for i := range len(text) {
		if c := text[i]; c != ' ' && !unreserved(c) {
			n += 2
		}
	}
	return n
}

// writeEncoded encodes one key or value: A-Z a-z 0-9 * - . _ stay, a space
// becomes "+", everything else %XX over its UTF-8 bytes.
//
// https://url.spec.whatwg.org/#application-x-www-form-urlencoded-percent-encode-set
func writeEncoded(b *strings.Builder, text string) {
	for i := range len(text) {
		switch c := text[i]; {
		case unreserved(c):
			b.WriteByte(c)
		case c == ' ':
			b.WriteByte('+')
		default:
			b.WriteByte('%')
			b.WriteByte(upperHex[c>>4])
			b.WriteByte(upperHex[c&15])
		}
	}
}

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '*' || c == '-' || c == '.' || c == '_'
}
