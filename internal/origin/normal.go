package origin

import (
	"strings"
	"unicode/utf8"
)

// normalRest returns path, query and fragment of a web URL as a browser writes
// them: backslashes of the path as slashes, dot segments resolved, everything
// outside printable ASCII percent-encoded. The result starts with a slash.
func normalRest(rest string) string {
	if plain(rest) {
		return rest
	}
	rest = dropBreaks(strings.TrimRightFunc(rest, func(r rune) bool { return r <= ' ' }))
	rest, fragment, hasFragment := strings.Cut(rest, "#")
	path, query, hasQuery := strings.Cut(rest, "?")

	out := make([]byte, 0, len(rest)+len(fragment)+16)
	out = appendPath(out, path)
	if hasQuery {
		out = appendEscaped(append(out, '?'), query, ` "#<>'`)
	}
	if hasFragment {
		out = appendEscaped(append(out, '#'), fragment, " \"<>`")
	}
	return string(out)
}

// plain reports whether rest is certain to be normal already, as almost all
// are.
func plain(rest string) bool {
	if rest == "" || rest[0] != '/' {
		return false
	}
	for i := range len(rest) {
		switch c := rest[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '.':
			if rest[i-1] == '/' {
				return false
			}
		case strings.IndexByte("/-_~!$&()*+,;=:@?#", c) >= 0:
		default:
			return false
		}
	}
	return true
}

// appendPath appends the segments of path, resolving dot segments, which a
// browser also recognises when their dots are percent-encoded.
//
// https://url.spec.whatwg.org/#path-state
func appendPath(out []byte, path string) []byte {
	var segments []string
	if path != "" && (path[0] == '/' || path[0] == '\\') {
		path = path[1:]
	}
	for last := false; !last; {
		segment := path
		if end := strings.IndexAny(path, `/\`); end >= 0 {
			segment, path = path[:end], path[end+1:]
		} else {
			last = true
		}
		switch dots(segment) {
		case 2:
			segments = segments[:max(0, len(segments)-1)]
		case 1:
		default:
			segments = append(segments, segment)
			continue
		}
		if last {
			segments = append(segments, "")
		}
	}
	for _, segment := range segments {
		out = appendEscaped(append(out, '/'), segment, " \"#<>?^`{}")
	}
	return out
}

// dots returns 1 or 2 for a segment made of as many dots, else 0.
func dots(segment string) int {
	if len(segment) > len("%2e%2e") {
		return 0
	}
	switch strings.ReplaceAll(strings.ToLower(segment), "%2e", ".") {
	case ".":
		return 1
	case "..":
		return 2
	}
	return 0
}

// appendEscaped percent-encodes the characters in set, control characters and
// everything beyond ASCII. Percent signs stay: they are part of the URL.
func appendEscaped(out []byte, text, set string) []byte {
	const hex = "0123456789ABCDEF"
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || strings.IndexByte(set, c) >= 0 {
			out = append(out, '%', hex[c>>4], hex[c&15])
		} else {
			out = append(out, c)
		}
	}
	return out
}
