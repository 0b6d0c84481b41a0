package provider

import (
	"encoding/json"

	"github.com/pintleauth/pintle"
)

// The functions below are values of [pintle.OAuth.EmailVerified]. A provider has
// one only if a page of its documentation states which addresses it has verified:
// the page is named beside it and in testdata/facts.json. Any other value than the
// one of that page counts as unverified, so that a change of the response fails
// closed.

// saysVerified reads a member of the profile, at a path of [claims], that must be
// true. Apple sends the text "true".
func saysVerified(path string) func(pintle.Profile) bool {
	return func(p pintle.Profile) bool {
		f, err := find(p, path)
		return err == nil && (f.value == true || f.value == "true")
	}
}

// trusted is verified for a server that the host trusts, and nil for any other.
func (o Options) trusted(verified func(pintle.Profile) bool) func(pintle.Profile) bool {
	if !o.TrustEmailVerified {
		return nil
	}
	return verified
}

// onlyVerified is for services that leave an address out until it is verified.
// path is the first path of the address in the mapping.
func onlyVerified(path string) func(pintle.Profile) bool {
	return func(p pintle.Profile) bool {
		f, err := find(p, path)
		text, _ := f.value.(string)
		return err == nil && text != ""
	}
}

// saysOne reads a member that is the number 1 for a verified address.
func saysOne(path string) func(pintle.Profile) bool {
	return func(p pintle.Profile) bool {
		f, err := find(p, path)
		return err == nil && f.value == json.Number("1")
	}
}

// bothVerified requires both answers.
func bothVerified(one, two func(pintle.Profile) bool) func(pintle.Profile) bool {
	return func(p pintle.Profile) bool { return one(p) && two(p) }
}
