package cookie

import (
	"net/http"
	"strings"
)

// Get returns the value of the first cookie called name, and whether the request
// has one. It is the first because a browser sends the cookie with the longest
// path first. Surrounding quotes belong to the value. Get allocates only to
// decode.
func Get(h http.Header, name string) (string, bool) {
	s := scan(h, name)
	for s.next() {
		if s.suffix == "" {
			return Decode(s.value), true
		}
	}
	return "", false
}

// A scanner walks over the cookies of a request whose names begin with a
// prefix. It reads the whole Cookie header, which the HTTP server bounds: a
// limit here would let a client push the session cookie past it, so that a
// sign-out finds nothing to end.
//
// It searches for the prefix instead of splitting the header at every
// semicolon, so that many other cookies cost little.
type scanner struct {
	prefix string
	lines  []string
	line   string // what is left of the current line, from the start of a segment

	suffix string // of the current cookie's name, after the prefix
	value  string // of the current cookie, still encoded
}

func scan(h http.Header, prefix string) scanner {
	return scanner{prefix: prefix, lines: h["Cookie"]}
}

// next moves to the next cookie with the prefix and reports whether there is
// one. Segments without an equals sign are skipped.
func (s *scanner) next() bool {
	for {
		start := -1
		if s.line != "" {
			start = strings.Index(s.line, s.prefix)
		}
		if start < 0 {
			if len(s.lines) == 0 {
				return false
			}
			s.line, s.lines = s.lines[0], s.lines[1:]
			continue
		}
		begins := beginsSegment(s.line[:start])
		segment := s.line[start+len(s.prefix):]
		if end := strings.IndexByte(segment, ';'); end >= 0 {
			segment, s.line = segment[:end], segment[end+1:]
		} else {
			s.line = ""
		}
		if !begins {
			continue // the prefix is inside another cookie's name or value
		}
		if eq := strings.IndexByte(segment, '='); eq >= 0 {
			s.suffix, s.value = trimRight(segment[:eq]), trimRight(trimLeft(segment[eq+1:]))
			return true
		}
	}
}

// beginsSegment reports whether the text after before starts a segment.
func beginsSegment(before string) bool {
	before = trimRight(before)
	return before == "" || before[len(before)-1] == ';'
}

// trimLeft removes leading spaces and tabs, but no other space of Unicode.
func trimLeft(s string) string {
	for s != "" && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	return s
}

// trimRight removes trailing spaces and tabs.
func trimRight(s string) string {
	for s != "" && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}
