package account_test

import (
	"encoding/base64"
	"net/http"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

const (
	reset = "/auth/account/reset"
	undo  = "/auth/account/address-undo"
)

// byLinkKey does what the script of the page of a link does, with the answer of a passkey.
func (b *browser) byLinkKey(path, id string) *browser {
	b.t.Helper()
	b.isAt(path).says(`data-passkey-options="` + path + `-options"`)
	data, required := b.answer(id, path+"-options")
	if !required {
		b.t.Errorf("the options of %s do not require that the authenticator verifies its user", path)
	}
	return b.postKey(path, data)
}

func (b *browser) postKey(path, data string) *browser {
	b.t.Helper()
	return b.post(path, "password", newPassword, "method", "passkey", "action", "authenticate", "data", data)
}

// keyOf gives a user a passkey that was created some time ago.
func (s *site) keyOf(u *pintle.User, name string, ago time.Duration) (id string) {
	s.t.Helper()
	id = base64.StdEncoding.EncodeToString([]byte(name))
	s.done(s.store.LinkAccount(s.t.Context(), &pintle.Account{UserID: u.ID, Type: pintle.TypeWebAuthn, Provider: "passkey", ProviderAccountID: id}))
	s.done(s.store.CreatePasskey(s.t.Context(), &pintle.Passkey{
		CredentialID: id, ProviderAccountID: id, UserID: u.ID, DeviceType: "singleDevice", Created: time.Now().Add(-ago),
	}))
	return id
}

// AC-74, ASVS-6.4.3, SH-40: a passkey is proof enough for a user who has an app as well.
func TestAPasskeyIsTheSecondFactorOfAReset(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		e := &echo{}
		s := newSite(t, tokens, withPasskeys(e))
		u := s.seed(ada, goodPassword, true)
		next := s.app(u)
		s.changeState(u.ID, func(state *accountstore.State) { state.Suspended = true })
		id := s.keyOf(u, "own", time.Hour)
		link := s.resetLink(ada)
		b := s.browser().get(link).says("Use a passkey").says("method=totp")
		b.post(reset, "password", newPassword).want(http.StatusUnauthorized)
		b.post(reset, "password", newPassword, "method", "passkey").want(http.StatusUnprocessableEntity)
		b.get(reset).byLinkKey(reset, id).want(http.StatusUnprocessableEntity) // the authenticator has not verified its user
		e.verifies = true
		data, _ := b.get(reset).answer(id, reset+"-options")
		b.post(reset, "password", "short", "method", "passkey", "data", data).want(http.StatusUnprocessableEntity)
		if !s.passwordIs(ada, goodPassword) {
			t.Fatal("the password is changed without a proof")
		}
		b.postKey(reset, data).isAt("/auth/signin").isSignedInAs("")
		if !s.passwordIs(ada, newPassword) || s.state(u).Suspended {
			t.Errorf("the password is changed: %t, and the codes of the user: %+v", s.passwordIs(ada, newPassword), s.state(u))
		}
		s.browser().get(s.resetLink(ada)).get(reset+"?method=totp").says("Code of the app").
			post(reset, "password", goodPassword, "code", next()).isAt("/auth/signin")
		if !s.passwordIs(ada, goodPassword) {
			t.Error("the code of the app is not accepted beside a passkey")
		}
	})
}

// AT-46, AC-86: the passkey of the owner undoes the change, and that of a thief does not.
func TestAnOlderPasskeyUndoesAChange(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for name, age := range map[string]time.Duration{"without an app": 8 * 24 * time.Hour, "beside an app": 25 * time.Hour} {
			s := newSite(t, tokens, withPasskeys(&echo{verifies: true}))
			u := s.seed(ada, goodPassword, true)
			if name == "beside an app" {
				s.app(u)
				s.ages(u, 25*time.Hour)
			}
			old := s.keyOf(u, "older", age)
			s.browser().startSession(u, 0, "pwd", "otp").movesAddress(newAddress)
			mail := s.mailOf("address-changed-undo")
			young := s.keyOf(u, "younger", time.Minute)
			b := s.browser().get(mail.URL)
			if answer := b.postJSON(undo, map[string]any{"password": newPassword}); answer["error"] != "second_factor_required" {
				t.Errorf("%s: without a proof the answer is %v", name, answer)
			}
			b.get(undo).byLinkKey(undo, young).want(http.StatusUnprocessableEntity)
			if s.user(ada) != nil {
				t.Fatalf("%s: the passkey of the thief gives the account back", name)
			}
			b.get(undo).byLinkKey(undo, old).isAt("/auth/signin")
			if s.user(ada) == nil || !s.passwordIs(ada, newPassword) || s.passkeys(u) != 1 {
				t.Errorf("%s: the address is back: %t, passkeys: %d", name, s.user(ada) != nil, s.passkeys(u))
			}
		}
	})
}

// AT-45: a thief who has added a passkey waits for more than a day before moving the address. The
// owner, who has only a password, has no passkey to show.
func TestAPasskeyOfFewDaysDoesNotKeepTheOwnerFromUndoing(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for _, tt := range []struct {
			life, age time.Duration // of the link, where zero is seven days, and of the passkey
			asked     bool
		}{{0, 25 * time.Hour, false}, {12 * time.Hour, 20 * time.Hour, false}, {12 * time.Hour, 25 * time.Hour, true}} {
			s := newSite(t, tokens, withPasskeys(&echo{verifies: true}), func(_ *pintle.Config, o *account.Options) { o.AddressChange.UndoFor = tt.life })
			u := s.seed(ada, goodPassword, true)
			s.keyOf(u, "of the thief", tt.age)
			s.browser().startSession(u, 0, "pwd", "otp").movesAddress(newAddress)
			r := s.undoes(s.mailOf("address-changed-undo"))
			if tt.asked {
				r.want(http.StatusUnauthorized)
				continue
			}
			r.isAt("/auth/signin")
			if s.user(ada) == nil || !s.passwordIs(ada, newPassword) {
				t.Error("the passkey of the thief keeps the owner from undoing the change")
			}
		}
	})
}

// AT-57: the answer to the challenge of one link is of no use to another, at a sign-in, or twice.
func TestAnAnswerOfAPasskeyIsForOneLink(t *testing.T) {
	s := newSite(t, false, withPasskeys(&echo{verifies: true}))
	u := s.seed(ada, goodPassword, true)
	s.app(u)
	id := s.keyOf(u, "own", time.Hour)
	b := s.browser().get(s.resetLink(ada))
	data, _ := b.answer(id, reset+"-options")
	b.get(s.resetLink(ada)).postKey(reset, data).want(http.StatusUnprocessableEntity)
	data, _ = b.answer(id, reset+"-options")
	b.signIn(ada, goodPassword).isAt(secondFactor)
	b.post(secondFactor, "method", "passkey", "data", data).isSignedInAs("")
	data, _ = b.answer(id, secondOptions)
	b.get(reset).postKey(reset, data).want(http.StatusUnprocessableEntity)
	if !s.passwordIs(ada, goodPassword) {
		t.Error("the answer to another challenge resets the password")
	}
	s.browser().get(reset + "-options").want(http.StatusForbidden)
	without := s.seed("bob@example.com", goodPassword, true)
	s.keyOf(without, "of bob", time.Hour) // which is not asked for
	b = s.browser().get(s.resetLink("bob@example.com")).get(reset + "-options").want(http.StatusUnprocessableEntity)
	b.get(reset).post(reset, "password", newPassword).isAt("/auth/signin") // as at a sign-in, which does not ask for it either
}
