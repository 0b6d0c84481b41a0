package cookie

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Attributes are the parts of a Set-Cookie line besides name and value. The zero
// value is a cookie for this host and path that lives as long as the browser.
type Attributes struct {
	// MaxAge is the lifetime in seconds. It is written when HasMaxAge is set,
	// because 0 means "delete" and not "absent".
	MaxAge    int
	HasMaxAge bool

	Domain string
	Path   string

	// Expires is absent when zero. Fractions of a second are dropped.
	Expires time.Time

	HTTPOnly    bool
	Secure      bool
	Partitioned bool

	// Priority is Low, Medium or High in any case, or empty.
	Priority string
	// SameSite is Strict, Lax or None in any case, or empty.
	SameSite string
}

// Line returns the value of a Set-Cookie header. The value is encoded with
// [Encode]; the attributes come in the order and spelling Auth.js uses. Name
// and attributes must have passed [Check]: nothing is validated here.
func Line(name, value string, a Attributes) string {
	// Everything but a long token fits into an array on the stack.
	var short [1024]byte
	line := short[:0]
	if n := len(name) + encodedLen(value) + len(a.Domain) + len(a.Path) + 192; n > len(short) {
		line = make([]byte, 0, n)
	}
	line = append(line, name...)
	line = append(line, '=')
	line = appendEncoded(line, value)
	if a.HasMaxAge {
		line = append(line, "; Max-Age="...)
		line = strconv.AppendInt(line, int64(a.MaxAge), 10)
	}
	if a.Domain != "" {
		line = append(line, "; Domain="...)
		line = append(line, a.Domain...)
	}
	if a.Path != "" {
		line = append(line, "; Path="...)
		line = append(line, a.Path...)
	}
	if !a.Expires.IsZero() {
		line = append(line, "; Expires="...)
		line = a.Expires.UTC().AppendFormat(line, http.TimeFormat)
	}
	if a.HTTPOnly {
		line = append(line, "; HttpOnly"...)
	}
	if a.Secure {
		line = append(line, "; Secure"...)
	}
	if a.Partitioned {
		line = append(line, "; Partitioned"...)
	}
	if p, ok := spelling(a.Priority, "Low", "Medium", "High"); ok {
		line = append(line, "; Priority="...)
		line = append(line, p...)
	}
	if s, ok := spelling(a.SameSite, "Strict", "Lax", "None"); ok {
		line = append(line, "; SameSite="...)
		line = append(line, s...)
	}
	return string(line)
}

// ClearLine returns the line that makes a browser delete a cookie written with
// the same name and attributes: a browser only matches a cookie whose domain
// and path are repeated, and only accepts a prefixed name with the attributes
// the prefix requires.
func ClearLine(name string, a Attributes) string {
	a.MaxAge, a.HasMaxAge = 0, true
	a.Expires = time.Time{}
	return Line(name, "", a)
}

// spelling returns the member of known that equals text without regard to case.
func spelling(text string, known ...string) (string, bool) {
	for _, k := range known {
		if strings.EqualFold(text, k) {
			return k, true
		}
	}
	return "", false
}
