package storetest

import (
	"strings"
	"time"

	"github.com/pintleauth/pintle"
)

var verificationChecks = []check{
	{"13, 14a a link is returned as it was stored", func(t *tester) {
		v := t.createVerification(newVerification())
		t.uses(v)
	}},
	{"14b, SH-19 a link is used once", func(t *tester) {
		v := t.createVerification(newVerification())
		t.uses(v)
		t.unusable(v.Identifier, v.Token)
		t.unusable(v.Identifier, v.Token)
	}},
	{"14b a link that was used may be stored again, and is used once again", func(t *tester) {
		v := t.createVerification(newVerification())
		t.uses(v)
		t.createVerification(v)
		t.uses(v)
		t.unusable(v.Identifier, v.Token)
	}},
	{"14c, SH-09 the right token for another address is refused, and stays usable by the right one", func(t *tester) {
		v, other := t.createVerification(newVerification()), t.createVerification(newVerification())
		t.unusable(other.Identifier, v.Token)
		t.unusable(unique()+"@example.org", v.Token)
		t.unusable("", v.Token)
		t.uses(v)
		t.uses(other)
	}},
	{"SH-08 a wrong token for the right address is refused, and the right one stays usable once", func(t *tester) {
		v := t.createVerification(newVerification())
		t.unusable(v.Identifier, unique()+unique())
		t.unusable(v.Identifier, "")
		t.unusable(v.Identifier, "%")
		t.uses(v)
		t.unusable(v.Identifier, v.Token)
	}},
	{"address and token are compared exactly, in their case", func(t *tester) {
		v := newVerification()
		v.Identifier, v.Token = "jose."+v.Identifier, "abc"+v.Token
		t.createVerification(v)
		t.unusable(strings.ToUpper(v.Identifier), v.Token)
		t.unusable("josé"+v.Identifier[len("jose"):], v.Token)
		t.unusable(v.Identifier+" ", v.Token)
		t.unusable(v.Identifier, strings.ToUpper(v.Token))
		t.unusable(v.Identifier, v.Token+" ")
		t.unusable(v.Identifier, v.Token[:len(v.Token)-1])
		t.uses(v)
	}},
	{"several links may be open for one address, and using one leaves the others", func(t *tester) {
		first, second, third := newVerification(), newVerification(), newVerification()
		second.Identifier, third.Identifier = first.Identifier, first.Identifier
		for _, v := range []*pintle.Verification{first, second, third} {
			t.createVerification(v)
		}
		t.uses(second)
		t.unusable(second.Identifier, second.Token)
		t.uses(first)
		t.uses(third)
	}},
	{"an expired link is returned, and used up", func(t *tester) {
		v := newVerification()
		v.Expires = now().Add(-24 * time.Hour)
		t.createVerification(v)
		t.uses(v)
		t.unusable(v.Identifier, v.Token)
	}},
	{"a link needs no user, and addresses need not be addresses", func(t *tester) {
		for _, identifier := range []string{"+44 20 7946 0000", "o'brien@example.org", "山田@例え.jp", "a:b@example.org", "a?b/c@example.org"} {
			v := newVerification()
			v.Identifier = identifier
			t.createVerification(v)
			t.uses(v)
		}
	}},
	{"times keep their milliseconds and their instant", func(t *tester) {
		t.limited(WholeSeconds)
		t.eachTime(func(what string, at time.Time) {
			v := newVerification()
			v.Expires = at
			t.createVerification(v)
			used, err := t.verifications().UseVerification(t.ctx, v.Identifier, v.Token)
			t.ok("UseVerification", err)
			t.same(what, instant(used.Expires), instant(at))
		})
	}},
}

// uses checks that a link can be used and is returned as it was stored.
func (t *tester) uses(v *pintle.Verification) {
	t.Helper()
	used, err := t.verifications().UseVerification(t.ctx, v.Identifier, v.Token)
	t.ok("UseVerification("+v.Identifier+")", err)
	t.same("UseVerification", describedVerification(used), describedVerification(v))
}

// unusable checks that there is no such link.
func (t *tester) unusable(identifier, token string) {
	t.Helper()
	_, err := t.verifications().UseVerification(t.ctx, identifier, token)
	t.notFound("UseVerification("+identifier+", "+token+")", err)
}
