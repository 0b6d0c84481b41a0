package storetest

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/uuid"
)

var passkeyChecks = []check{
	{"19, 20 a passkey reads back as it was stored", func(t *tester) {
		u := t.someone()
		t.passkey(t.createPasskey(newPasskey(u.ID)))
		t.passkey(t.createPasskey(&pintle.Passkey{CredentialID: "bare==", UserID: u.ID, ProviderAccountID: "bare==", PublicKey: "AA==", DeviceType: "singleDevice"}))
	}},
	{"20 an unknown credential is not found", func(t *tester) {
		s := t.passkeys()
		a := newPasskey(t.someone().ID)
		a.CredentialID = "AbC+/" + a.CredentialID
		t.createPasskey(a)
		for _, id := range []string{unique(), "", "abc+/" + a.CredentialID[5:], strings.ToUpper(a.CredentialID), "AbC-_" + a.CredentialID[5:], strings.TrimRight(a.CredentialID, "="), a.CredentialID + " "} {
			_, err := s.Passkey(t.ctx, id)
			t.notFound("Authenticator("+id+")", err)
		}
		t.passkey(a)
	}},
	{"credentials that differ in case are different", func(t *tester) {
		t.limited(LooseUniqueness)
		u := t.someone()
		for _, id := range []string{"QUJD", "qujd", "QUJd", "QUJD=", "QU/D", "QU+D"} {
			a := newPasskey(u.ID)
			a.CredentialID, a.ProviderAccountID = id, id
			t.passkey(t.createPasskey(a))
		}
	}},
	{"a credential id that is taken is refused and the first stays", func(t *tester) {
		s := t.passkeys()
		a := t.createPasskey(newPasskey(t.someone().ID))
		taken := newPasskey(t.someone().ID)
		taken.CredentialID = a.CredentialID
		t.conflict("CreatePasskey with a taken id", s.CreatePasskey(t.ctx, taken))
		t.conflict("CreatePasskey a second time", s.CreatePasskey(t.ctx, a))
		t.passkey(a)
	}},
	{"the longest credential id and an RSA key are kept", func(t *tester) {
		t.limited(NarrowColumns)
		a := newPasskey(t.someone().ID)
		a.CredentialID = strings.Repeat("QUJDREVG", 170) + "QQ==" // 1023 bytes, the most there may be
		a.PublicKey = strings.Repeat("pAEDAzkB", 100)
		a.Transports = []string{"ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"}
		t.passkey(t.createPasskey(a))
	}},
	{"a counter has 32 bits", func(t *tester) {
		t.limited(NarrowColumns)
		a := newPasskey(t.someone().ID)
		a.Counter = math.MaxUint32 - 1
		t.passkey(t.createPasskey(a))
		used := counted(a, math.MaxUint32)
		t.ok("UsePasskey", t.passkeys().UsePasskey(t.ctx, used, a.Counter))
		t.passkey(used)
	}},
	{"21 the passkeys of a user are theirs alone", func(t *tester) {
		s := t.passkeys()
		u, other := t.someone(), t.someone()
		want := map[string]string{}
		for range 2 {
			a := t.createPasskey(newPasskey(u.ID))
			want[a.CredentialID] = t.describedPasskey(a)
		}
		t.createPasskey(newPasskey(other.ID))
		found, err := s.UserPasskeys(t.ctx, u.ID)
		t.ok("UserPasskeys", err)
		if len(found) != len(want) {
			t.Errorf("UserPasskeys returned %d passkeys, want %d", len(found), len(want))
		}
		for _, a := range found {
			t.same("UserPasskeys", t.describedPasskey(a), want[a.CredentialID])
		}
	}},
	{"21 a user without passkeys has none, nor has an unknown user", func(t *tester) {
		s := t.passkeys()
		for _, id := range []string{t.someone().ID, uuid.New(), ""} {
			found, err := s.UserPasskeys(t.ctx, id)
			t.ok("UserPasskeys", err)
			if len(found) != 0 {
				t.Errorf("UserPasskeys(%q) returned %d passkeys, want none", id, len(found))
			}
		}
	}},
	{"passkeys that were passed or returned are the caller's", func(t *tester) {
		s := t.passkeys()
		want := newPasskey(t.someone().ID)
		passed := *want
		passed.Transports = slices.Clone(want.Transports)
		t.createPasskey(&passed)
		first, err := s.Passkey(t.ctx, want.CredentialID)
		t.ok("Passkey", err)
		listed, err := s.UserPasskeys(t.ctx, want.UserID)
		t.ok("UserPasskeys", err)
		for _, mine := range append(listed, &passed, first) {
			mine.PublicKey = "spoiled"
			for i := range mine.Transports {
				mine.Transports[i] = "spoiled"
			}
		}
		t.passkey(want)
	}},
	{"22 a use moves the counter on, with the backup state and the time, and nothing else", func(t *tester) {
		s := t.passkeys()
		u := t.someone()
		a, other := t.createPasskey(newPasskey(u.ID)), t.createPasskey(newPasskey(u.ID))
		used := counted(a, a.Counter+5)
		used.BackedUp = false
		spoiled := *used
		spoiled.UserID, spoiled.ProviderAccountID, spoiled.PublicKey = other.UserID+"0", "spoiled", "spoiled"
		spoiled.DeviceType, spoiled.Transports, spoiled.Name, spoiled.Created = "spoiled", []string{"spoiled"}, "spoiled", now().Add(time.Hour)
		t.ok("UsePasskey", s.UsePasskey(t.ctx, &spoiled, a.Counter))
		t.passkey(used)
		t.passkey(other)
	}},
	{"22, SH-25 a counter that is not the expected one stays", func(t *tester) {
		s := t.passkeys()
		a := t.createPasskey(newPasskey(t.someone().ID))
		for _, old := range []uint32{a.Counter - 1, a.Counter + 1, 0} {
			t.conflict("UsePasskey from another value", s.UsePasskey(t.ctx, counted(a, a.Counter+9), old))
			t.passkey(a)
		}
		t.conflict("UsePasskey from another value to the stored one", s.UsePasskey(t.ctx, counted(a, a.Counter), a.Counter+1))
		t.conflict("UsePasskey between equal other values", s.UsePasskey(t.ctx, counted(a, 0), 0))
		t.passkey(a)
	}},
	{"an authenticator that does not count stays at zero", func(t *tester) {
		s := t.passkeys()
		a := newPasskey(t.someone().ID)
		a.Counter = 0
		t.createPasskey(a)
		used := counted(a, 0)
		for range 2 {
			t.ok("UsePasskey from 0 to 0", s.UsePasskey(t.ctx, used, 0))
		}
		t.passkey(used)
	}},
	{"22 an unknown credential is not used", func(t *tester) {
		s := t.passkeys()
		a := newPasskey(t.someone().ID)
		for _, counter := range []uint32{0, 1} {
			t.notFound("UsePasskey", s.UsePasskey(t.ctx, counted(a, counter), 0))
		}
		_, err := s.Passkey(t.ctx, a.CredentialID)
		t.notFound("Passkey", err)
	}},
	{"a passkey of a user who does not exist is not found, and leaves nothing", func(t *tester) {
		for _, id := range t.noUsers() {
			a := newPasskey(id)
			t.notFound("CreatePasskey", t.passkeys().CreatePasskey(t.ctx, a))
			t.noPasskey(a)
			a.UserID = t.someone().ID
			t.passkey(t.createPasskey(a))
		}
	}},
	{"passkeys that were passed or returned are the caller's", func(t *tester) {
		s := t.passkeys()
		a := newPasskey(t.someone().ID)
		passed := *a
		t.createPasskey(&passed)
		passed.Counter, passed.UserID, passed.Name = 99, "spoiled", "spoiled"
		found, err := s.Passkey(t.ctx, a.CredentialID)
		t.ok("Passkey", err)
		found.Counter, found.PublicKey = 99, "spoiled"
		listed, err := s.UserPasskeys(t.ctx, a.UserID)
		t.ok("UserPasskeys", err)
		for _, one := range listed {
			one.Counter, one.PublicKey = 99, "spoiled"
		}
		t.passkey(a)
	}},
	{"SH-21, ASVS-6.5.6 a passkey is removed by its owner only", func(t *tester) {
		s := t.passkeys()
		u, other := t.someone(), t.someone()
		a, kept := t.createPasskey(newPasskey(u.ID)), t.createPasskey(newPasskey(u.ID))
		theirs := t.createPasskey(newPasskey(other.ID))
		for _, id := range []string{other.ID, uuid.New(), ""} {
			t.notFound("DeletePasskey of another's passkey", s.DeletePasskey(t.ctx, id, a.CredentialID))
		}
		for _, id := range []string{unique(), "", strings.ToLower(a.CredentialID) + " "} {
			t.notFound("DeletePasskey of an unknown passkey", s.DeletePasskey(t.ctx, u.ID, id))
		}
		t.passkey(a)
		t.ok("DeletePasskey", s.DeletePasskey(t.ctx, u.ID, a.CredentialID))
		_, err := t.passkeys().Passkey(t.ctx, a.CredentialID)
		t.notFound("Authenticator after its removal", err)
		t.notFound("DeletePasskey a second time", s.DeletePasskey(t.ctx, u.ID, a.CredentialID))
		left, err := t.passkeys().UserPasskeys(t.ctx, u.ID)
		t.ok("UserPasskeys", err)
		if len(left) != 1 || left[0].CredentialID != kept.CredentialID {
			t.Errorf("UserPasskeys returned %d passkeys, want the other one", len(left))
		}
		t.passkey(kept)
		t.passkey(theirs)
		t.passkey(t.createPasskey(a)) // its id is free
	}},
	{"SH-21 a passkey is renamed by its owner only", func(t *tester) {
		s := t.namedPasskeys()
		u, other := t.someone(), t.someone()
		a, kept := t.createPasskey(newPasskey(u.ID)), t.createPasskey(newPasskey(u.ID))
		theirs := t.createPasskey(newPasskey(other.ID))
		for _, id := range []string{other.ID, uuid.New(), ""} {
			t.notFound("RenamePasskey of another's passkey", s.RenamePasskey(t.ctx, id, a.CredentialID, "Mine now"))
			t.notFound("RenamePasskey of another's passkey to its name", s.RenamePasskey(t.ctx, id, a.CredentialID, a.Name))
		}
		for _, id := range []string{unique(), "", strings.ToUpper(a.CredentialID), a.CredentialID + " "} {
			t.notFound("RenamePasskey of an unknown passkey", s.RenamePasskey(t.ctx, u.ID, id, "Mine"))
		}
		t.passkey(a)
		for _, name := range []string{"The one on my keyring", strings.Repeat("ключ", 16), "The one on my keyring ", "", "", "Again"} {
			t.ok("RenamePasskey", s.RenamePasskey(t.ctx, u.ID, a.CredentialID, name))
			a.Name = name
			t.passkey(a)
		}
		used := counted(a, a.Counter+1)
		t.ok("UsePasskey", t.passkeys().UsePasskey(t.ctx, used, a.Counter))
		t.ok("RenamePasskey", s.RenamePasskey(t.ctx, u.ID, a.CredentialID, "Used"))
		used.Name = "Used"
		t.passkey(used)
		t.passkey(kept)
		t.passkey(theirs)
	}},
	{"a passkey without a name or times has none", func(t *tester) {
		a := newPasskey(t.someone().ID)
		a.Name, a.Created = "", time.Time{}
		t.passkey(t.createPasskey(a))
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
func (t *tester) passkey(want *pintle.Passkey) {
	t.Helper()
	found, err := t.passkeys().Passkey(t.ctx, want.CredentialID)
	t.ok("Passkey", err)
	t.same("Passkey", t.describedPasskey(found), t.describedPasskey(want))
}

// noPasskey checks that there is no row of a passkey.
func (t *tester) noPasskey(a *pintle.Passkey) {
	t.Helper()
	_, err := t.passkeys().Passkey(t.ctx, a.CredentialID)
	t.notFound("Passkey", err)
	left, err := t.passkeys().UserPasskeys(t.ctx, a.UserID)
	t.ok("UserPasskeys", err)
	if len(left) != 0 {
		t.Errorf("UserPasskeys returned %d passkeys, want none", len(left))
	}
}
