package storetest

import (
	"math"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/uuid"
)

var authenticatorChecks = []check{
	{"19, 20 a passkey reads back as it was stored", func(t *tester) {
		u := t.someone()
		t.passkey(t.createAuthenticator(newAuthenticator(u.ID)))
		t.passkey(t.createAuthenticator(&pintle.Authenticator{CredentialID: "bare==", UserID: u.ID, ProviderAccountID: "bare==", PublicKey: "AA==", DeviceType: "singleDevice"}))
	}},
	{"20 an unknown credential is not found", func(t *tester) {
		s := t.passkeys()
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
		s := t.passkeys()
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
		used := counted(a, math.MaxUint32)
		t.ok("UseAuthenticator", t.passkeys().UseAuthenticator(t.ctx, used, a.Counter))
		t.passkey(used)
	}},
	{"21 the passkeys of a user are theirs alone", func(t *tester) {
		s := t.passkeys()
		u, other := t.someone(), t.someone()
		want := map[string]string{}
		for range 2 {
			a := t.createAuthenticator(newAuthenticator(u.ID))
			want[a.CredentialID] = t.describedAuthenticator(a)
		}
		t.createAuthenticator(newAuthenticator(other.ID))
		found, err := s.UserAuthenticators(t.ctx, u.ID)
		t.ok("UserAuthenticators", err)
		if len(found) != len(want) {
			t.Errorf("UserAuthenticators returned %d passkeys, want %d", len(found), len(want))
		}
		for _, a := range found {
			t.same("UserAuthenticators", t.describedAuthenticator(a), want[a.CredentialID])
		}
	}},
	{"21 a user without passkeys has none, nor has an unknown user", func(t *tester) {
		s := t.passkeys()
		for _, id := range []string{t.someone().ID, uuid.New(), ""} {
			found, err := s.UserAuthenticators(t.ctx, id)
			t.ok("UserAuthenticators", err)
			if len(found) != 0 {
				t.Errorf("UserAuthenticators(%q) returned %d passkeys, want none", id, len(found))
			}
		}
	}},
	{"22 a use moves the counter on, with the backup state and the time, and nothing else", func(t *tester) {
		s := t.passkeys()
		u := t.someone()
		a, other := t.createAuthenticator(newAuthenticator(u.ID)), t.createAuthenticator(newAuthenticator(u.ID))
		used := counted(a, a.Counter+5)
		used.BackedUp = false
		spoiled := *used
		spoiled.UserID, spoiled.ProviderAccountID, spoiled.PublicKey = other.UserID+"0", "spoiled", "spoiled"
		spoiled.DeviceType, spoiled.Transports, spoiled.Name, spoiled.Created = "spoiled", "spoiled", "spoiled", now().Add(time.Hour)
		t.ok("UseAuthenticator", s.UseAuthenticator(t.ctx, &spoiled, a.Counter))
		t.passkey(used)
		t.passkey(other)
	}},
	{"22, SH-25 a counter that is not the expected one stays", func(t *tester) {
		s := t.passkeys()
		a := t.createAuthenticator(newAuthenticator(t.someone().ID))
		for _, old := range []uint32{a.Counter - 1, a.Counter + 1, 0} {
			t.conflict("UseAuthenticator from another value", s.UseAuthenticator(t.ctx, counted(a, a.Counter+9), old))
			t.passkey(a)
		}
		t.conflict("UseAuthenticator from another value to the stored one", s.UseAuthenticator(t.ctx, counted(a, a.Counter), a.Counter+1))
		t.conflict("UseAuthenticator between equal other values", s.UseAuthenticator(t.ctx, counted(a, 0), 0))
		t.passkey(a)
	}},
	{"an authenticator that does not count stays at zero", func(t *tester) {
		s := t.passkeys()
		a := newAuthenticator(t.someone().ID)
		a.Counter = 0
		t.createAuthenticator(a)
		used := counted(a, 0)
		for range 2 {
			t.ok("UseAuthenticator from 0 to 0", s.UseAuthenticator(t.ctx, used, 0))
		}
		t.passkey(used)
	}},
	{"22 an unknown credential is not used", func(t *tester) {
		s := t.passkeys()
		a := newAuthenticator(t.someone().ID)
		for _, counter := range []uint32{0, 1} {
			t.notFound("UseAuthenticator", s.UseAuthenticator(t.ctx, counted(a, counter), 0))
		}
		_, err := s.Authenticator(t.ctx, a.CredentialID)
		t.notFound("Authenticator", err)
	}},
	{"a passkey of a user who does not exist is not found, and leaves nothing", func(t *tester) {
		for _, id := range t.noUsers() {
			a := newAuthenticator(id)
			t.notFound("CreateAuthenticator", t.passkeys().CreateAuthenticator(t.ctx, a))
			t.noPasskey(a)
			a.UserID = t.someone().ID
			t.passkey(t.createAuthenticator(a))
		}
	}},
	{"passkeys that were passed or returned are the caller's", func(t *tester) {
		s := t.passkeys()
		a := newAuthenticator(t.someone().ID)
		passed := *a
		t.createAuthenticator(&passed)
		passed.Counter, passed.UserID, passed.Name = 99, "spoiled", "spoiled"
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
	{"SH-21, ASVS-6.5.6 a passkey is removed by its owner only", func(t *tester) {
		s := t.passkeys()
		u, other := t.someone(), t.someone()
		a, kept := t.createAuthenticator(newAuthenticator(u.ID)), t.createAuthenticator(newAuthenticator(u.ID))
		theirs := t.createAuthenticator(newAuthenticator(other.ID))
		for _, id := range []string{other.ID, uuid.New(), ""} {
			t.notFound("DeleteAuthenticator of another's passkey", s.DeleteAuthenticator(t.ctx, id, a.CredentialID))
		}
		for _, id := range []string{unique(), "", strings.ToLower(a.CredentialID) + " "} {
			t.notFound("DeleteAuthenticator of an unknown passkey", s.DeleteAuthenticator(t.ctx, u.ID, id))
		}
		t.passkey(a)
		t.ok("DeleteAuthenticator", s.DeleteAuthenticator(t.ctx, u.ID, a.CredentialID))
		_, err := t.passkeys().Authenticator(t.ctx, a.CredentialID)
		t.notFound("Authenticator after its removal", err)
		t.notFound("DeleteAuthenticator a second time", s.DeleteAuthenticator(t.ctx, u.ID, a.CredentialID))
		left, err := t.passkeys().UserAuthenticators(t.ctx, u.ID)
		t.ok("UserAuthenticators", err)
		if len(left) != 1 || left[0].CredentialID != kept.CredentialID {
			t.Errorf("UserAuthenticators returned %d passkeys, want the other one", len(left))
		}
		t.passkey(kept)
		t.passkey(theirs)
		t.passkey(t.createAuthenticator(a)) // its id is free
	}},
	{"SH-21 a passkey is renamed by its owner only", func(t *tester) {
		s := t.namedPasskeys()
		u, other := t.someone(), t.someone()
		a, kept := t.createAuthenticator(newAuthenticator(u.ID)), t.createAuthenticator(newAuthenticator(u.ID))
		theirs := t.createAuthenticator(newAuthenticator(other.ID))
		for _, id := range []string{other.ID, uuid.New(), ""} {
			t.notFound("RenameAuthenticator of another's passkey", s.RenameAuthenticator(t.ctx, id, a.CredentialID, "Mine now"))
			t.notFound("RenameAuthenticator of another's passkey to its name", s.RenameAuthenticator(t.ctx, id, a.CredentialID, a.Name))
		}
		for _, id := range []string{unique(), "", strings.ToUpper(a.CredentialID), a.CredentialID + " "} {
			t.notFound("RenameAuthenticator of an unknown passkey", s.RenameAuthenticator(t.ctx, u.ID, id, "Mine"))
		}
		t.passkey(a)
		for _, name := range []string{"The one on my keyring", strings.Repeat("ключ", 16), "The one on my keyring ", "", "", "Again"} {
			t.ok("RenameAuthenticator", s.RenameAuthenticator(t.ctx, u.ID, a.CredentialID, name))
			a.Name = name
			t.passkey(a)
		}
		used := counted(a, a.Counter+1)
		t.ok("UseAuthenticator", t.passkeys().UseAuthenticator(t.ctx, used, a.Counter))
		t.ok("RenameAuthenticator", s.RenameAuthenticator(t.ctx, u.ID, a.CredentialID, "Used"))
		used.Name = "Used"
		t.passkey(used)
		t.passkey(kept)
		t.passkey(theirs)
	}},
	{"a passkey without a name or times has none", func(t *tester) {
		a := newAuthenticator(t.someone().ID)
		a.Name, a.Created = "", time.Time{}
		t.passkey(t.createAuthenticator(a))
	}},
	{"18 the account of a passkey is found", func(t *tester) {
		s := t.passkeys()
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
	found, err := t.passkeys().Authenticator(t.ctx, want.CredentialID)
	t.ok("Authenticator", err)
	t.same("Authenticator", t.describedAuthenticator(found), t.describedAuthenticator(want))
}

// noPasskey checks that there is no row of a passkey.
func (t *tester) noPasskey(a *pintle.Authenticator) {
	t.Helper()
	_, err := t.passkeys().Authenticator(t.ctx, a.CredentialID)
	t.notFound("Authenticator", err)
	left, err := t.passkeys().UserAuthenticators(t.ctx, a.UserID)
	t.ok("UserAuthenticators", err)
	if len(left) != 0 {
		t.Errorf("UserAuthenticators returned %d passkeys, want none", len(left))
	}
}
