package xatatest

import (
	"encoding/json"
	"net/mail"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

var (
	ids       = regexp.MustCompile(`^[a-zA-Z0-9_~:-]{1,255}$`)
	addresses = regexp.MustCompile(`^[^\s@<>"]+@[^\s@<>"]+$`)
)

const (
	maxString = 2048
	maxText   = 204800
)

// value checks a value for a column, and returns it as it is stored. Null is
// stored as nil.
func (s *Server) value(c column, v any) (any, error) {
	if v == nil {
		return nil, nil // null is a value
	}
	wrong := invalid("invalid record: column [%s]: expected %s", c.Name, c.Type)
	switch c.Type {
	case "bool":
		if flag, ok := v.(bool); ok {
			return flag, nil
		}
		return nil, wrong
	case "int":
		number, ok := v.(json.Number)
		if !ok {
			return nil, wrong
		}
		n, err := number.Int64()
		if err != nil {
			return nil, wrong
		}
		return n, nil
	}
	text, ok := v.(string)
	if !ok {
		return nil, wrong
	}
	if !keepable(text) {
		return nil, invalid("invalid record: column [%s]: the text cannot be kept", c.Name)
	}
	switch c.Type {
	case "text":
		if len(text) > maxText {
			return nil, invalid("invalid record: column [%s]: longer than %d bytes", c.Name, maxText)
		}
	case "string", "email":
		if utf8.RuneCountInString(text) > maxString {
			return nil, invalid("invalid record: column [%s]: longer than %d characters", c.Name, maxString)
		}
		if a, err := mail.ParseAddress(text); c.Type == "email" && (err != nil || a.Address != text || !addresses.MatchString(text)) {
			return nil, wrong
		}
	case "datetime":
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return nil, wrong
		}
		return at.UTC().Truncate(time.Microsecond), nil
	case "link":
		if s.tables[c.Link.Table].rows[text] == nil {
			return nil, invalid("invalid record: column [%s]: there is no record [%s] in [%s]", c.Name, text, c.Link.Table)
		}
	}
	return text, nil
}

// keepable reports whether PostgreSQL stores a text. U+FFFD, which encoders write
// for bytes that are not UTF-8, is rejected, too.
func keepable(text string) bool { return !strings.ContainsAny(text, "\x00\uFFFD") }

// shown returns a value as responses have it.
func shown(c column, v any) any {
	switch v := v.(type) {
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case string:
		if c.Type == "link" {
			return map[string]any{"id": v}
		}
	}
	return v
}
