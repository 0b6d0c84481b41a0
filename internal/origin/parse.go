package origin

import (
	"errors"
	"strings"
)

// parsedURL is an absolute URL as far as the rules of this package look at it.
type parsedURL struct {
	scheme   string // lower case
	origin   Origin // empty when the host is one that normalHost refuses
	userinfo bool
	rest     string // path, query and fragment of a web URL, as written
}

func (u parsedURL) web() bool { return u.scheme == "http" || u.scheme == "https" }

var (
	errRelative = errors.New("not an absolute URL")
	errNoHost   = errors.New("URL without a valid host")
)

// parseURL reads an absolute URL the way browsers do: it drops tabs and line
// breaks, trims control characters and spaces, takes a backslash for a slash,
// and after http: or https: any number of slashes, also none, for two. The
// parts of URLs with other schemes are not looked at.
//
// https://url.spec.whatwg.org/#concept-basic-url-parser
func parseURL(raw string) (parsedURL, error) {
	text := strings.TrimFunc(raw, func(r rune) bool { return r <= ' ' })
	text = dropBreaks(text)
	scheme, rest, ok := strings.Cut(text, ":")
	if !ok || !isScheme(scheme) {
		return parsedURL{}, errRelative
	}
	u := parsedURL{scheme: strings.ToLower(scheme)}
	if !u.web() {
		return u, nil
	}
	rest = strings.TrimLeft(rest, `/\`)
	authority := rest
	if end := strings.IndexAny(rest, `/\?#`); end >= 0 {
		authority, u.rest = rest[:end], rest[end:]
	}
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		u.userinfo, authority = true, authority[at+1:]
	}
	host, err := normalHost(authority, u.scheme == "https")
	switch {
	case err == nil:
		u.origin = Origin(u.scheme + "://" + host)
	case errors.Is(err, errPort) || !exotic(authority):
		return parsedURL{}, errNoHost
	}
	return u, nil
}

// exotic reports whether a browser may understand a host that normalHost
// refuses. What it does with it does not matter here: it is another origin.
func exotic(authority string) bool {
	if authority == "" || authority[0] == ':' {
		return false
	}
	return !strings.ContainsFunc(authority, func(r rune) bool {
		return r <= ' ' || r == 0x7f || strings.ContainsRune(`#/<>?@[\]^|`, r)
	})
}

func isScheme(s string) bool {
	for i := range len(s) {
		switch c := s[i] | 0x20; {
		case 'a' <= c && c <= 'z':
		case i > 0 && ('0' <= s[i] && s[i] <= '9' || s[i] == '+' || s[i] == '-' || s[i] == '.'):
		default:
			return false
		}
	}
	return s != ""
}

// dropBreaks removes the characters that browsers remove anywhere in a URL.
func dropBreaks(s string) string {
	if !strings.ContainsAny(s, "\t\r\n") {
		return s
	}
	return strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(s)
}
