package handshake

import (
	"net/url"
	"slices"
	"strings"

	"github.com/pintleauth/pintle/internal/query"
)

// set gives a parameter one value: in its place if it exists, otherwise at the
// end, as the searchParams of a browser's URL object do.
func set(v *query.Values, name, value string) {
	i := slices.IndexFunc(*v, named(name))
	if i < 0 {
		v.Add(name, value)
		return
	}
	(*v)[i].Value = value
	rest := slices.DeleteFunc((*v)[i+1:], named(name))
	*v = (*v)[:i+1+len(rest)]
}

// setDefault gives a parameter a value unless it has one.
func setDefault(v *query.Values, name, value string) {
	if _, ok := v.First(name); !ok {
		v.Add(name, value)
	}
}

// apply sets each of params and removes those without a value, because an empty
// option must not reach the provider (quirk Q10).
func apply(v *query.Values, params query.Values) {
	for _, p := range params {
		if p.Value == "" {
			*v = slices.DeleteFunc(*v, named(p.Key))
			continue
		}
		set(v, p.Key, p.Value)
	}
}

func named(name string) func(query.Pair) bool {
	return func(p query.Pair) bool { return p.Key == name }
}

// encodeSorted encodes as a browser would, sorted by name.
func encodeSorted(values url.Values) string {
	var v query.Values
	for name, all := range values {
		for _, value := range all {
			v.Add(name, value)
		}
	}
	slices.SortStableFunc(v, func(a, b query.Pair) int { return strings.Compare(a.Key, b.Key) })
	return v.Encode()
}

// componentEscape is encodeURIComponent with "+" for a space, the encoding of
// client credentials in a Basic header.
//
// https://www.rfc-editor.org/rfc/rfc6749#appendix-B
func componentEscape(s string) string {
	return strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(url.QueryEscape(s))
}
