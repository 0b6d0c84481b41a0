package query

import (
	"slices"
	"strings"
)

// Values are the members of a query or form, in order. A key may occur more
// than once. The zero value is empty and ready to use.
type Values []Pair

// A Pair is one member, decoded.
type Pair struct{ Key, Value string }

// Add appends a member.
func (v *Values) Add(key, value string) { *v = append(*v, Pair{key, value}) }

// First returns the value of the first member called key, and whether there is
// one.
func (v Values) First(key string) (string, bool) {
	for i := range v {
		if v[i].Key == key {
			return v[i].Value, true
		}
	}
	return "", false
}

// Last returns the value of the last member called key, and whether there is
// one. It is the value that [Values.Map] has.
func (v Values) Last(key string) (string, bool) {
	for _, p := range slices.Backward(v) {
		if p.Key == key {
			return p.Value, true
		}
	}
	return "", false
}

// Map returns the members as a flat map in which the last value of a key wins.
func (v Values) Map() map[string]string {
	m := make(map[string]string, len(v))
	for _, p := range v {
		m[p.Key] = p.Value
	}
	return m
}

// Encode returns the members as text, without a leading question mark.
func (v Values) Encode() string {
	n := 0
	for _, p := range v {
		n += encodedLen(p.Key) + encodedLen(p.Value) + 2
	}
	var b strings.Builder
	b.Grow(n)
	for i, p := range v {
		if i > 0 {
			b.WriteByte('&')
		}
		writeEncoded(&b, p.Key)
		b.WriteByte('=')
		writeEncoded(&b, p.Value)
	}
	return b.String()
}
