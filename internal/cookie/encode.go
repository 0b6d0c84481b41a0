package cookie

import (
	"strings"
	"unicode/utf8"

	"github.com/pintleauth/pintle/internal/percent"
)

const upperHex = "0123456789ABCDEF"

func encodedLen(value string) int {
	n := len(value)
	for i := range len(value) {
		if !unreserved[value[i]] {
			n += 2
		}
	}
	return n
}

// appendEncoded percent-encodes a value as a URI component: everything except
// A-Z a-z 0-9 and - _ . ! ~ * ' ( ) becomes %XX over its UTF-8 bytes. Neither
// [net/url.QueryEscape] nor [net/url.PathEscape] leaves exactly that set alone.
//
// https://tc39.es/ecma262/#sec-encodeuricomponent-uricomponent
func appendEncoded(dst []byte, value string) []byte {
	plain := 0
	for i := range len(value) {
		if c := value[i]; !unreserved[c] {
			dst = append(dst, value[plain:i]...)
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
			plain = i + 1
		}
	}
	return append(dst, value[plain:]...)
}

// unreserved has the bytes that stand for themselves.
var unreserved = func() (set [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()") {
		set[c] = true
	}
	return set
}()

// Decode undoes the encoding of values. A value that is not a well-formed
// encoding, because an escape is cut short or the escaped bytes are not UTF-8, is
// returned unchanged: cookies are client input, and an error would let one bad
// cookie break every route (SH-02).
//
// https://tc39.es/ecma262/#sec-decodeuricomponent-encodeduricomponent
func Decode(raw string) string {
	first := strings.IndexByte(raw, '%')
	if first < 0 {
		return raw
	}
	out := make([]byte, first, len(raw))
	copy(out, raw)
	for i := first; i < len(raw); {
		if raw[i] != '%' {
			out = append(out, raw[i])
			i++
			continue
		}
		run := len(out)
		for i < len(raw) && raw[i] == '%' {
			if i+2 >= len(raw) {
				return raw
			}
			b, ok := percent.Byte(raw[i+1], raw[i+2])
			if !ok {
				return raw
			}
			out = append(out, b)
			i += 3
		}
		if !utf8.Valid(out[run:]) {
			return raw
		}
	}
	return string(out)
}
