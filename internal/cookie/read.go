package cookie

import (
	"net/http"
	"strings"
)

// maxHeader bounds how much of the Cookie header is looked at. Browsers and
// proxies give up long before; what lies beyond is treated as not sent.
const maxHeader = 64 << 10

// Get returns the value of the first cookie called name, and whether there was
// one. First, because a browser sends the cookie with the longest path first;
// surrounding quotes belong to the value. It allocates only to decode.
func Get(h http.Header, name string) (string, bool) {
	s := scan(h)
	for s.next() {
		if s.name == name {
			return Decode(s.value), true
		}
	}
	return "", false
}

// A scanner walks over the name=value pairs of all Cookie header lines.
type scanner struct {
	lines []string
	line  string
	left  int // bytes that may still be read

	name, value string // the current pair, the value still encoded
}

func scan(h http.Header) scanner {
	return scanner{lines: h["Cookie"], left: maxHeader}
}

// next moves to the next pair and reports whether there is one. Segments
// without an equals sign are skipped.
func (s *scanner) next() bool {
	for {
		for s.line == "" {
			if len(s.lines) == 0 {
				return false
			}
			s.line, s.lines = s.lines[0], s.lines[1:]
		}
		segment := s.line
		if end := strings.IndexByte(s.line, ';'); end >= 0 {
			segment, s.line = s.line[:end], s.line[end+1:]
		} else {
			s.line = ""
		}
		if s.left -= len(segment) + 1; s.left < 0 {
			return false
		}
		if eq := strings.IndexByte(segment, '='); eq >= 0 {
			s.name, s.value = trim(segment[:eq]), trim(segment[eq+1:])
			return true
		}
	}
}

// trim removes spaces and tabs, and nothing else that Unicode calls space.
func trim(s string) string {
	for s != "" && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for s != "" && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}
