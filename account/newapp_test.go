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
	b.get("/auth/account/totp").isAt("/auth/account/prove")
	b.post("/auth/account/totp", "key", key, "code", a.code(t, 0)).want(403)
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
