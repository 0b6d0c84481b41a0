package page

import (
	_ "embed" // for the marks
	"strings"
	"sync"
	"unicode"
)

// mark is the sign of a provider on a square of 24 units, in one colour.
type mark struct {
	hex, path string
}

// marksText has a line "id #rrggbb path" for each provider whose mark we may
// ship. Where they come from is in LICENSES.md.
//
//go:embed marks.txt
var marksText string

// marks reads the list on first use: a program that shows its own pages does
// not pay for it.
var marks = sync.OnceValue(func() map[string]mark {
	all := make(map[string]mark)
	for line := range strings.Lines(marksText) {
		id, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		hex, path, _ := strings.Cut(rest, " ")
		all[id] = mark{hex: hex, path: path}
	}
	return all
})

// monogram returns the initials of the first two words of name, or what comes
// nearest, for a provider without a mark.
func monogram(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	var letters []rune
	for _, word := range words[:min(len(words), 2)] {
		first := []rune(word)[0]
		letters = append(letters, unicode.ToUpper(first))
	}
	return string(letters)
}
