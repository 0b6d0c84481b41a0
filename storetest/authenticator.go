package storetest

import (
	"math"
	"strings"

	"github.com/pintleauth/pintle"
)

var authenticatorChecks = []check{
	{"19, 20 a passkey reads back as it was stored", func(t *tester) {
		u := t.someone()
		t.passkey(t.createAuthenticator(newAuthenticator(u.ID)))
		t.passkey(t.createAuthenticator(&pintle.Authenticator{CredentialID: "bare==", UserID: u.ID, ProviderAccountID: "bare==", PublicKey: "AA==", DeviceType: "singleDevice"}))
	}},
	{"20 an unknown credential is not found", func(t *tester) {
		s := t.authenticators()
		a := newAuthenticator(t.someone().ID)
		a.CredentialID = "AbC+/" + a.CredentialID
		t.createAuthenticator(a)
		for _, id := range []string{unique(), "", "abc+/" + a.CredentialID[5:], strings.ToUpper(a.CredentialID), "AbC-_" + a.CredentialID[5:], strings.TrimRight(a.CredentialID, "="), a.CredentialID + " "} {
			_, err := s.Authenticator(t.ctx, id)
			t.notFound("Authenticator("+id+")", err)
		}
		t.passkey(a)
	}},
	{"credentials that differ in case are different", func(t *tester) {
		t.limited(LooseUniqueness)
		u := t.someone()
		for _, id := range []string{"QUJD", "qujd", "QUJd", "QUJD=", "QU/D", "QU+D"} {
			a := newAuthenticator(u.ID)
			a.CredentialID, a.ProviderAccountID = id, id
			t.passkey(t.createAuthenticator(a))
		}
	}},
	{"a credential id that is taken is refused and the first stays", func(t *tester) {
		s := t.authenticators()
		a := t.createAuthenticator(newAuthenticator(t.someone().ID))
		taken := newAuthenticator(t.someone().ID)
		taken.CredentialID = a.CredentialID
		t.conflict("CreateAuthenticator with a taken id", s.CreateAuthenticator(t.ctx, taken))
		t.conflict("CreateAuthenticator a second time", s.CreateAuthenticator(t.ctx, a))
		t.passkey(a)
	}},
	{"the longest credential id and an RSA key are kept", func(t *tester) {
		t.limited(NarrowColumns)
		a := newAuthenticator(t.someone().ID)
		a.CredentialID = strings.Repeat("QUJDREVG", 170) + "QQ==" // 1023 bytes, the most there may be
		a.PublicKey = strings.Repeat("pAEDAzkB", 100)
		a.Transports = "ble,cable,hybrid,internal,nfc,smart-card,usb"
		t.passkey(t.createAuthenticator(a))
	}},
	{"a counter has 32 bits", func(t *tester) {
		t.limited(NarrowColumns)
		a := newAuthenticator(t.someone().ID)
		a.Counter = math.MaxUint32 - 1
		t.passkey(t.createAuthenticator(a))
		t.ok("UpdateAuthenticatorCounter", t.authenticators().UpdateAuthenticatorCounter(t.ctx, a.CredentialID, a.Counter, math.MaxUint32))
		a.Counter = math.MaxUint32
		t.passkey(a)
	}},
	{"21 the passkeys of a user are theirs alone", func(t *tester) {
		s := t.authenticators()
		u, other := t.someone(), t.someone()
		want := map[string]string{}
		for range 2 {
			a := t.createAuthenticator(newAuthenticator(u.ID))
			want[a.CredentialID] = describedAuthenticator(a)
		}
		t.createAuthenticator(newAuthenticator(other.ID))
		found, err := s.UserAuthenticators(t.ctx, u.ID)
		t.ok("UserAuthenticators", err)
		if len(found) != len(want) {
			t.Errorf("UserAuthenticators returned %d passkeys, want %d", len(found), len(want))
		}
		for _, a := range found {
			t.same("UserAuthenticators", describedAuthenticator(a), want[a.CredentialID])
		}
	}},
	{"21 somebody without passkeys, or nobody, has none", func(t *tester) {
		s := t.authenticators()
		for _, id := range []string{t.someone().ID, uuid(), ""} {
			found, err := s.UserAuthenticators(t.ctx, id)
			t.ok("UserAuthenticators", err)
			if len(found) != 0 {
				t.Errorf("UserAuthenticators(%q) returned %d passkeys, want none", id, len(found))
			}
		}
	}},
	{"22 a counter moves on, and nothing else does", func(t *tester) {
		s := t.authenticators()
		u := t.someone()
		a, other := t.createAuthenticator(newAuthenticator(u.ID)), t.createAuthenticator(newAuthenticator(u.ID))
		t.ok("UpdateAuthenticatorCounter", s.UpdateAuthenticatorCounter(t.ctx, a.CredentialID, a.Counter, a.Counter+5))
		a.Counter += 5
		t.passkey(a)
		t.passkey(other)
	}},
	{"22, SH-25 a counter that is not the expected one stays", func(t *tester) {
		s := t.authenticators()
		a := t.createAuthenticator(newAuthenticator(t.someone().ID))
		for _, old := range []uint32{a.Counter - 1, a.Counter + 1, 0} {
			t.conflict("UpdateAuthenticatorCounter from another value", s.UpdateAuthenticatorCounter(t.ctx, a.CredentialID, old, a.Counter+9))
			t.passkey(a)
		}
		t.conflict("UpdateAuthenticatorCounter from another value to the stored one", s.UpdateAuthenticatorCounter(t.ctx, a.CredentialID, a.Counter+1, a.Counter))
		t.conflict("UpdateAuthenticatorCounter between equal other values", s.UpdateAuthenticatorCounter(t.ctx, a.CredentialID, 0, 0))
		t.passkey(a)
	}},
	{"an authenticator that does not count stays at zero", func(t *tester) {
		s := t.authenticators()
		a := newAuthenticator(t.someone().ID)
		a.Counter = 0
		t.createAuthenticator(a)
		for range 2 {
			t.ok("UpdateAuthenticatorCounter(0, 0)", s.UpdateAuthenticatorCounter(t.ctx, a.CredentialID, 0, 0))
		}
		t.passkey(a)
	}},
	{"22 a counter of an unknown credential is not found", func(t *tester) {
		s := t.authenticators()
		for _, pair := range [][2]uint32{{0, 1}, {0, 0}} {
			t.notFound("UpdateAuthenticatorCounter", s.UpdateAuthenticatorCounter(t.ctx, unique(), pair[0], pair[1]))
		}
	}},
	{"passkeys that were passed or returned are the caller's", func(t *tester) {
		s := t.authenticators()
		a := newAuthenticator(t.someone().ID)
		passed := *a
		t.createAuthenticator(&passed)
		passed.Counter, passed.UserID = 99, "spoiled"
		found, err := s.Authenticator(t.ctx, a.CredentialID)
		t.ok("Authenticator", err)
		found.Counter, found.PublicKey = 99, "spoiled"
		listed, err := s.UserAuthenticators(t.ctx, a.UserID)
		t.ok("UserAuthenticators", err)
		for _, one := range listed {
			one.Counter, one.PublicKey = 99, "spoiled"
		}
		t.passkey(a)
	}},
	{"SH-21, ASVS-6.5.6 a passkey is removed by its owner and nobody else", func(t *tester) {
		t.authenticators()
		s := optional[pintle.AuthenticatorDeleter](t, "AuthenticatorDeleter")
		u, other := t.someone(), t.someone()
		a, kept := t.createAuthenticator(newAuthenticator(u.ID)), t.createAuthenticator(newAuthenticator(u.ID))
		theirs := t.createAuthenticator(newAuthenticator(other.ID))
		for _, id := range []string{other.ID, uuid(), ""} {
			t.notFound("DeleteAuthenticator of another's passkey", s.DeleteAuthenticator(t.ctx, id, a.CredentialID))
		}
		for _, id := range []string{unique(), "", strings.ToLower(a.CredentialID) + " "} {
			t.notFound("DeleteAuthenticator of an unknown passkey", s.DeleteAuthenticator(t.ctx, u.ID, id))
		}
		t.passkey(a)
		t.ok("DeleteAuthenticator", s.DeleteAuthenticator(t.ctx, u.ID, a.CredentialID))
		_, err := t.authenticators().Authenticator(t.ctx, a.CredentialID)
		t.notFound("Authenticator after its removal", err)
		t.notFound("DeleteAuthenticator a second time", s.DeleteAuthenticator(t.ctx, u.ID, a.CredentialID))
		left, err := t.authenticators().UserAuthenticators(t.ctx, u.ID)
		t.ok("UserAuthenticators", err)
		if len(left) != 1 || left[0].CredentialID != kept.CredentialID {
			t.Errorf("UserAuthenticators returned %d passkeys, want the other one", len(left))
		}
		t.passkey(kept)
		t.passkey(theirs)
		t.passkey(t.createAuthenticator(a)) // its id is free
	}},
	{"18 the account of a passkey is found", func(t *tester) {
		s := t.authenticators()
		a := newAccount(t.someone().ID)
		t.link(a)
		found, err := s.Account(t.ctx, a.Provider, a.ProviderAccountID)
		t.ok("Account", err)
		t.same("Account", describedAccount(found), describedAccount(a))
		_, err = s.Account(t.ctx, a.Provider, unique())
		t.notFound("Account", err)
	}},
}

// passkey checks that a passkey is found as it was stored.
func (t *tester) passkey(want *pintle.Authenticator) {
	t.Helper()
	found, err := t.authenticators().Authenticator(t.ctx, want.CredentialID)
	t.ok("Authenticator", err)
	t.same("Authenticator", describedAuthenticator(found), describedAuthenticator(want))
}
