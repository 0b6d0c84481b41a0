package apiclient

import (
	"net/http"
	"strings"

	"github.com/pintleauth/pintle"
)

// rejectsToken reports whether an API says that the access token is expired, revoked or
// otherwise invalid. Another token would help then; with status 403 it would not.
//
// https://www.rfc-editor.org/rfc/rfc6750#section-3.1
// https://www.rfc-editor.org/rfc/rfc9449#section-7.1
func rejectsToken(resp *http.Response, account *pintle.Account) bool {
	return findChallenge(resp, account, "invalid_token") != nil
}

// findChallenge returns the parameters of the challenge of an answer that has an error, for
// the kind of token that was sent, or nil.
func findChallenge(resp *http.Response, account *pintle.Account, code string) map[string]string {
	scheme := "Bearer"
	if isBound(account) {
		scheme = "DPoP"
	}
	if resp.StatusCode != http.StatusUnauthorized {
		return nil
	}
	for _, challenges := range resp.Header.Values("WWW-Authenticate") {
		for _, params := range challengesOf(challenges, scheme) {
			if params["error"] == code {
				return params
			}
		}
	}
	return nil
}

// isBound reports whether the access token of an account is bound to a key.
func isBound(account *pintle.Account) bool { return strings.EqualFold(account.TokenType, "DPoP") }

// challengesOf returns the parameters of each challenge of a scheme in a list. Their names are
// in lower case. Of two parameters with one name the first counts.
//
// https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1
func challengesOf(challenges, want string) (found []map[string]string) {
	wanted, rest := false, challenges
	for {
		rest = strings.TrimLeft(rest, " \t,")
		name := leadingToken(rest)
		if name == "" {
			return found // the end, or no list of challenges
		}
		after := strings.TrimLeft(rest[len(name):], " \t")
		value, isParam := strings.CutPrefix(after, "=")
		if !isParam {
			if wanted = strings.EqualFold(name, want); wanted {
				found = append(found, map[string]string{})
			}
			rest = after
			continue
		}
		text, end, ok := paramValue(strings.TrimLeft(value, " \t"))
		if !ok {
			// token68, such as Negotiate has, ends in "=".
			rest = strings.TrimLeft(value, "=")
			continue
		}
		if name = strings.ToLower(name); wanted {
			if params := found[len(found)-1]; params[name] == "" {
				params[name] = text
			}
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
