package account_test

import (
	"context"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
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
	b.get("/auth/account/totp").want(403)
}
