package handshake

import (
	"net/url"
	"slices"
	"strings"
)

// A Param is one parameter of a URL. A list of them keeps its order, which the
// wire contract fixes and [url.Values] forgets.
type Param struct{ Name, Value string }

// form is the query of a URL, as the searchParams of a browser's URL object.
type form []Param

// parseForm reads a query as a browser does: it cannot fail.
//
// https://url.spec.whatwg.org/#concept-urlencoded-parser
func parseForm(query string) form {
	var f form
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		f = append(f, Param{formUnescape(name), formUnescape(value)})
	}
	return f
}

func (f form) has(name string) bool {
	return slices.ContainsFunc(f, func(p Param) bool { return p.Name == name })
}

// set gives name one value: in its place when it has one, else at the end.
func (f *form) set(name, value string) {
	i := slices.IndexFunc(*f, func(p Param) bool { return p.Name == name })
	if i < 0 {
		*f = append(*f, Param{name, value})
		return
	}
	(*f)[i].Value = value
	rest := slices.DeleteFunc((*f)[i+1:], func(p Param) bool { return p.Name == name })
	*f = (*f)[:i+1+len(rest)]
}

// setDefault gives name a value unless it has one.
func (f *form) setDefault(name, value string) {
	if !f.has(name) {
		f.set(name, value)
	}
}

func (f *form) del(name string) {
	*f = slices.DeleteFunc(*f, func(p Param) bool { return p.Name == name })
}

// apply sets each of params; one without a value is removed, because an option
// nobody filled in must not reach the provider (quirk Q10).
func (f *form) apply(params []Param) {
	for _, p := range params {
		if p.Value == "" {
			f.del(p.Name)
			continue
		}
		f.set(p.Name, p.Value)
	}
}

func (f form) encode() string {
	var b strings.Builder
	for i, p := range f {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(formEscape(p.Name))
		b.WriteByte('=')
		b.WriteString(formEscape(p.Value))
	}
	return b.String()
}

// formEscape differs from [url.QueryEscape] in "*", kept, and "~", escaped.
//
// https://url.spec.whatwg.org/#application-x-www-form-urlencoded-percent-encode-set
func formEscape(s string) string {
	return strings.NewReplacer("%2A", "*", "~", "%7E").Replace(url.QueryEscape(s))
}

// componentEscape is encodeURIComponent with "+" for a space, the encoding of
// client credentials in a Basic header.
//
// https://www.rfc-editor.org/rfc/rfc6749#appendix-B
func componentEscape(s string) string {
	return strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(url.QueryEscape(s))
}

// formUnescape leaves a broken escape as it stands.
func formUnescape(s string) string {
	if !strings.ContainsAny(s, "%+") {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '+':
			b = append(b, ' ')
		case s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			b = append(b, unhex(s[i+1])<<4|unhex(s[i+2]))
			i += 2
		default:
			b = append(b, s[i])
		}
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&^0x20 - 'A' + 10
}

// last returns the value a repeated parameter counts with: the last, as in the
// wire contract.
func last(params url.Values, name string) (string, bool) {
	v, ok := params[name]
	if !ok || len(v) == 0 {
		return "", false
	}
	return v[len(v)-1], true
}
