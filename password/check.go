package password

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// MinLength is the least number of characters that [Check] accepts.
//
// https://pages.nist.gov/800-63-4/sp800-63b.html#passwordver
const MinLength = 8

var (
	// ErrTooShort is returned by [Check] for a password of fewer than
	// [MinLength] characters.
	ErrTooShort = fmt.Errorf("password: shorter than %d characters", MinLength)

	// ErrGuessable is returned by [Check] for a password that attackers try early.
	ErrGuessable = errors.New("password: one of those that are guessed first")
)

// Check returns an error if a user should not choose a password. Call it where
// users set a password, not where they sign in.
//
// It rejects a password that is too short or too long, one of the ten thousand most
// common ones, and one that has less than [MinLength] characters besides a word of
// related: words that an attacker may know about the user or the site, such as
// the user's name and address and the name of the product. Case does not matter,
// and words of fewer than four characters do not count.
//
// There is no rule for capitals, digits or signs: such rules make users choose
// worse passwords. Advise users to take 15 characters or more.
func Check(chosen string, related ...string) error {
	switch {
	case len(chosen) > MaxLength:
		return ErrTooLong
	case utf8.RuneCountInString(chosen) < MinLength:
		return ErrTooShort
	}
	lower := strings.ToLower(chosen)
	if _, known := common()[lower]; known {
		return ErrGuessable
	}
	for _, text := range related {
		for _, word := range strings.FieldsFunc(strings.ToLower(text), separates) {
			if utf8.RuneCountInString(word) < 4 {
				continue
			}
			if rest := strings.ReplaceAll(lower, word, ""); rest != lower && utf8.RuneCountInString(rest) < MinLength {
				return ErrGuessable
			}
		}
	}
	return nil
}

// separates reports whether a character is between the words of a name, an
// address or a host.
func separates(r rune) bool { return strings.ContainsRune(" \t.,:@+-_/", r) }

//go:embed common.txt
var commonText string

// common are the ten thousand most common passwords that are long enough, in
// lower case.
var common = sync.OnceValue(func() map[string]struct{} {
	all := make(map[string]struct{}, 10_000)
	for line := range strings.Lines(commonText) {
		all[strings.TrimSuffix(line, "\n")] = struct{}{}
	}
	return all
})
