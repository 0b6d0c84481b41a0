package account_test

import (
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// resetLink asks for a link, and returns it.
func (s *site) resetLink(email string) string {
	s.t.Helper()
	s.browser().get("/auth/account/forgot").post("/auth/account/forgot", "email", email).isAt("/auth/account/forgot-sent")
	return s.wantMail(email, "A new password").URL
}

const newPassword = "another long password"

func TestASignInPageOfTheApplicationLearnsWhatWasDone(t *testing.T) {
	s := newSite(t, false, func(c *pintle.Config, _ *account.Options) { c.Pages.SignIn = "/login" })
	b := s.browser().stay().get("/auth/signin?notice=password_reset").want(http.StatusFound)
	if to := b.header.Get("Location"); !strings.HasSuffix(to, "&notice=password_reset") || !strings.HasPrefix(to, "/login?callbackUrl=") {
		t.Errorf("the browser is sent to %q", to)
	}
}

// AT-11, AT-21, AT-22, AC-74
func TestAResetReplacesThePasswordAndMakesNoSession(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		u := s.seed("ada@example.com", goodPassword, true)
		thief := s.browser().signIn("ada@example.com", goodPassword).isSignedInAs("ada@example.com")
		other := s.resetLink("ada@example.com")
		b := s.browser().get(s.resetLink("ada@example.com")).isAt("/auth/account/reset").want(http.StatusOK).says("ada@example.com")
		if b.at.RawQuery != "" {
			t.Errorf("the token is in the URL of the page: %s", b.at)
		}
		b.post("/auth/account/reset", "password", newPassword).isAt("/auth/signin").says("Your new password is saved").isSignedInAs("")
		thief.isSignedInAs("")
		s.wantMail("ada@example.com", "was changed")
		s.browser().get(other).want(http.StatusGone)
		b.get("/auth/account/reset").want(http.StatusForbidden)
		s.browser().signIn("ada@example.com", goodPassword).isSignedInAs("")
		s.browser().signIn("ada@example.com", newPassword).isSignedInAs("ada@example.com")
		if got := s.user("ada@example.com"); got.ID != u.ID || got.EmailVerified.IsZero() {
			t.Errorf("the user is %v", got)
		}
	})
}

// AT-22, AC-74
func TestAResetEndsASignInThatWaits(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		u := s.seed("ada@example.com", goodPassword, true)
		s.changeState(u.ID, func(state *accountstore.State) { state.Must = "password" })
		thief := s.browser().signIn("ada@example.com", goodPassword).isAt("/auth/account/must-change").want(http.StatusOK)
		s.browser().get(s.resetLink("ada@example.com")).post("/auth/account/reset", "password", newPassword).isAt("/auth/signin")
		thief.post("/auth/account/must-change", "password", "the password of a thief").want(http.StatusForbidden).isSignedInAs("")
		s.browser().signIn("ada@example.com", newPassword).isSignedInAs("ada@example.com")
	})
}

// AT-21, AC-74, ASVS-6.4.3, SH-40
func TestAResetNeedsTheSecondFactorFirst(t *testing.T) {
	s := newSite(t, false)
	u := s.seed("ada@example.com", goodPassword, true)
	s.addTOTP(u.ID)
	b := s.browser().get(s.resetLink("ada@example.com")).says(`name="code"`)
	b.post("/auth/account/reset", "password", newPassword).want(http.StatusUnauthorized).says("Your second factor is needed")
	if code := b.postJSON("/auth/account/reset", map[string]any{"password": newPassword})["error"]; code != "second_factor_required" {
		t.Errorf("the error is %v", code)
	}
	for _, code := range []string{"x", "0000-0000-0000-0000"} {
		b.get("/auth/account/reset").post("/auth/account/reset", "password", newPassword, "code", code).want(http.StatusUnprocessableEntity)
	}
	if !s.passwordIs("ada@example.com", goodPassword) {
		t.Error("the password has changed")
	}
	for range 5 {
		b.post("/auth/account/reset", "password", newPassword, "code", "0000-0000-0000-0000")
	}
	b.get("/auth/account/reset").want(http.StatusGone)
}

// passwordIs reports whether a password signs a user in, apart from what else is asked.
func (s *site) passwordIs(email, chosen string) bool {
	s.t.Helper()
	rows, err := s.rows.Factors(s.t.Context(), s.user(email).ID)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, row := range rows {
		if row.Kind == "password" {
			right, err := s.hasher.Verify(s.t.Context(), row.Secret, chosen)
			if err != nil {
				s.t.Fatal(err)
			}
			return right
		}
	}
	return false
}

// AC-73
func TestOnlyAProvenAddressGetsALink(t *testing.T) {
	s := newSite(t, false)
	s.seed("ada@example.com", goodPassword, false)
	for _, email := range []string{"ada@example.com", "none@example.com"} {
		s.browser().get("/auth/account/forgot").post("/auth/account/forgot", "email", email)
		if m := s.wantMail(email, "No account"); m.Token != "" || strings.Contains(m.Text, "token=") {
			t.Errorf("the mail to %s has a token: %s", email, m.Text)
		}
	}
}

// AT-23, AC-20
func TestATokenOfAResetIsNotGuessedAndNoOtherFitsIt(t *testing.T) {
	s := newSite(t, false)
	s.seed("ada@example.com", goodPassword, true)
	link := s.resetLink("ada@example.com")
	at, token, _ := strings.Cut(link, "token=")
	for range 100 {
		var b [32]byte
		_, _ = rand.Read(b[:])
		s.browser().get(at + "token=" + base64.RawURLEncoding.EncodeToString(b[:])).want(http.StatusGone)
	}
	for _, wrong := range []string{"x", token[:42], token + "A", strings.ToLower(token)} {
		s.browser().get(at + "token=" + wrong).want(http.StatusGone)
	}
	s.browser().get("/auth/account/sign-up-finish?token=" + token).want(http.StatusGone)
	s.browser().signUp("grace@example.com")
	_, other, _ := strings.Cut(s.lastMail().URL, "token=")
	s.browser().get("/auth/account/reset?token=" + other).want(http.StatusGone)
	s.browser().get(link).want(http.StatusOK)
}

// AT-24, AC-74
func TestALinkEndsWithAChangeOfThePassword(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		s.seed("ada@example.com", goodPassword, true)
		link := s.resetLink("ada@example.com")
		opened := s.browser().get(link).want(http.StatusOK)
		s.browser().signIn("ada@example.com", goodPassword).get("/auth/account/password").
			post("/auth/account/password", "current", goodPassword, "password", newPassword)
		opened.post("/auth/account/reset", "password", "the password of a thief").want(http.StatusGone)
		s.browser().get(link).want(http.StatusGone)
	})
}

// AT-28, AC-74
func TestAForeignLinkSignsNoOneInAndNamesTheAddress(t *testing.T) {
	s := newSite(t, false)
	s.seed("eve@example.com", goodPassword, true)
	s.seed("ada@example.com", goodPassword, true)
	victim := s.browser().signIn("ada@example.com", goodPassword).isSignedInAs("ada@example.com")
	victim.get(s.resetLink("eve@example.com") + "&callbackUrl=/evil").says("eve@example.com").isSignedInAs("ada@example.com")
	victim.stay().post("/auth/account/reset", "password", newPassword, "callbackUrl", "/evil")
	if to := victim.header.Get("Location"); to != "/auth/signin?notice=password_reset" {
		t.Errorf("the browser is sent to %q", to)
	}
	victim.isSignedInAs("ada@example.com")
}

func TestALinkIsOfNoUseToABannedUser(t *testing.T) {
	s := newSite(t, false)
	u := s.seed("ada@example.com", goodPassword, true)
	link := s.resetLink("ada@example.com")
	s.changeState(u.ID, func(state *accountstore.State) { state.BannedUntil = accountstore.Forever })
	s.browser().get(link).want(http.StatusGone)
}

// AT-6
func TestAFloodOfMailsDoesNotSwallowANotice(t *testing.T) {
	s := newSite(t, false)
	s.seed("ada@example.com", goodPassword, true)
	thief := s.browser().signIn("ada@example.com", goodPassword)
	for range 8 {
		s.browser().get("/auth/account/forgot").post("/auth/account/forgot", "email", "ada@example.com")
	}
	thief.get("/auth/account/password").post("/auth/account/password", "current", goodPassword, "password", newPassword)
	s.wantMail("ada@example.com", "was changed")
}

// AT-9, AC-8
func TestALinkLeadsToTheConfiguredSite(t *testing.T) {
	s := newSite(t, false)
	s.seed("ada@example.com", goodPassword, true)
	for _, path := range []string{"/auth/account/forgot", "/auth/account/sign-up"} {
		for _, email := range []string{"ada@example.com", "grace@example.com"} {
			b := s.browser().get(path)
			r := b.request(http.MethodPost, path, strings.NewReader("email="+email+"&csrfToken="+b.token()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("X-Forwarded-Host", "evil.example")
			r.Header.Set("X-Forwarded-Proto", "https")
			r.Header.Set("Forwarded", "host=evil.example")
			b.send(r)
			if m := s.lastMail(); m.To != email || !strings.HasPrefix(m.URL, s.server.URL+"/") || strings.Contains(m.Text+m.HTML, "evil") {
				t.Errorf("%s: the mail to %s leads to %q", path, m.To, m.URL)
			}
		}
	}
	var o account.Options
	o.Mail = s.keepMail
	_, err := pintle.New(pintle.Config{
		Store: s.store, TrustHost: true, Secrets: []string{strings.Repeat("x", 40)}, Accounts: account.New(o),
		Getenv: func(string) string { return "" },
	})
	if err == nil || !strings.Contains(err.Error(), "TrustHost") {
		t.Errorf("TrustHost without a URL: %v", err)
	}
}
