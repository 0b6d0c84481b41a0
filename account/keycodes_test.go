package account_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/authtest"
)

const recoveryPage = "/auth/account/recovery-codes"

// savesCodes goes through the pages of recovery codes at a route, and returns the codes.
func (b *browser) savesCodes(path string) []string {
	b.t.Helper()
	b.isAt(path).want(http.StatusOK).says("If you lose your passkey, a recovery code takes its place.")
	b.post(path, "new", "1").isAt(path)
	codes := b.codes()
	if len(codes) != 10 {
		b.t.Fatalf("%d recovery codes were shown: %s", len(codes), b.text())
	}
	b.post(path, "saved", "1")
	return codes
}

// withKey is a site that requires a second factor, and a user with a password and a passkey.
func withKey(t *testing.T, tokens bool, e *echo, changes ...func(*pintle.Config, *account.Options)) (s *site, u *pintle.User, id string) {
	t.Helper()
	s = newSite(t, tokens, append([]func(*pintle.Config, *account.Options){withPasskeys(e), required}, changes...)...)
	u = s.seed(ada, goodPassword, true)
	return s, u, s.passkey(u)
}

// recoveryRows counts the recovery codes of a user in the store.
func (s *site) recoveryRows(u *pintle.User) (n int) {
	s.t.Helper()
	rows, err := s.rows.Factors(s.t.Context(), u.ID)
	s.done(err)
	for _, row := range rows {
		if row.Kind == "recovery" {
			n++
		}
	}
	return n
}

// AT-170, AC-112, AC-113: the sign-in that has proven the passkey goes on once the codes are saved, and one
// of them takes the place of the passkey later, once.
func TestAUserWhoNeedsThePasskeySavesRecoveryCodes(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s, u, id := withKey(t, tokens, &echo{})
		b := s.half().byPasskey(id).isAt(enrol).isSignedInAs("")
		b.post(enrol, "saved", "1").want(http.StatusGone) // no codes were shown
		b.get(enrol).post(enrol, "new", "1")
		shown := b.codes()
		text := b.get(enrol + "?format=text")
		if got := text.header.Get("Content-Disposition"); got != `attachment; filename="recovery-codes.txt"` || len(shown) != 10 {
			t.Errorf("the file of %d codes is %q", len(shown), got)
		}
		for _, code := range shown {
			text.says(code)
		}
		b.get(enrol).says("Print")
		if save := strings.Index(b.page, "Save as a text file"); save < 0 || save > strings.Index(b.page, ">Continue<") {
			t.Error("the codes are saved below the button that ends their page")
		}
		b.post(enrol).want(http.StatusUnprocessableEntity) // without the tick
		if n := s.recoveryRows(u); n != 0 {
			t.Errorf("before the tick the store has %d codes", n)
		}
		b.isSignedInAs("").post(enrol, "saved", "1").isAt("/").isSignedInAs(ada)
		if n := s.recoveryRows(u); n != 10 {
			t.Errorf("after the tick the store has %d codes", n)
		}
		s.wantMail(ada, "New recovery codes")
		s.half().byPasskey(id).isAt("/").isSignedInAs(ada) // the codes are there

		half := s.half().says("method=recovery")
		if strings.Contains(half.page, "method=totp") {
			t.Error("the page offers a code of an app, which the user does not have")
		}
		half.get(secondFactor+"?method=recovery").post(secondFactor, "method", "recovery", "code", shown[0]).isAt("/").isSignedInAs(ada)
		if methods, level := half.proofs(); !slices.Contains(methods, "recovery") || level != "mfa" {
			t.Errorf("the session has %v and the level %v", methods, level)
		}
		s.wantMail(ada, "A recovery code was used")
		s.half().post(secondFactor, "method", "recovery", "code", shown[0]).want(http.StatusUnprocessableEntity).isSignedInAs("")
	})
}

// AT-170, AC-113: also a sign-in with the passkey alone, which is two factors, and a sign-up with one.
func TestASignInOrSignUpWithTheRequiredPasskeySavesRecoveryCodes(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s, _, id := withKey(t, tokens, &echo{verifies: true})
		b := s.browser().get("/auth/signin")
		data, _ := b.answer(id, "/auth/webauthn-options/passkey?action=authenticate")
		b.post("/auth/callback/passkey", "action", "authenticate", "data", data).isSignedInAs("").savesCodes(enrol)
		b.isSignedInAs(ada)
		if _, level := b.proofs(); level != "phr" {
			t.Errorf("the session has the level %v", level)
		}
		const bob = "bob@example.com"
		joins := s.browser().proves(bob, "callbackUrl", "/welcome")
		data, _ = joins.newKey()
		joins.registers(data).isSignedInAs("").savesCodes(enrol)
		joins.isAt("/welcome").isSignedInAs(bob)
		if n := s.recoveryRows(s.user(bob)); n != 10 {
			t.Errorf("after the sign-up the store has %d codes", n)
		}
	})
}

// AT-170, AC-118: the codes are shown to no sign-in that has not proven the passkey.
func TestASignInWithoutThePasskeySeesNoRecoveryCodes(t *testing.T) {
	s, u, _ := withKey(t, false, &echo{})
	thief := s.half()
	for _, form := range [][]string{{"new", "1"}, {"saved", "1"}, {"code", "0000 0000"}} {
		thief.post(enrol, form...).want(http.StatusForbidden)
	}
	thief.get(enrol).want(http.StatusForbidden)
	thief.get(secondFactor).post(secondFactor, "method", "recovery", "code", "0000-0000-0000-0000").want(http.StatusUnprocessableEntity)
	if n := s.recoveryRows(u); n != 0 {
		t.Errorf("the store has %d codes", n)
	}
	thief.isSignedInAs("")

	vouched := withAcme(t, false, authtest.Person{Subject: "ada", Email: ada}, withPasskeys(&echo{}), required,
		func(_ *pintle.Config, o *account.Options) { o.SecondFactor.SkipFor = []string{"acme"} })
	u = vouched.seed(ada, goodPassword, true)
	vouched.passkey(u)
	vouched.done(vouched.store.LinkAccount(t.Context(), &pintle.Account{UserID: u.ID, Type: pintle.TypeOIDC, Provider: "acme", ProviderAccountID: "ada"}))
	vouched.browser().get("/auth/signin").post("/auth/signin/acme").isAt("/").isSignedInAs(ada) // proves no passkey
}

// AC-100, AC-112, AC-147: no sign-in asks for a passkey that is only a way to sign in, and a change of the account does.
// Its user is offered recovery codes, with which the change goes on from a device without the passkey.
func TestAUserWhoHasLostThePasskeyGoesOnWithARecoveryCode(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withPasskeys(&echo{verifies: true}))
		u := s.seed(ada, goodPassword, true)
		b := s.browser().signIn(ada, goodPassword).addPasskey("first").isAt("/")
		for _, path := range []string{"/auth/account", "/auth/account/factors", "/auth/account/passkeys"} {
			b.get(path).says(recoveryPage).says("Save recovery codes")
			if strings.Contains(b.page, "You have no second factor") {
				t.Errorf("%s says that the passkey is no second factor", path)
			}
		}
		b.get("/auth/account").says("Your passkey confirms changes to your account.")
		b.get(recoveryPage).isAt("/auth/account/confirm").confirmByPasskey(s.passkeyIDs(u)[0])
		codes := b.savesCodes(recoveryPage)
		b.isAt("/auth/account/factors").says("You have <bdi>10</bdi> codes left").isSignedInAs(ada)
		if b.get("/auth/account/passkeys"); strings.Contains(b.page, recoveryPage) {
			t.Error("the page offers codes to a user who has ten")
		}

		away := s.browser().signIn(ada, goodPassword).isAt("/").isSignedInAs(ada)
		away.get("/auth/account/password").isAt("/auth/account/confirm").says("Use a passkey").says("method=recovery").says("ask the operator of the site")
		away.confirmBy("method", "recovery", "code", codes[3]).isAt("/auth/account/password")
		id := s.passkeyIDs(u)[0]
		away.get("/auth/account/passkeys").post("/auth/account/passkey", "id", id, "action", "remove").want(http.StatusOK).says("The passkey is removed.")
		if n := s.recoveryRows(u); n != 0 || s.passkeys(u) != 0 {
			t.Errorf("%d codes and %d passkeys are left", n, s.passkeys(u))
		}
		away.get("/auth/account").says("You have no second factor")
		s.browser().signIn(ada, goodPassword).get("/auth/account/password").isAt("/auth/account/password")
	})
}

// AT-170, AC-147: without the passkey and without codes the page to confirm says who can help. Neither the password nor
// the mailbox is enough, and the codes are not shown.
func TestAUserWithoutThePasskeyAndWithoutCodesLearnsWhoHelps(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withPasskeys(&echo{verifies: true}))
		u := s.seed(ada, goodPassword, true)
		id := s.passkey(u)
		b := s.browser().signIn(ada, goodPassword).isAt("/").isSignedInAs(ada)
		for _, path := range []string{"password", "address", "totp", "delete", "recovery-codes"} {
			b.get("/auth/account/" + path).isAt("/auth/account/confirm").says("Use a passkey").says("use a device that still has one").says("ask the operator of the site")
			for _, no := range []string{"method=recovery", "method=mail"} {
				if strings.Contains(b.page, no) {
					t.Errorf("%s: the page offers %s", path, no)
				}
			}
		}
		b.post(recoveryPage, "new", "1").want(http.StatusForbidden)
		b.post("/auth/account/passkey", "id", id, "action", "remove").want(http.StatusForbidden)
		b.post("/auth/account/confirm", "method", "recovery", "code", "0000-0000-0000-0000").want(http.StatusUnprocessableEntity)

		s.done(s.accounts.Operators().RemovePasskeys(t.Context(), u.ID))
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // sessions are told apart by their second
		again := s.browser().signIn(ada, goodPassword).get("/auth/account/password").isAt("/auth/account/password")
		again.get("/auth/account/passkeys").addPasskey("next")
		if s.passkeys(u) != 1 {
			t.Errorf("the user has %d passkeys", s.passkeys(u))
		}
	})
}

// AC-147: a page that asks for one factor asks for nothing that can be lost.
func TestAPageThatAsksForOneFactorHasNoWordOfALostOne(t *testing.T) {
	s := newSite(t, false, withPasskeys(&echo{}))
	s.demand("/one", account.Demand{MaxAge: tenMinutes})
	u := s.seed(ada, goodPassword, true)
	s.passkey(u)
	b := s.browser().startSession(u, time.Hour, "pwd").get("/one").isAt("/auth/account/confirm").says("Use a passkey")
	if strings.Contains(b.page, "lost") {
		t.Errorf("the page speaks of a loss: %s", b.text())
	}
}

// AC-113: a required passkey without codes is a dead end at the sign-in, too, and the page says who helps.
func TestTheSecondFactorPageSaysWhoHelpsWithoutThePasskey(t *testing.T) {
	s, u, id := withKey(t, false, &echo{})
	s.half().get(secondFactor).says("use a device that still has one")
	codes := s.half().byPasskey(id).savesCodes(enrol)
	b := s.half().get(secondFactor)
	if strings.Contains(b.page, "lost") {
		t.Errorf("the page speaks of a loss beside recovery codes: %s", b.text())
	}
	b.get(secondFactor + "?method=recovery").says("If you have lost your device and your codes")
	if len(codes) != s.recoveryRows(u) {
		t.Errorf("the store has %d codes", s.recoveryRows(u))
	}
}

// passkeyIDs are the ids of the passkeys of a user.
func (s *site) passkeyIDs(u *pintle.User) (ids []string) {
	s.t.Helper()
	keys, err := s.store.UserPasskeys(s.t.Context(), u.ID)
	s.done(err)
	for _, key := range keys {
		ids = append(ids, key.CredentialID)
	}
	return ids
}

// AC-113: a user who adds the first passkey during a session comes to the codes from there.
func TestTheFirstPasskeyOfASessionLeadsToTheRecoveryCodes(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withPasskeys(&echo{verifies: true}), required)
		u := s.seed(ada, goodPassword, true)
		b := s.fresh(u).get("/auth/account/passkeys")
		b.says("recovery-codes?notice=passkey_added")
		b.addPasskey("first")
		b.get("/auth/account").says("Save recovery codes")
		b.get(recoveryPage).savesCodes(recoveryPage)
		b.isAt("/auth/account/factors").says("You have <bdi>10</bdi> codes left").isSignedInAs(ada)
		if n := s.recoveryRows(u); n != 10 {
			t.Errorf("the store has %d codes", n)
		}
		if b.get("/auth/account/passkeys"); strings.Contains(b.page, "recovery-codes?") {
			t.Error("a second passkey leads to the codes, too")
		}
	})
}

// AT-170, AC-3, AC-120: the proof of an address removes what was added before it, so no codes are made.
func TestNoRecoveryCodesAreMadeBeforeTheAddressIsProven(t *testing.T) {
	s, u, id := withKey(t, false, &echo{verifies: true})
	b := s.fresh(u)
	_, err := s.store.UpdateUser(t.Context(), u.ID, pintle.UserUpdate{EmailVerified: &time.Time{}})
	s.done(err)
	b.post(recoveryPage, "new", "1").want(http.StatusForbidden)
	again := s.browser().get("/auth/signin")
	data, _ := again.answer(id, "/auth/webauthn-options/passkey?action=authenticate")
	again.post("/auth/callback/passkey", "action", "authenticate", "data", data)
	again.isSignedInAs(ada)
	if n := s.recoveryRows(u); n != 0 {
		t.Errorf("the store has %d codes", n)
	}
}

// AC-113: the user of an app makes new codes on the page of a session.
func TestAUserWithAnAppIsNotHeldForTheCodesOfAPasskey(t *testing.T) {
	s, u, id := withKey(t, false, &echo{verifies: true})
	s.app(u)
	s.half().byPasskey(id).isAt("/").isSignedInAs(ada)
}

// AT-170, AC-109: an app that the user began to add before counts with its own codes alone.
func TestTheCodesOfAPasskeyStoreNoAppThatWasBegun(t *testing.T) {
	s, u, id := withKey(t, false, &echo{verifies: true})
	b := s.fresh(u).get("/auth/account/totp")
	key, a := b.key()
	b.post("/auth/account/totp", "key", key, "code", a.code(t, 0)).isAt(recoveryPage).says("Save your recovery codes")
	b.post("/auth/signout").get("/auth/signin")
	data, _ := b.answer(id, "/auth/webauthn-options/passkey?action=authenticate")
	b.post("/auth/callback/passkey", "action", "authenticate", "data", data)
	b.post(enrol, "saved", "1").want(http.StatusGone)
	b.get(enrol).savesCodes(enrol)
	b.isSignedInAs(ada)
	if apps, _ := s.apps(u); apps != 0 || s.recoveryRows(u) != 10 {
		t.Errorf("the store has %d apps and %d codes", apps, s.recoveryRows(u))
	}
}

// AC-142: a recovery code confirms a session in place of the passkey.
func TestARecoveryCodeConfirmsASessionOfAUserWhoHasLostThePasskey(t *testing.T) {
	s, u, id := withKey(t, false, &echo{})
	b := s.half().byPasskey(id)
	codes := b.savesCodes(enrol)
	old := s.browser().startSession(u, 2*time.Hour, "pwd", "pop")
	old.get("/auth/account/password").isAt("/auth/account/confirm").get("/auth/account/confirm?method=password")
	old.post("/auth/account/confirm", "method", "password", "password", goodPassword)
	old.get("/auth/account/confirm").says("method=recovery").post("/auth/account/confirm", "method", "recovery", "code", codes[1])
	if _, level := old.proofs(); level != "mfa" {
		t.Errorf("the session has the level %v", level)
	}
}

// AT-170, AC-113: codes go with the last factor that they are for.
func TestRecoveryCodesGoWithTheLastFactor(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		needs := true
		rule := func(_ *pintle.Config, o *account.Options) {
			o.SecondFactor.Required = func(context.Context, *pintle.PendingSignIn) (bool, error) { return needs, nil }
		}
		s, u, id := withKey(t, tokens, &echo{verifies: true}, rule)
		codes := s.half().byPasskey(id).savesCodes(enrol)
		app := &accountstore.Factor{UserID: u.ID, Kind: "totp", ID: "app", Secret: "sealed", Created: time.Now().UTC().Truncate(time.Millisecond)}
		s.done(s.rows.AddFactor(t.Context(), app))

		// The passkey is still asked for after the app has gone.
		s.fresh(u).post("/auth/account/factor", "id", "app", "action", "remove").want(http.StatusOK)
		if n := s.recoveryRows(u); n != 10 {
			t.Fatalf("%d codes are left beside the passkey", n)
		}
		s.fresh(u).post("/auth/account/passkey", "id", id, "action", "remove").want(http.StatusForbidden)
		needs = false
		s.done(s.rows.AddFactor(t.Context(), app))
		s.fresh(u).post("/auth/account/factor", "id", "app", "action", "remove").want(http.StatusOK)
		if n := s.recoveryRows(u); n != 10 {
			t.Fatalf("%d codes are left beside the passkey that is not required", n)
		}
		s.fresh(u).post("/auth/account/passkey", "id", id, "action", "remove").want(http.StatusOK).isSignedInAs(ada)
		if n := s.recoveryRows(u); n != 0 {
			t.Errorf("%d codes are left without a factor", n)
		}
		needs = true
		s.browser().signIn(ada, goodPassword).isAt(enrol).post(secondFactor, "code", codes[2]).isSignedInAs("")
	})
}

// AT-170: codes of a passkey that an operator has removed prove nothing, also after another one was added.
func TestRecoveryCodesOfAPasskeyThatAnOperatorHasRemovedStayUseless(t *testing.T) {
	s, u, id := withKey(t, false, &echo{verifies: true})
	codes := s.half().byPasskey(id).savesCodes(enrol)
	s.done(s.accounts.Operators().RemovePasskeys(t.Context(), u.ID))
	s.browser().signIn(ada, goodPassword).isAt(enrol).post(secondFactor, "code", codes[0]).isSignedInAs("")
	s.fresh(u).get(recoveryPage).want(http.StatusNotFound)
	s.fresh(u).addPasskey("next")
	if n := s.recoveryRows(u); n != 0 {
		t.Errorf("%d codes of the former passkey are left", n)
	}
	s.half().post(secondFactor, "method", "recovery", "code", codes[0]).want(http.StatusUnprocessableEntity).isSignedInAs("")
}

// AC-119: the operator's reset takes the codes of a passkey, too.
func TestAnOperatorsResetTakesTheCodesOfAPasskey(t *testing.T) {
	s, u, id := withKey(t, false, &echo{})
	s.half().byPasskey(id).savesCodes(enrol)
	s.done(s.accounts.Operators().ResetSecondFactor(t.Context(), u.ID))
	if n := s.recoveryRows(u); n != 0 {
		t.Errorf("%d codes are left", n)
	}
}

// AC-113, 11.2: scripts get the codes at the same path.
func TestScriptsSaveTheRecoveryCodesOfAPasskey(t *testing.T) {
	s, u, id := withKey(t, true, &echo{})
	b := s.half()
	data, _ := b.answer(id, secondOptions)
	if answer := b.postJSON(secondFactor, map[string]any{"method": "passkey", "data": data}); !strings.Contains(answer["next"].(string), enrol) {
		t.Fatalf("the answer is %v", answer)
	}
	if answer := b.getJSON(enrol); answer["recoveryLeft"] != float64(0) || answer["codes"] != nil {
		t.Errorf("before the codes are made: %v", answer)
	}
	if answer := b.postJSON(enrol, map[string]any{"new": "1"}); !strings.HasSuffix(answer["next"].(string), enrol) {
		t.Errorf("the answer is %v", answer)
	}
	if codes, _ := b.getJSON(enrol)["codes"].([]any); len(codes) != 10 {
		t.Errorf("the codes are %v", codes)
	}
	b.postJSON(enrol, map[string]any{"saved": "1"})
	b.isSignedInAs(ada)
	if n := s.recoveryRows(u); n != 10 {
		t.Errorf("the store has %d codes", n)
	}
}
