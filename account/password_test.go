package account_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/store/memstore"
)

// AC-75
func TestAChangeOfThePasswordEndsTheOtherSessions(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		s.seed("ada@example.com", goodPassword, true)
		b := s.browser().signIn("ada@example.com", goodPassword)
		other := s.browser().signIn("ada@example.com", goodPassword).isSignedInAs("ada@example.com")
		before := b.sessionCookie()
		b.get("/auth/account/password").want(http.StatusOK)
		b.post("/auth/account/password", "current", "a wrong password", "password", newPassword).
			want(http.StatusUnprocessableEntity).says("That is not your password.")
		b.post("/auth/account/password", "current", goodPassword, "password", goodPassword).
			want(http.StatusUnprocessableEntity).says("That is the password that you have.")
		b.post("/auth/account/password", "current", goodPassword, "password", "short").
			want(http.StatusUnprocessableEntity).says("at least 15 characters")
		other.isSignedInAs("ada@example.com")
		b.stay().post("/auth/account/password", "current", goodPassword, "password", newPassword).want(http.StatusSeeOther)
		if to := b.header.Get("Location"); to != "/auth/account?notice=password_changed" {
			t.Errorf("the browser is sent to %q", to)
		}
		b.isSignedInAs("ada@example.com")
		if b.sessionCookie() == before {
			t.Error("the session is the one of before")
		}
		other.isSignedInAs("")
		s.wantMail("ada@example.com", "was changed")
		s.browser().signIn("ada@example.com", goodPassword).isSignedInAs("")
		s.browser().signIn("ada@example.com", newPassword).isSignedInAs("ada@example.com")
	})
}

// AC-75, ASVS-6.2.2, ASVS-6.2.3: the current password is the proof that the change demands.
func TestAUserWithoutASecondFactorIsAskedOnceForThePasswordToChangeIt(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withGitHub)
		u := s.seed(ada, goodPassword, true)
		s.link(u, "github")
		b := s.browser().startSession(u, 24*time.Hour, "fed").get("/auth/account/password").isAt("/auth/account/password")
		if !strings.Contains(b.page, `name="current"`) || strings.Contains(b.page, `name="remove"`) {
			t.Errorf("the page of an old session is %s", b.text())
		}
		b.says(`callbackUrl=%2Fauth%2Faccount%2Fpassword&amp;max_age=600">Remove the password`)
		b.post("/auth/account/password", "current", "a wrong password", "password", newPassword).want(http.StatusUnprocessableEntity)
		if !s.passwordIs(ada, goodPassword) {
			t.Fatal("a wrong password changed the password")
		}
		b.stay().post("/auth/account/password", "current", goodPassword, "password", newPassword).want(http.StatusSeeOther)
		if !s.passwordIs(ada, newPassword) {
			t.Error("the password has not changed")
		}
		calls := s.demand("/danger", strongest)
		if b.get("/danger"); *calls != 1 {
			t.Error("the current password does not count as a proof")
		}
	})
}

// AC-75, AC-76, AC-77
func TestAnOldSessionChangesNothingElseOfThePassword(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withGitHub, withPasskeys(&echo{}))
		known, first := s.seed(ada, goodPassword, true), s.seed(bob, "", true)
		app, key := s.seed("app@example.com", goodPassword, true), s.keys()
		for _, u := range []*pintle.User{known, first, app, key} {
			s.link(u, "github")
		}
		s.app(app)
		for name, try := range map[string]struct {
			user *pintle.User
			form []string
		}{
			"removal":                          {known, []string{"remove", "1"}},
			"removal with the password":        {known, []string{"remove", "1", "current", goodPassword, "password", newPassword}},
			"no current password":              {known, []string{"password", newPassword}},
			"first password":                   {first, []string{"password", newPassword}},
			"first password with a former one": {first, []string{"current", "", "password", newPassword}},
			"a user with an app":               {app, []string{"current", goodPassword, "password", newPassword}},
			"a user with a passkey":            {key, []string{"current", goodPassword, "password", newPassword}},
		} {
			before := s.fingerprint(try.user)
			b := s.browser().startSession(try.user, 24*time.Hour, "fed")
			if b.get("/auth/account/password"); try.user != known && b.at.Path != "/auth/account/confirm" {
				t.Errorf("%s: the browser is at %s", name, b.at)
			}
			b.post("/auth/account/password", try.form...).want(http.StatusForbidden).says("Nothing was done")
			if after := s.fingerprint(try.user); after != before {
				t.Errorf("%s: the account was changed from\n%s\nto\n%s", name, before, after)
			}
		}
	})
}

// AC-80
func TestASecondFactorOfAdministratorsAllowsNoShorterPasswords(t *testing.T) {
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		o.SecondFactor.Required = func(context.Context, *pintle.PendingSignIn) (bool, error) { return false, nil }
	})
	b := s.browser().signUp("ada@example.com")
	b.post("/auth/account/sign-up-sent", "code", s.code())
	b.post("/auth/account/sign-up-finish", "password", "quite a secret").
		want(http.StatusUnprocessableEntity).says("at least 15 characters")
}

// sessionCookie is the value of the session's cookie.
func (b *browser) sessionCookie() string {
	r, _ := http.NewRequest(http.MethodGet, b.server.URL, nil)
	for _, c := range b.client.Jar.Cookies(r.URL) {
		if c.Name == "authjs.session-token" {
			return c.Value
		}
	}
	return ""
}

func TestGuessesAtTheCurrentPasswordAreLimited(t *testing.T) {
	s := newSite(t, false)
	s.seed("ada@example.com", goodPassword, true)
	b := s.browser().signIn("ada@example.com", goodPassword).get("/auth/account/password")
	for range 12 {
		b.post("/auth/account/password", "current", "a wrong password", "password", newPassword)
	}
	b.want(http.StatusTooManyRequests)
	b.post("/auth/account/password", "current", goodPassword, "password", newPassword).want(http.StatusTooManyRequests)
}

// AT-25, AC-76
func TestAKnownPasswordIsNotReplacedByAFirstOne(t *testing.T) {
	s := newSite(t, false)
	s.seed("ada@example.com", goodPassword, true)
	b := s.browser().signIn("ada@example.com", goodPassword).get("/auth/account/password")
	if code := b.postJSON("/auth/account/password", map[string]any{"password": newPassword})["error"]; code != "has_password" {
		t.Errorf("the error is %v", code)
	}
	b.want(http.StatusForbidden)
	if !s.passwordIs("ada@example.com", goodPassword) {
		t.Error("the password has changed")
	}
}

// AT-12, AC-3, AC-76
func TestAFirstPasswordNeedsAProvenAddress(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withGitHub)
		u := s.seed("ada@example.com", "", false)
		s.link(u, "github")
		b := s.browser().startSession(u, 0, "fed")
		elsewhere := s.browser().startSession(u, 0, "fed").isSignedInAs("ada@example.com")
		if got := b.getJSON("/auth/account/password"); got["error"] != "address_unproved" || b.status != http.StatusForbidden {
			t.Errorf("a script gets %d %v", b.status, got)
		}
		b.postJSON("/auth/account/password", map[string]any{"password": goodPassword})
		b.want(http.StatusForbidden)
		b.get("/auth/account/password").isAt("/auth/account/prove").says("Send the code")
		b.post("/auth/account/password", "password", goodPassword).want(http.StatusForbidden).says("/auth/account/prove?callbackUrl=%2Fauth%2Faccount%2Fpassword")

		back := `name="callbackUrl" value="` + s.server.URL + `/auth/account/password"`
		b.get("/auth/account/password").isAt("/auth/account/prove").says(back)
		if len(s.mails) > 0 {
			t.Error("a page that was shown sent a mail")
		}
		b.post("/auth/account/prove", "again", "1", "callbackUrl", "/auth/account/password").says(`name="code"`)
		if n := strings.Count(b.page, back); n != 2 {
			t.Errorf("%d of two forms lead back", n)
		}
		b.post("/auth/account/prove", "code", other(s.code())).want(http.StatusUnprocessableEntity)
		b.stay().post("/auth/account/prove", "code", s.code(), "callbackUrl", "/auth/account/password").want(http.StatusSeeOther)
		b.stays = false
		b.isSignedInAs("ada@example.com")
		elsewhere.isSignedInAs("") // it may be of a person who used the address before its owner did
		if s.user("ada@example.com").EmailVerified.IsZero() {
			t.Fatal("the address is not proven")
		}
		b.get("/auth/account/password").says("Set a password").stay().post("/auth/account/password", "password", goodPassword)
		s.wantMail("ada@example.com", "password was set")
		s.browser().signIn("ada@example.com", goodPassword).isSignedInAs("ada@example.com")
	})
}

// AC-77
func TestAPasswordIsRemovedUnlessItIsTheLastWayIn(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withGitHub)
		u := s.seed("ada@example.com", goodPassword, true)
		b := s.browser().signIn("ada@example.com", goodPassword).get("/auth/account/password")
		if strings.Contains(b.page, `name="remove"`) {
			t.Error("the page offers to remove the last way in")
		}
		b.post("/auth/account/password", "remove", "1").want(http.StatusForbidden).says("could not sign in")
		s.link(u, "github")
		b.get("/auth/account/password").says(`name="remove"`).stay().post("/auth/account/password", "remove", "1").want(http.StatusSeeOther)
		b.isSignedInAs("ada@example.com")
		s.wantMail("ada@example.com", "was removed")
		s.browser().signIn("ada@example.com", goodPassword).isSignedInAs("")
		if s.passwordIs("ada@example.com", goodPassword) {
			t.Error("the password is still stored")
		}
	})
}

// imports is a former table with the password of every user.
func imports(s **site, chosen string) func(*pintle.Config, *account.Options) {
	return func(_ *pintle.Config, o *account.Options) {
		o.Passwords.Import = func(ctx context.Context, _ *pintle.User) (string, error) { return (*s).hasher.Hash(ctx, chosen) }
	}
}

// AC-72
func TestAPasswordOfTheFormerTableMovesAndDoesNotComeBack(t *testing.T) {
	var s *site
	s = newSite(t, false, imports(&s, goodPassword), withGitHub)
	u := s.seed("ada@example.com", "", true)
	s.link(u, "github")
	b := s.browser().signIn("ada@example.com", goodPassword).isSignedInAs("ada@example.com")
	if !s.passwordIs("ada@example.com", goodPassword) {
		t.Error("the password has not moved")
	}
	b.get("/auth/account/password").stay().post("/auth/account/password", "remove", "1").want(http.StatusSeeOther)
	s.browser().signIn("ada@example.com", goodPassword).isSignedInAs("")
	b.get("/auth/account/password").says("Set a password").post("/auth/account/password", "password", newPassword)
	s.browser().signIn("ada@example.com", newPassword).isSignedInAs("ada@example.com")
}

// AC-78
func TestAUserWhoMustChangeThePasswordHasNoSessionBefore(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		u := s.seed("ada@example.com", goodPassword, true)
		old := s.browser().signIn("ada@example.com", goodPassword).isSignedInAs("ada@example.com")
		s.changeState(u.ID, func(state *accountstore.State) { state.Must = "password" })
		b := s.browser().get("/auth/signin?callbackUrl=/inside").
			post("/auth/callback/credentials", "email", "ada@example.com", "password", goodPassword).
			isAt("/auth/account/must-change").isSignedInAs("")
		b.post("/auth/account/must-change", "password", goodPassword).want(http.StatusUnprocessableEntity).says("the password that you have")
		b.post("/auth/account/must-change", "password", newPassword).isAt("/inside").isSignedInAs("ada@example.com")
		old.isSignedInAs("")
		if state, _ := s.rows.State(t.Context(), u.ID); state.Must != "" {
			t.Errorf("the user still must %q", state.Must)
		}
		s.browser().signIn("ada@example.com", newPassword).isAt("/").isSignedInAs("ada@example.com")
	})
}

func TestThePageForANewPasswordIsForASignInThatWaitsForIt(t *testing.T) {
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		o.SecondFactor.Issuer = "Example"
	})
	u := s.seed("ada@example.com", goodPassword, true)
	s.addTOTP(u.ID)
	b := s.browser().signIn("ada@example.com", goodPassword) // waits for the second factor
	b.get("/auth/account/must-change").want(http.StatusForbidden)
	b.postJSON("/auth/account/must-change", map[string]any{"password": newPassword})
	b.want(http.StatusForbidden)
	s.browser().get("/auth/account/must-change").want(http.StatusForbidden)
	if !s.passwordIs("ada@example.com", goodPassword) {
		t.Error("the password has changed")
	}
}

// AC-64
func TestAPasswordAloneSignsNoOneInWhoseAddressIsUnproven(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		u := s.seed("ada@example.com", goodPassword, false)
		attacker := s.browser().startSession(u, 0, "fed").isSignedInAs("ada@example.com")
		b := s.browser().signIn("ada@example.com", goodPassword).isAt("/auth/account/prove").isSignedInAs("")
		b.says("ada@example.com")
		b.post("/auth/account/prove", "code", other(s.code())).want(http.StatusUnprocessableEntity).isSignedInAs("")
		b.post("/auth/account/prove", "again", "1")
		b.post("/auth/account/prove", "code", s.code()).isSignedInAs("ada@example.com")
		attacker.isSignedInAs("")
		if s.user("ada@example.com").EmailVerified.IsZero() {
			t.Error("the address is not proven")
		}
		s.browser().signIn("ada@example.com", goodPassword).isAt("/").isSignedInAs("ada@example.com")
	})
}

// AC-22
func TestACodeOfOneSignInIsOfNoUseToAnother(t *testing.T) {
	s := newSite(t, false)
	s.seed("ada@example.com", goodPassword, false)
	one := s.browser().signIn("ada@example.com", goodPassword)
	code := s.code()
	two := s.browser().signIn("ada@example.com", goodPassword).isAt("/auth/account/prove")
	two.post("/auth/account/prove", "code", code).want(http.StatusUnprocessableEntity)
	one.post("/auth/account/prove", "code", code).isSignedInAs("ada@example.com")
}

// AC-70
func TestABannedUserIsDeniedAfterTheRightPassword(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		u := s.seed("ada@example.com", goodPassword, true)
		s.changeState(u.ID, func(state *accountstore.State) {
			state.BannedUntil = time.Now().Add(time.Hour).Truncate(time.Millisecond)
		})
		b := s.browser().signIn("ada@example.com", "a wrong password")
		if !strings.Contains(b.at.String(), "CredentialsSignin") {
			t.Errorf("after a wrong password the browser is at %s", b.at)
		}
		b.signIn("ada@example.com", goodPassword).isSignedInAs("")
		if !strings.Contains(b.at.String(), "AccessDenied") {
			t.Errorf("after the right password the browser is at %s", b.at)
		}
		s.changeState(u.ID, func(state *accountstore.State) {
			state.BannedUntil = time.Now().Add(-time.Hour).Truncate(time.Millisecond)
		})
		b.signIn("ada@example.com", goodPassword).isSignedInAs("ada@example.com")
	})
}

// AT-8, AT-31, AC-31: the password changes between the check of the old one and the session.
func TestASignInWithAnOldPasswordDoesNotOutliveItsChange(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		under, goOn := make(chan struct{}), make(chan struct{})
		var once sync.Once
		waits := false
		s := newSite(t, tokens, func(c *pintle.Config, _ *account.Options) {
			c.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) {
				if waits {
					once.Do(func() { close(under); <-goOn })
				}
				return "", nil
			}
		})
		u := s.seed("ada@example.com", goodPassword, true)
		thief := s.browser().get("/auth/signin")
		form := thief.token()
		owner := s.browser().get(s.resetLink("ada@example.com"))
		waits = true
		done := make(chan struct{})
		go func() {
			defer close(done)
			thief.postQuietly("/auth/callback/credentials", form, "email", "ada@example.com", "password", goodPassword)
		}()
		<-under
		owner.post("/auth/account/reset", "password", newPassword).isAt("/auth/signin")
		close(goOn)
		<-done
		thief.isSignedInAs("")
		if rows, _ := s.rows.Factors(t.Context(), u.ID); len(rows) != 1 || !s.passwordIs("ada@example.com", newPassword) {
			t.Error("the new password is not the one that is stored")
		}
	})
}

// AT-26, AC-71, AC-80
func TestPasswordsAreBytesAndBounded(t *testing.T) {
	s := newSite(t, false)
	long := strings.Repeat("0123456789ab", 6) // 72 bytes
	signUp := func(chosen string) *browser {
		b := s.browser().signUp("ada@example.com").get(s.lastMail().URL)
		return b.post("/auth/account/sign-up-finish", "password", chosen)
	}
	signUp(strings.Repeat("x", 1025)).want(http.StatusUnprocessableEntity).says("too long")
	signUp("  " + long + "\u00e9").isSignedInAs("ada@example.com")
	for _, wrong := range []string{long + "\u00e9", "  " + long, "  " + long + "e\u0301", "  " + long + "\u00e9 ", "  " + long + "\u00e9\x00"} {
		s.browser().signIn("ada@example.com", wrong).isSignedInAs("")
	}
	s.browser().signIn("ada@example.com", "  "+long+"\u00e9").isSignedInAs("ada@example.com")
}

// AC-80
func TestAPasswordThatAnAttackerTriesFirstIsRejected(t *testing.T) {
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) { o.Passwords.MinLength = 8 })
	b := s.browser().signUp("adalovelace@example.com").get(s.lastMail().URL)
	for _, guessable := range []string{"password", "12345678", "adalovelace"} {
		b.post("/auth/account/sign-up-finish", "password", guessable).want(http.StatusUnprocessableEntity).says("first that attackers try")
	}
	b.post("/auth/account/sign-up-finish", "password", "x7#kkqpo").isSignedInAs("adalovelace@example.com")
}

// AC-80: what others know of the site, whatever it is called.
func TestAPasswordIsNotTheNameOfTheSiteOrItsHost(t *testing.T) {
	s := newSite(t, false, func(c *pintle.Config, o *account.Options) {
		c.Texts.Site, o.Passwords.MinLength = "Caterpillar", 8
	})
	b := s.browser().signUp(ada)
	b.post("/auth/account/sign-up-sent", "code", s.code())
	_, port, _ := strings.Cut(s.server.Listener.Addr().String(), ":")
	for _, guessable := range []string{"caterpillar1", "my" + port + "me"} {
		b.post("/auth/account/sign-up-finish", "password", guessable).want(http.StatusUnprocessableEntity).says("first that attackers try")
	}
}

// AC-40: attackers who guess at a password, or at codes without it, lock no user out.
func TestGuessesOfAttackersLockNoUserOut(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		u := s.seed(ada, goodPassword, true)
		code := s.app(u)
		owner := s.browser().signIn(ada, goodPassword).post(secondFactor, "code", code()).isSignedInAs(ada)
		attacker := s.browser().get("/auth/signin")
		for range 15 {
			attacker.post("/auth/callback/credentials", "email", ada, "password", "a guess at the password")
			attacker.post(secondFactor, "code", "123456").want(http.StatusForbidden)
			attacker.post("/auth/account/reset", "password", newPassword, "code", "123456").want(http.StatusForbidden)
			attacker.post("/auth/account/confirm", "method", "totp", "code", "123456").want(http.StatusUnauthorized)
		}
		if !strings.Contains(attacker.signIn(ada, goodPassword).at.String(), "too_many_attempts") {
			t.Errorf("the attacker is at %s", attacker.at)
		}
		if state := s.state(u); state.Streak != 0 {
			t.Errorf("codes were counted without the first factor: %+v", state)
		}
		owner.signOut().signIn(ada, goodPassword).isAt(secondFactor)
	})
}

// AT-30, ASVS-6.2.12
func TestAStolenPasswordIsRejected(t *testing.T) {
	asked := make(chan string, 10)
	var answer func() (int, string)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("Add-Padding") + r.URL.String()
		status, text := answer()
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text))
	}))
	defer service.Close()
	check := &account.BreachCheck{URL: service.URL + "/range/"}
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) { o.Passwords.Breached = check })
	b := s.browser().signUp("ada@example.com").get(s.lastMail().URL)
	digest := sha1Hex(goodPassword)
	try := func(text string, status int) *browser {
		t.Helper()
		answer = func() (int, string) { return status, text }
		b.post("/auth/account/sign-up-finish", "password", goodPassword)
		if got := <-asked; got != "true/range/"+digest[:5] {
			t.Errorf("the service was asked %q", got)
		}
		return b
	}
	try("0000:1\r\n"+digest[5:]+":3\r\n", http.StatusOK).want(http.StatusUnprocessableEntity).says("stolen passwords")
	check.FailClosed = true
	for text, status := range map[string]int{
		"": http.StatusInternalServerError, strings.Repeat("0", 2<<20): http.StatusOK,
		strings.Repeat(strings.Repeat("0", 35)+":1\n", 1<<15): http.StatusOK,
	} {
		try(text, status).want(http.StatusServiceUnavailable)
	}
	check.FailClosed = false
	try(digest[5:]+":0\r\n", http.StatusOK).isSignedInAs("ada@example.com") // padding
	if log := s.log(); strings.Contains(log, digest[:5]) {
		t.Errorf("the log has digits of the hash: %s", log)
	}
}

func TestAPasswordIsAcceptedWhileTheServiceForStolenOnesIsAway(t *testing.T) {
	service := httptest.NewServer(http.NotFoundHandler())
	service.Close()
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		o.Passwords.Breached = &account.BreachCheck{URL: service.URL + "/range/"}
	})
	s.browser().signUp("ada@example.com").get(s.lastMail().URL).post("/auth/account/sign-up-finish", "password", goodPassword).
		isSignedInAs("ada@example.com")
	if log := s.log(); !strings.Contains(log, "not checked for breaches") || strings.Contains(log, sha1Hex(goodPassword)[:5]) {
		t.Error(log)
	}
}

// AT-93, AC-34, AC-174
func TestAMailServerThatIsDownChangesNoAnswer(t *testing.T) {
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		keep := o.Mail
		o.Mail = func(ctx context.Context, m *pintle.Message) error {
			_ = keep(ctx, m)
			return errors.New("the mail server is down")
		}
	})
	s.seed("ada@example.com", goodPassword, true)
	s.browser().signUp("grace@example.com").isAt("/auth/account/sign-up-sent").want(http.StatusOK)
	s.browser().signUp("ada@example.com").isAt("/auth/account/sign-up-sent").want(http.StatusOK)
	b := s.browser().get(s.resetLink("ada@example.com"))
	b.post("/auth/account/reset", "password", newPassword).isAt("/auth/signin")
	b.signIn("ada@example.com", newPassword).isSignedInAs("ada@example.com")
	if log := s.log(); strings.Count(log, "mail of an account not sent") != 5 {
		t.Error(log)
	}
	for _, m := range s.mails {
		if m.Token != "" && strings.Contains(s.log(), m.Token) {
			t.Error("the log has the token of a link")
		}
	}
}

// AC-80
func TestPasswordManagersFindTheFormForThePassword(t *testing.T) {
	s := newSite(t, false)
	w := httptest.NewRecorder()
	s.accounts.ChangePasswordHandler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/.well-known/change-password", nil))
	if to := w.Header().Get("Location"); w.Code != http.StatusFound || to != "/auth/account/password" {
		t.Errorf("%d %q", w.Code, to)
	}
	w = httptest.NewRecorder()
	account.New(account.Options{}).ChangePasswordHandler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("without a configuration: %d", w.Code)
	}
}

// Attach would panic, and each request after it.
func TestANilPointerInTheConfigurationIsAnError(t *testing.T) {
	for want, change := range map[string]func(*pintle.Config){
		"Config.Accounts is a nil *account.Accounts: look at the error of the function that made it": func(c *pintle.Config) { c.Accounts = (*account.Accounts)(nil) },
		"Config.Store is a nil *memstore.Store: look at the error of the function that made it":      func(c *pintle.Config) { c.Store = (*memstore.Store)(nil) },
	} {
		cfg := pintle.Config{
			Store: memstore.New(), URL: "https://app.example.com", Secrets: []string{strings.Repeat("x", 40)},
			Getenv:   func(string) string { return "" },
			Accounts: account.New(account.Options{Mail: func(context.Context, *pintle.Message) error { return nil }}),
		}
		change(&cfg)
		if _, err := pintle.New(cfg); !errors.Is(err, pintle.CodeConfiguration) || !strings.Contains(err.Error(), want) {
			t.Errorf("New() = %v, want %q", err, want)
		}
	}
}

// AC-9, AC-16
func TestAConfigurationThatCannotWorkIsAnError(t *testing.T) {
	good := func() (pintle.Config, account.Options) {
		return pintle.Config{
			Store: memstore.New(), URL: "https://app.example.com", Secrets: []string{strings.Repeat("x", 40)},
			Getenv: func(string) string { return "" },
		}, account.Options{Mail: func(context.Context, *pintle.Message) error { return nil }}
	}
	for want, change := range map[string]func(*pintle.Config, *account.Options){
		"":                   func(*pintle.Config, *account.Options) {},
		"Options.Mail":       func(_ *pintle.Config, o *account.Options) { o.Mail = nil },
		"Session.Revocation": func(c *pintle.Config, _ *account.Options) { c.Session.Strategy = pintle.StrategyJWT },
		"give yours another ID": func(c *pintle.Config, _ *account.Options) {
			c.Providers = []pintle.Provider{&pintle.Credentials{}}
		},
		"Config.Callbacks.Roles is set": func(c *pintle.Config, _ *account.Options) {
			c.Callbacks.Roles = func(context.Context, string) ([]string, error) { return nil, nil }
		},
		"MinLength is 7": func(_ *pintle.Config, o *account.Options) { o.Passwords.MinLength = 7 },
		`the name "password"`: func(_ *pintle.Config, o *account.Options) {
			o.SignUp.Fields = []pintle.Field{{Name: "password"}}
		},
	} {
		cfg, o := good()
		change(&cfg, &o)
		cfg.Accounts = account.New(o)
		_, err := pintle.New(cfg)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("want %q: %v", want, err)
		}
		if got := errors.Is(err, pintle.Code("UnsupportedStrategy")); got != (want == "Session.Revocation") {
			t.Errorf("the error of %q is UnsupportedStrategy: %t", want, got)
		}
	}
}
