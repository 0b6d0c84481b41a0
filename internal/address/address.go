// Package address brings e-mail addresses into one form, which the code that finds
// the user of an address and the servers that deliver mail to it read alike.
package address

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxLength is four times the longest address that mail can be delivered to,
// since bringing an address into its normal form can make it shorter.
//
// https://www.rfc-editor.org/rfc/rfc5321#section-4.5.3.1
const maxLength = 4 * (64 + 1 + 255)

// specials are the characters that an address has only in quotes. Quoted
// local parts are refused: libraries disagree on what "a@b"@c addresses.
//
// https://www.rfc-editor.org/rfc/rfc5322#section-3.2.3
const specials = " \"(),:;<>[\\]"

// LowerASCII brings the letters A to Z of an address that a provider reports into
// lower case and leaves the rest as it was sent. Unicode's lower case of some
// letters beyond ASCII is an ASCII letter, so that an address at another domain
// would become one at ours: the dotted capital I (U+0130) becomes i, the Kelvin
// sign (U+212A) becomes k.
func LowerASCII(address string) string {
	lower := []byte(address)
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c - 'A' + 'a'
		}
	}
	return string(lower)
}

// Normalize turns what a person typed into one address, or fails. What it
// returns is a normal form: the same mailbox typed in other ways, in capitals or
// with full-width letters, is the same user, and an address in normal form stays
// as it is.
//
// The form comes first and the rules after it: a full-width @ becomes a real one
// before the parts are counted.
func Normalize(typed string) (string, error) {
	if len(typed) > maxLength {
		return "", errors.New("the address is too long")
	}
	if !utf8.ValidString(typed) {
		return "", errors.New("the address is not UTF-8")
	}
	// Lower case can come apart where upper case was composed, as J with a
	// caron does, so the form is made again.
	address := strings.TrimSpace(norm.NFKC.String(strings.ToLower(norm.NFKC.String(typed))))
	local, domain, ok := strings.Cut(address, "@")
	if !ok || local == "" || strings.Contains(domain, "@") {
		return "", errors.New("the address does not have exactly one @ with something before it")
	}
	// What follows a comma would be a second recipient.
	domain, _, _ = strings.Cut(domain, ",")
	if domain == "" {
		return "", errors.New("the address has no domain")
	}
	for _, c := range local + domain {
		if !unicode.IsPrint(c) || strings.ContainsRune(specials, c) {
			return "", errors.New("the address has a character in it that addresses have only in quotes")
		}
	}
	return local + "@" + domain, nil
}
