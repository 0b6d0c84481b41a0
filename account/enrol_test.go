package account_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/authtest"
)

// required is a rule by which every user needs a second factor.
func required(_ *pintle.Config, o *account.Options) {
	o.SecondFactor.Required = func(context.Context, *pintle.PendingSignIn) (bool, error) { return true, nil }
}

const enrol = "/auth/account/enrol"

// AT-55, AC-118
func TestAfterAPasswordAloneAMailedCodeComesBeforeTheFirstFactor(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, required)
		s.seed(ada, goodPassword, true)
		b := s.browser().signIn(ada, goodPassword).isAt(enrol).want(200).isSignedInAs("")
		if shownKey.MatchString(b.page) {
			t.Fatal("the page shows a secret to a thief of the password")
		}
		mails := len(s.sent(ada))
		b.post(enrol, "key", "anything", "code", "123456").want(422)
		b.get(enrol)
		if len(s.sent(ada)) != mails || mails != 1 {
			t.Fatalf("%d mails were sent, and %d after the page was shown", mails, len(s.sent(ada)))
		}
		b.post(enrol, "code", "0000 0000").want(422)
		b.post(enrol, "code", s.code()).want(200)
		a, codes := b.addApp("enrol")
		b.isSignedInAs(ada)
		if got := s.browserWith(b).get("/auth/account/me").json()["session"].(map[string]any)["acr"]; got != "mfa" {
			t.Errorf("the session has the level %v", got)
		}
		s.wantMail(ada, "second factor was added")
		s.half().post(secondFactor, "code", a.code(t, 0)).isSignedInAs(ada)
		s.half().post(secondFactor, "code", codes[9]).isSignedInAs(ada)
	})
}

func TestTheCodeForTheFirstFactorIsMailedAgainThreeTimes(t *testing.T) {
	s := newSite(t, false, required)
	s.seed(ada, goodPassword, true)
	b := s.browser().signIn(ada, goodPassword)
	first := s.code()
	for range 3 {
		b.post(enrol, "again", "1").want(200).says("sent the mail again")
	}
	b.post(enrol, "again", "1").want(429)
	b.post(enrol, "code", first).want(422)
	b.post(enrol, "code", s.code()).want(200)
	b.key()
}

// AC-3, AC-61, AC-118, AC-120: what a provider reports proves no address.
func TestAUserOfAProviderProvesTheAddressBeforeTheFirstFactor(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := withAcme(t, tokens, authtest.Person{Subject: "1", Email: ada, EmailVerified: true}, required)
		b := s.browser().get("/auth/signin").post("/auth/signin/acme").isAt(enrol).want(200).isSignedInAs("")
		u := s.user(ada)
		thief := s.browser().startSession(u, time.Minute, "fed").isSignedInAs(ada)
		if shownKey.MatchString(b.page) || len(s.sent(ada)) != 1 {
			t.Fatalf("%d mails were sent, and the page is %s", len(s.sent(ada)), b.page)
		}
		b.post(enrol, "code", "0000 0000").want(422)
		b.post(enrol, "code", s.code()).want(200)
		if key, _ := b.key(); key == "" || !s.user(ada).EmailVerified.IsZero() {
			t.Fatal("the sign-in can still be broken off, and the address is proven")
		}
		a, _ := b.addApp("enrol")
		b.isSignedInAs(ada)
		if s.user(ada).EmailVerified.IsZero() {
			t.Error("the address is not proven")
		}
		if got := s.browserWith(b).get("/auth/account/me").json()["session"].(map[string]any)["acr"]; got != "mfa" {
			t.Errorf("the session has the level %v", got)
		}
		s.wantMail(ada, "second factor was added")
		thief.isSignedInAs("")
		again := s.browser().get("/auth/signin").post("/auth/signin/acme").isAt(secondFactor)
		again.post(secondFactor, "code", a.code(t, 0)).isSignedInAs(ada)
	})
}

func TestAScriptProvesTheAddressBeforeTheFirstFactor(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := withAcme(t, tokens, authtest.Person{Subject: "1", Email: ada}, required)
		b := s.browser().get("/auth/signin").post("/auth/signin/acme").isAt(enrol)
		if got := b.getJSON(enrol); b.status != 200 || got["email"] != ada || got["sent"] != true {
			t.Fatalf("the first step is %d %v", b.status, got)
		}
		if got := b.postJSON(enrol, map[string]any{"code": s.code()}); b.status != 200 {
			t.Fatalf("the code is answered with %d %v", b.status, got)
		}
		shown := b.getJSON(enrol)
		secret, _ := shown["secret"].(string)
		b.postJSON(enrol, map[string]any{"key": shown["key"], "code": app{secret}.code(t, 0)})
		if codes, _ := b.getJSON(enrol)["codes"].([]any); len(codes) != 10 {
			t.Fatalf("%d recovery codes were shown", len(codes))
		}
		if got := b.postJSON(enrol, map[string]any{"saved": true}); b.status != 200 {
			t.Fatalf("the sign-in ends with %d %v", b.status, got)
		}
		b.isSignedInAs(ada)
	})
}

// With SignUp.Verify at VerifyNone a password signs a user with an unproven address in.
func TestAUserWhoNeedNotProveTheAddressDoesSoBeforeTheFirstFactor(t *testing.T) {
	t.Parallel()
	s := newSite(t, false, required, func(_ *pintle.Config, o *account.Options) {
		o.SignUp.Verify, o.SignUp.Closed = account.VerifyNone, true
	})
	u := s.seed(ada, goodPassword, false)
	b := s.browser().signIn(ada, goodPassword).isAt(enrol).post(enrol, "code", s.code()).want(200)
	b.addApp("enrol")
	if b.isSignedInAs(ada); s.storedKinds(u) == "" || !s.passwordIs(ada, goodPassword) {
		t.Errorf("the user has %q", s.storedKinds(u))
	}
}

// AC-64, AC-118: one mail is enough for both.
func TestAUserWithAPasswordProvesTheAddressWithTheFirstFactor(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, required)
		u := s.seed(ada, goodPassword, false)
		thief := s.browser().startSession(u, time.Minute, "pwd").isSignedInAs(ada)
		b := s.browser().signIn(ada, goodPassword).isAt(enrol).post(enrol, "code", s.code()).want(200)
		a, _ := b.addApp("enrol")
		if b.isSignedInAs(ada); s.user(ada).EmailVerified.IsZero() || len(s.sent(ada)) != 2 {
			t.Errorf("the address is proven at %v, with %d mails", s.user(ada).EmailVerified, len(s.sent(ada)))
		}
		thief.isSignedInAs("")
		s.half().post(secondFactor, "code", a.code(t, 0)).isSignedInAs(ada)
	})
}

// AC-61: an app that is there already may be that of another person, so the proof of the address
// comes first, and removes it.
func TestAnAppOfBeforeTheProofIsNotAskedForWhereOneIsRequired(t *testing.T) {
	t.Parallel()
	s := newSite(t, false, required)
	u := s.seed(ada, goodPassword, false)
	s.trojans(u)
	b := s.browser().signIn(ada, goodPassword).isAt("/auth/account/prove").post("/auth/account/prove", "code", s.code())
	b.isAt(enrol).isSignedInAs("")
	if kinds := s.storedKinds(u); kinds != "password" {
		t.Errorf("after the proof the user has %q", kinds)
	}
	b.addApp("enrol")
	b.isSignedInAs(ada)
}

// AC-61: an error after the proof leaves no session of before.
func TestAnEnrolmentThatFailsAfterTheProofEndsTheSessionsOfBefore(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		refuses := false
		s := withAcme(t, tokens, authtest.Person{Subject: "1", Email: ada}, required, func(c *pintle.Config, _ *account.Options) {
			c.Callbacks.Hold = func(context.Context, *pintle.PendingSignIn) (string, error) {
				if refuses {
					return "", &pintle.Error{Code: pintle.CodeAccessDenied}
				}
				return "", nil
			}
		})
		b := s.browser().get("/auth/signin").post("/auth/signin/acme").isAt(enrol)
		thief := s.browser().startSession(s.user(ada), time.Minute, "fed").isSignedInAs(ada)
		b.post(enrol, "code", s.code()).want(200)
		key, a := b.key()
		b.post(enrol, "key", key, "code", a.code(t, 0)).want(200)
		refuses = true
		b.post(enrol, "saved", "1").isSignedInAs("")
		if s.user(ada).EmailVerified.IsZero() {
			t.Fatal("the address is not proven")
		}
		thief.isSignedInAs("")
	})
}

// AT-54, AC-118
func TestASignInThatWaitsForAFirstFactorReplacesNone(t *testing.T) {
	s := newSite(t, false, required)
	s.seed(ada, goodPassword, true)
	thief := s.browser().signIn(ada, goodPassword).isAt(enrol)
	thief.post(enrol, "code", s.code()).want(200)
	key, a := thief.key()
	owner := s.browser().signIn(ada, goodPassword)
	owner.post(enrol, "code", s.code())
	own, _ := owner.addApp("enrol")
	owner.isSignedInAs(ada)

	thief.post(enrol, "key", key, "code", a.code(t, 0)).want(403).isSignedInAs("")
	s.half().get(enrol).want(403)
	half := s.half()
	half.post(enrol, "key", key, "code", a.code(t, 0)).want(403)
	half.get("/auth/account/totp").isAt("/auth/signin")
	half.post("/auth/account/totp", "key", key, "code", a.code(t, 0)).want(401)
	half.post("/auth/account/recovery-codes", "new", "1").want(401)
	half.post("/auth/account/factor", "id", s.totpRow().ID, "action", "remove").want(401)
	s.half().post(secondFactor, "code", a.code(t, 0)).want(422).post(secondFactor, "code", own.code(t, 0)).isSignedInAs(ada)
}

func TestAFirstFactorThatWasAddedMeanwhileStays(t *testing.T) {
	s := newSite(t, false, required)
	s.seed(ada, goodPassword, true)
	b := s.browser().signIn(ada, goodPassword).isAt(enrol)
	b.post(enrol, "code", s.code()).want(200)
	key, a := b.key()
	b.post(enrol, "key", key, "code", a.code(t, 0)).want(200).says("Save your recovery codes")
	other := s.browser().signIn(ada, goodPassword)
	other.post(enrol, "code", s.code())
	theirs, _ := other.addApp("enrol")
	b.post(enrol, "saved", "1").isSignedInAs("")
	s.half().post(secondFactor, "code", a.code(t, 1)).want(422).post(secondFactor, "code", theirs.code(t, 0)).isSignedInAs(ada)
}

// AC-119
func TestAnOperatorTakesALostFactorAway(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s, a, codes := withApp(t, tokens)
		session := s.half().post(secondFactor, "code", a.code(t, 0)).isSignedInAs(ada)
		if err := s.accounts.Operators().ResetSecondFactor(t.Context(), s.userID()); err != nil {
			t.Fatal(err)
		}
		s.wantMail(ada, "second factor")
		session.isSignedInAs("")
		// The next sign-in proves the mailbox and adds a factor, whatever the policy.
		b := s.browser().signIn(ada, goodPassword).isAt(enrol).isSignedInAs("")
		b.post(secondFactor, "code", codes[0]).want(403).isSignedInAs("")
		b.post(enrol, "code", s.code()).want(200)
		second, _ := b.addApp("enrol")
		b.isSignedInAs(ada)
		s.half().post(secondFactor, "code", a.code(t, 1)).want(422).post(secondFactor, "code", second.code(t, 0)).isSignedInAs(ada)
		if state, err := s.rows.State(t.Context(), s.userID()); state.Must != "" || err != nil {
			t.Errorf("the user still must do %q, %v", state.Must, err)
		}
		if err := s.accounts.Operators().ResetSecondFactor(t.Context(), "no such user"); err == nil {
			t.Error("a user who does not exist has been reset")
		}
	})
}

func TestTheMailOfAnOperatorHasALinkIfTheAddressOfTheSiteIsKnown(t *testing.T) {
	for _, url := range []string{"", "https://app.example.com"} {
		s := newSite(t, false, func(c *pintle.Config, _ *account.Options) { c.URL = url })
		u := s.seed(ada, goodPassword, true)
		s.addTOTP(u.ID)
		if err := s.accounts.Operators().ResetSecondFactor(t.Context(), u.ID); err != nil {
			t.Fatal(err)
		}
		m := s.wantMail(ada, "second factor")
		want := ""
		if url != "" {
			want = url + "/auth/signin"
		}
		if m.URL != want || strings.Contains(m.Text, "http://") {
			t.Errorf("with the URL %q the mail leads to %q", url, m.URL)
		}
	}
}

// AT-1
func TestAResetByAnOperatorKeepsTheChangeOfThePasswordDue(t *testing.T) {
	s, _, _ := withApp(t, false)
	state, err := s.rows.State(t.Context(), s.userID())
	if err != nil {
		t.Fatal(err)
	}
	state.Must = "password"
	if err := s.rows.ChangeState(t.Context(), state); err != nil {
		t.Fatal(err)
	}
	if err := s.accounts.Operators().ResetSecondFactor(t.Context(), s.userID()); err != nil {
		t.Fatal(err)
	}
	b := s.browser().signIn(ada, goodPassword).isAt(enrol)
	b.post(enrol, "code", s.code())
	b.addApp("enrol")
	b.isAt("/auth/account/must-change").isSignedInAs("")
}

// AC-100
func TestSecondFactorsThatAreOffAreNeitherAskedForNorAdded(t *testing.T) {
	s, _, _ := withApp(t, false)
	off := newSite(t, false, func(cfg *pintle.Config, o *account.Options) { cfg.Store, o.SecondFactor.Off = s.store, true })
	b := off.browser().signIn(ada, goodPassword).isSignedInAs(ada)
	b.get("/auth/account/totp").want(http.StatusNotFound)
}
