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

// AC-109, AC-113
func TestAnAppCountsOnceTheRecoveryCodesAreSaved(t *testing.T) {
	s := newSite(t, true)
	s.seed(ada, goodPassword, true)
	b := s.browser().signIn(ada, goodPassword).get("/auth/account/totp")
	key, a := b.key()
	used := a.code(t, 0)
	b.post("/auth/account/totp", "key", key, "code", used).isAt("/auth/account/recovery-codes")
	codes := b.codes()
	s.browser().signIn(ada, goodPassword).isSignedInAs(ada) // nothing is asked for yet
	b.post("/auth/account/recovery-codes").want(422)
	if again := b.codes(); !slices.Equal(again, codes) {
		t.Error("the page shows other codes after the tick was missing")
	}
	text := b.get("/auth/account/recovery-codes?format=text")
	if got := text.header.Get("Content-Disposition"); got != `attachment; filename="recovery-codes.txt"` {
		t.Errorf("the file is %q", got)
	}
	for _, code := range codes {
		text.says(code)
	}
	if rows, err := s.rows.Factors(t.Context(), s.userID()); len(rows) != 1 || err != nil {
		t.Fatalf("before the tick there are %d rows, %v", len(rows), err)
	}
	b.post("/auth/account/recovery-codes", "saved", "1").isAt("/auth/account/factors").isSignedInAs(ada)
	b.get("/auth/account/recovery-codes")
	if len(b.codes()) != 0 {
		t.Error("the codes are shown again")
	}
	// AT-51: the code that confirmed the app is used.
	s.half().post(secondFactor, "code", used).want(422).post(secondFactor, "code", a.code(t, 1)).isSignedInAs(ada)
}

// AT-54: another user, and a session that has ended, save no codes.
func TestCodesAreSavedByTheUserWhoHasSeenThem(t *testing.T) {
	s := newSite(t, false)
	s.seed(ada, goodPassword, true)
	s.seed("bob@example.com", goodPassword, true)
	b := s.browser().signIn(ada, goodPassword).get("/auth/account/totp")
	key, a := b.key()
	b.post("/auth/account/totp", "key", key, "code", a.code(t, 0)).says("Save your recovery codes")
	b.signIn("bob@example.com", goodPassword).isSignedInAs("bob@example.com")
	b.post("/auth/account/recovery-codes", "saved", "1").want(410)
	b.post("/auth/account/totp", "key", key, "code", a.code(t, 0)).want(410)
	for _, email := range []string{ada, "bob@example.com"} {
		if rows, _ := s.rows.Factors(t.Context(), s.user(email).ID); len(rows) != 1 {
			t.Errorf("%s has %d rows", email, len(rows))
		}
	}
}

// AT-58, AC-12, AC-108
func TestTheSecretIsOnOnePageOnly(t *testing.T) {
	s := newSite(t, false)
	s.seed(ada, goodPassword, true)
	b := s.browser().signIn(ada, goodPassword).get("/auth/account/totp")
	key, a := b.key()
	if got := b.header.Get("Cache-Control"); !strings.Contains(got, "no-store") {
		t.Errorf("the page may be kept: %q", got)
	}
	if again := b.post("/auth/account/totp", "key", key, "code", a.code(t, 7)).want(422); true {
		if _, same := again.key(); same != a {
			t.Error("after a wrong code the page has another secret than the app")
		}
	}
	if _, other := b.get("/auth/account/totp").key(); other == a {
		t.Error("the page shows the secret a second time")
	}
	b.post("/auth/account/totp", "key", key, "code", a.code(t, 0))
	codes := b.codes()
	b.post("/auth/account/recovery-codes", "saved", "1").isAt("/auth/account/factors")
	secrets := append(codes, a.secret, strings.ReplaceAll(codes[0], "-", ""))
	rows, err := s.rows.Factors(t.Context(), s.userID())
	if err != nil {
		t.Fatal(err)
	}
	var stored strings.Builder
	for _, row := range rows {
		stored.WriteString(row.Secret + row.Name + row.ID)
	}
	seen := map[string]string{"log": s.log(), "store": stored.String()}
	for _, path := range []string{"factors", "recovery-codes", "me", ""} {
		seen[path] = b.get(strings.TrimSuffix("/auth/account/"+path, "/")).page
	}
	for _, m := range s.sent(ada) {
		seen["mail "+m.Subject] = m.Text + m.HTML
	}
	for where, text := range seen {
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s has a secret", where)
			}
		}
	}
}

// AC-110
func TestAppsAreListedNamedAndRemoved(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s, a, _ := withApp(t, tokens)
		b := s.half().post(secondFactor, "code", a.code(t, 0)).isSignedInAs(ada)
		other := s.half().post(secondFactor, "code", a.code(t, 1)).isSignedInAs(ada)
		b.get("/auth/account/totp")
		key, second := b.key()
		b.post("/auth/account/totp", "key", key, "code", second.code(t, 0), "name", "Tablet <1>").isAt("/auth/account/factors").
			says("Tablet &lt;1&gt;").says("Phone").says("You have <bdi>10</bdi> codes left")
		if other.who() != "" {
			t.Error("another session goes on after an app was added")
		}
		list := s.browserWith(b).getJSON("/auth/account/factors")["factors"].([]any)
		if len(list) != 2 {
			t.Fatalf("the list is %v", list)
		}
		first, last := list[0].(map[string]any), list[1].(map[string]any)
		b.post("/auth/account/factor", "id", last["id"].(string), "action", "rename", "name", " Old phone ").says("Old phone").says("Your changes are saved")
		for _, name := range []string{strings.Repeat("x", 65), "a\nb", "\xff"} {
			b.post("/auth/account/factor", "id", last["id"].(string), "action", "rename", "name", name).want(422).says("cannot be used")
		}
		b.post("/auth/account/factor", "id", "other", "action", "remove").want(404)
		b.get("/auth/account/factors")
		b.post("/auth/account/factor", "id", first["id"].(string), "action", "remove").says("The app is removed").isSignedInAs(ada)
		s.wantMail(ada, "second factor was removed")
		s.half() // the other app is still asked for
		b.post("/auth/account/factor", "id", last["id"].(string), "action", "remove").isSignedInAs(ada)
		if rows, err := s.rows.Factors(t.Context(), s.userID()); len(rows) != 1 || err != nil {
			t.Errorf("%d rows are left, %v", len(rows), err)
		}
		s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
	})
}

func (b *browser) getJSON(path string) map[string]any {
	b.t.Helper()
	r := b.request(http.MethodGet, path, http.NoBody)
	r.Header.Set("Accept", "application/json")
	return b.send(r).json()
}

// AC-111
func TestTheLastFactorOfAUserWhoNeedsOneStays(t *testing.T) {
	needs := true
	s, a, _ := withApp(t, false, func(_ *pintle.Config, o *account.Options) {
		o.SecondFactor.Required = func(_ context.Context, p *pintle.PendingSignIn) (bool, error) {
			return needs && p.User.Email == ada && p.Request != nil && p.Account != nil && p.Authentication.Provider != "", nil
		}
		needs = false // until there is one
	})
	b := s.half().post(secondFactor, "code", a.code(t, 0)).isSignedInAs(ada)
	needs = true
	b.get("/auth/account/factors").post("/auth/account/factor", "id", s.totpRow().ID, "action", "remove").want(403)
	if answer := b.postJSON("/auth/account/factor", map[string]any{"id": s.totpRow().ID, "action": "remove"}); answer["error"] != "required_by_policy" {
		t.Errorf("a script gets %v", answer)
	}
	needs = false
	b.post("/auth/account/factor", "id", s.totpRow().ID, "action", "remove").want(200).isSignedInAs(ada)
}

// AC-110
func TestAUserHasFiveApps(t *testing.T) {
	s, a, _ := withApp(t, false)
	b := s.half().post(secondFactor, "code", a.code(t, 0)).isSignedInAs(ada)
	for range 4 {
		b.get("/auth/account/totp").want(200)
		key, next := b.key()
		b.post("/auth/account/totp", "key", key, "code", next.code(t, 0)).want(200)
	}
	b.get("/auth/account/totp").want(422)
	b.get("/auth/account/factors")
	if strings.Contains(b.page, "/auth/account/totp") {
		t.Error("the list has a link to a sixth")
	}
}

// AC-3, AC-120
func TestAnAppNeedsAProvenAddress(t *testing.T) {
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	b := s.browser().signIn(ada, goodPassword).get("/auth/account/totp")
	key, a := b.key()
	if _, err := s.store.UpdateUser(t.Context(), u.ID, pintle.UserUpdate{EmailVerified: &time.Time{}}); err != nil {
		t.Fatal(err)
	}
	b.get("/auth/account/totp").want(403)
	b.post("/auth/account/totp", "key", key, "code", a.code(t, 0)).want(403)
}

// AC-113
func TestNewRecoveryCodesEndTheOldOnes(t *testing.T) {
	s, a, old := withApp(t, true)
	for _, code := range old[:7] {
		s.half().post(secondFactor, "code", code).isSignedInAs(ada)
	}
	b := s.half().post(secondFactor, "code", a.code(t, 0)).isSignedInAs(ada).get("/auth/account/factors").
		says("You have <bdi>3</bdi> codes left").says("few recovery codes left")
	b.get("/auth/account/recovery-codes").says("You have <bdi>3</bdi> codes left").post("/auth/account/recovery-codes", "new", "1")
	fresh := b.codes()
	s.half().post(secondFactor, "code", old[7]).isSignedInAs(ada) // until the new ones are saved
	b.post("/auth/account/recovery-codes", "saved", "1").isAt("/auth/account/factors").says("You have <bdi>10</bdi> codes left").isSignedInAs(ada)
	s.wantMail(ada, "New recovery codes")
	if rows, err := s.rows.Factors(t.Context(), s.userID()); len(rows) != 12 || err != nil { // password, app, codes
		t.Errorf("%d rows are left, %v", len(rows), err)
	}
	s.half().post(secondFactor, "code", old[8]).want(422).post(secondFactor, "code", fresh[0]).isSignedInAs(ada)
	b.post("/auth/account/recovery-codes", "saved", "1").want(410)
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

// AT-54, AC-110: a session whose proofs are old, or are a password alone, changes no factor.
func TestAStaleSessionChangesNoFactor(t *testing.T) {
	s, _, _ := withApp(t, false)
	for name, b := range map[string]*browser{
		"old":  s.browser().startSession(s.user(ada), time.Hour, "pwd", "otp"),
		"weak": s.browser().startSession(s.user(ada), 0, "pwd"),
	} {
		id := s.totpRow().ID
		for _, form := range [][]string{
			{"/auth/account/factor", "id", id, "action", "remove"}, {"/auth/account/totp", "key", "k"}, {"/auth/account/recovery-codes", "new", "1"},
		} {
			if b.post(form[0], form[1:]...); b.status != http.StatusForbidden {
				t.Errorf("the %s session posts to %s: %d", name, form[0], b.status)
			}
		}
		if s.totpRow().ID != id {
			t.Errorf("the %s session has removed the app", name)
		}
	}
}
