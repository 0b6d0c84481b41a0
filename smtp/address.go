package smtp

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxAddress is the longest address that mail can be delivered to.
//
// https://www.rfc-editor.org/rfc/rfc5321#section-4.5.3.1
const maxAddress = 64 + 1 + 255

// checkAddress accepts only addresses that all parties read in the same way: the
// code that looked up the user, the mail library and the server. They differ on
// quotes, comments, groups and lists, and a link that reaches another mailbox
// signs its reader in.
func checkAddress(address string) error {
	local, domain, ok := strings.Cut(address, "@")
	switch {
	case !ok || local == "" || domain == "" || strings.Contains(domain, "@"):
		return errors.New("is not one address with one @")
	case len(address) > maxAddress:
		return errors.New("is longer than any address")
	case !utf8.ValidString(address):
		return errors.New("is not UTF-8")
	}
	for _, c := range address {
		if !unicode.IsPrint(c) || strings.ContainsRune(" \"(),:;<>[\\]", c) {
			return errors.New("has a character in it that addresses have only in quotes")
		}
	}
	return nil
}
