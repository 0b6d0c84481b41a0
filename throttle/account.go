package throttle

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// account returns the name of an account in one spelling. Directories and
// databases compare names in many ways: without regard to case, accents, spaces,
// or characters that have no width. All such spellings count as one name here: an
// attacker must not get new guesses by another spelling. Two accounts that differ
// only in that share their limits, but not the clients that are known to them.
func account(typed string) string {
	return norm.NFC.String(strings.Map(significant, cases.Fold().String(norm.NFKD.String(typed))))
}

// significant drops the characters that comparisons may ignore.
func significant(r rune) rune {
	if unicode.IsSpace(r) || unicode.In(r, unicode.C, unicode.Mn, unicode.Me,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
		return -1
	}
	return r
}

// mailbox returns the name of a mailbox in one spelling. Many servers deliver
// mail for ada+anything to ada.
func mailbox(address string) string {
	local, domain, _ := strings.Cut(account(address), "@")
	local, _, _ = strings.Cut(local, "+")
	return local + "@" + domain
}
