package token

import (
	"strconv"
	"time"

	"github.com/pintleauth/pintle/internal/uuid"
)

// appendStamped appends the object in text to dst with its iat, exp and jti
// replaced in place, or added at the end. It reports whether text was an object. It
// works on the text, so that a renewal keeps every other byte.
//
// Times are 64 bits wide (W-11).
func appendStamped(dst []byte, text string, now time.Time, maxAge time.Duration) ([]byte, bool) {
	stamp := [...]struct {
		name   string
		append func([]byte) []byte
		done   bool
	}{
		{name: "iat", append: func(b []byte) []byte { return strconv.AppendInt(b, now.Unix(), 10) }},
		{name: "exp", append: func(b []byte) []byte {
			return strconv.AppendInt(b, now.Unix()+int64(maxAge/time.Second), 10)
		}},
		{name: "jti", append: appendID},
	}

	s := scanner{text: text}
	s.space()
	members, copied := 0, s.pos
	ok := s.object(func(name string, value span) {
		members++
		for i := range stamp {
			if stamp[i].name == name {
				dst = append(dst, text[copied:value.start]...)
				dst = stamp[i].append(dst)
				copied = int(value.end)
				stamp[i].done = true
			}
		}
	})
	end := s.pos - len("}")
	s.space()
	if !ok || s.pos != len(text) {
		return dst, false
	}

	dst = append(dst, text[copied:end]...)
	for _, claim := range stamp {
		if claim.done {
			continue
		}
		if members > 0 {
			dst = append(dst, ',')
		}
		members++
		dst = append(dst, '"')
		dst = append(dst, claim.name...)
		dst = append(dst, '"', ':')
		dst = claim.append(dst)
	}
	return append(dst, '}'), true
}

// appendID appends a random UUID as a JSON string.
func appendID(dst []byte) []byte {
	return append(uuid.Append(append(dst, '"')), '"')
}
