package cookie

import (
	"errors"
	"net/http"
	"slices"
)

// ErrConflict is returned for a request that carries values of different users
// under one name.
var ErrConflict = errors.New("the request carries session cookies of different users; one of them may have been planted by another site of the domain, which the name prefix __Host- prevents")

// maxWhole is how many different cookies with one name are compared. A browser
// sends one for each combination of path and domain that matches.
const maxWhole = 4

// Open reads the credential that a request carries under name, whole or in
// parts, and returns the result of open. If the request carries no value, open
// is called with "". All readers of a session use this function, so that a
// request has the same user everywhere.
//
// The whole value is tried first, and the parts if it does not open: one of the
// two is then left over from a value of another length, or planted. Of cookies
// with the same name only the first is used.
//
// A site on a sibling domain can plant cookies, and the request does not show
// which of several values was planted. If another value opens too and same
// reports that it belongs to another user, the error is [ErrConflict]: signing
// the user out is visible, while acting in the session of an attacker is not. The
// error is the same if not all values can be compared; see [Values].
func Open[T any](h http.Header, name string, open func(value string) (T, error), same func(a, b T) bool) (T, error) {
	held := ReadChunked(h, name)
	if !held.Repeated && (held.Whole == "" || held.Parts == "") {
		return open(held.Value())
	}
	return openBest(h, name, open, same)
}

// openBest is [Open] for a request that carries several values. It is a function of its
// own to keep what it needs off the stack of every request.
func openBest[T any](h http.Header, name string, open func(value string) (T, error), same func(a, b T) bool) (T, error) {
	held := ReadChunked(h, name)
	chosen, err := open(held.Value())
	used := held.Value()
	if err != nil && held.Whole != "" && held.Parts != "" {
		if parts, failed := open(held.Parts); failed == nil {
			chosen, used, err = parts, held.Parts, nil
		}
	}
	if err != nil {
		return chosen, err
	}
	values, all := Values(h, name, maxWhole)
	conflict := !all
	for _, value := range values {
		if conflict || value == used {
			continue
		}
		other, err := open(value)
		conflict = err == nil && !same(chosen, other)
	}
	if conflict {
		var none T
		return none, ErrConflict
	}
	return chosen, nil
}

// Values returns every different value that a request carries under name: those
// of the cookies with the name itself, in their order, and the joined parts. It
// reports whether these are all. They are not all if more than most cookies with
// the name itself differ, or if two cookies of one numbered part differ, since
// parts of several values could be joined in many ways.
func Values(h http.Header, name string, most int) (values []string, all bool) {
	var c chunks
	all = true
	s := scan(h, name)
	for s.next() {
		index, ok := chunkIndex(s.suffix)
		switch bit := uint64(1) << index; {
		case !ok || index == unread:
		case index == 0:
			value := Decode(s.value)
			switch {
			case value == "" || slices.Contains(values, value):
			case len(values) == most:
				all = false
			default:
				values = append(values, value)
			}
		case c.seen&bit == 0:
			c.values[index] = s.value
			c.seen |= bit
		case c.values[index] != s.value:
			all = false
		}
	}
	if parts := join(c.values[1:]); parts != "" && !slices.Contains(values, parts) {
		values = append(values, parts)
	}
	return values, all
}

// Candidates returns every value that could have been written under name and is
// still in the request: those of the cookies with the name itself, in their order,
// and each way to join parts with consecutive numbers, as long as it may have been.
// A sign-out needs them: one part that a sibling domain plants, whatever its number,
// makes the value that [ReadChunked] returns another than the one that was written.
//
// It returns no more than most of them, and reports whether these are all.
func Candidates(h http.Header, name string, most int) (values []string, all bool) {
	var parts [MaxParts][]string
	all = true
	add := func(list *[]string, value string) {
		switch {
		case value == "" || slices.Contains(*list, value):
		case len(*list) == most:
			all = false
		default:
			*list = append(*list, value)
		}
	}
	s := scan(h, name)
	for s.next() {
		switch index, ok := chunkIndex(s.suffix); {
		case !ok || index == unread:
		case index == 0:
			add(&values, Decode(s.value))
		default:
			add(&parts[index-1], Decode(s.value))
		}
	}
	joined := []string{""}
	for _, next := range parts {
		var longer []string
		for _, value := range joined {
			for _, part := range next {
				if add(&values, value+part); !all {
					return values, false
				}
				longer = append(longer, value+part)
			}
		}
		joined = longer
	}
	return values, all
}
