package apiclient

import (
	"net/http"
	"slices"
	"strings"
)

// rejectsToken reports whether an API says that the access token is expired, revoked or
// otherwise invalid. Another token would help then; with status 403 it would not.
//
// https://www.rfc-editor.org/rfc/rfc6750#section-3.1
func rejectsToken(resp *http.Response) bool {
	return resp.StatusCode == http.StatusUnauthorized && slices.ContainsFunc(resp.Header.Values("WWW-Authenticate"), isInvalidToken)
}

// isInvalidToken reports whether a list of challenges has one of Bearer with the error
// invalid_token.
//
// https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1
func isInvalidToken(challenges string) bool {
	scheme, rest := "", challenges
	for {
		rest = strings.TrimLeft(rest, " \t,")
		name := leadingToken(rest)
		if name == "" {
			return false // the end, or no list of challenges
		}
		after := strings.TrimLeft(rest[len(name):], " \t")
		value, isParam := strings.CutPrefix(after, "=")
		if !isParam {
			scheme, rest = name, after
			continue
		}
		text, end, ok := paramValue(strings.TrimLeft(value, " \t"))
		if !ok {
			// token68, such as Negotiate has, ends in "=".
			rest = strings.TrimLeft(value, "=")
			continue
		}
		if strings.EqualFold(scheme, "Bearer") && strings.EqualFold(name, "error") && text == "invalid_token" {
			return true
		}
		rest = end
	}
}

// paramValue reads the value of a parameter, a token or a quoted text, and returns what
// follows it.
func paramValue(s string) (value, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		value = leadingToken(s)
		return value, s[len(value):], value != ""
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:], true
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return "", "", true // it has no end
}

// leadingToken returns the token at the beginning of s. The characters "/" are those of a
// token68, which is passed over like one.
func leadingToken(s string) string {
	end := strings.IndexFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),:;<=>?@[\]{}`, r)
	})
	if end < 0 {
		return s
	}
	return s[:end]
}
