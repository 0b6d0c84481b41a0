package account_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/throttle"
)

// AC-104: which methods a user has is for a client that has given the first proof.
func TestTheMethodsOfASecondFactorAreThoseOfTheUser(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	s.app(u)
	s.browser().get(secondFactor).want(http.StatusForbidden)
	if got := s.half().getJSON(secondFactor)["methods"]; !equalJSON(got, []any{"totp"}) {
		t.Errorf("without recovery codes the methods are %v", got)
	}
	if _, err := s.accounts.GiveRecoveryCodes(t.Context(), u.ID); err != nil {
		t.Fatal(err)
	}
	b := s.half().says(`href="` + secondFactor + `?method=recovery"`)
	if got := b.getJSON(secondFactor)["methods"]; !equalJSON(got, []any{"totp", "recovery"}) {
		t.Errorf("with recovery codes the methods are %v", got)
	}
}

// AC-114: a reset, a sign-in and a confirmation spend one recovery code each, and none that
// another one has spent.
func TestARecoveryCodeIsForOneThing(t *testing.T) {
	t.Parallel()
	s, _, codes := withApp(t, false)
	u := s.user(ada)
	left := func(want int) {
		t.Helper()
		if _, codes := s.apps(u); codes != want {
			t.Errorf("%d codes are left, want %d", codes, want)
		}
	}
	s.browser().get(s.resetLink(ada)).post("/auth/account/reset", "password", newPassword, "code", codes[0]).isAt("/auth/signin")
	left(9)
	half := func() *browser { return s.browser().signIn(ada, newPassword).isAt(secondFactor) }
	half().post(secondFactor, "code", codes[0]).want(http.StatusUnprocessableEntity).isSignedInAs("")
	half().post(secondFactor, "code", codes[1]).isSignedInAs(ada)
	left(8)
	b := s.browser().startSession(u, 0, "pwd")
	confirm := func(code string) *browser {
		return b.get("/auth/account/confirm?method=recovery").confirmBy("code", code)
	}
	for _, spent := range codes[:2] {
		confirm(spent).want(http.StatusUnprocessableEntity)
	}
	confirm(codes[2]).want(http.StatusOK).isAt("/auth/account")
	left(7)
}

// AC-120: a user without an address adds an app, which counts once the recovery codes are saved:
// no mail helps if it is lost.
func TestAUserWithoutAnAddressAddsAnAppWithRecoveryCodes(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	u, err := s.store.CreateUser(t.Context(), &pintle.User{ID: "nameless"})
	if err != nil {
		t.Fatal(err)
	}
	b := s.browser().startSession(u, 0, "fed").get("/auth/account/totp").want(http.StatusOK)
	awayFromTheNextStep()
	key, a := b.key()
	b.post("/auth/account/totp", "key", key, "code", a.code(t, 0)).isAt("/auth/account/recovery-codes")
	if apps, codes := s.apps(u); apps != 0 || codes != 0 {
		t.Errorf("before the codes are saved there are %d apps and %d codes", apps, codes)
	}
	b.post("/auth/account/recovery-codes", "saved", "1").isAt("/auth/account/factors")
	if apps, codes := s.apps(u); apps != 1 || codes != 10 {
		t.Errorf("there are %d apps and %d codes", apps, codes)
	}
}

// AC-121: the form for the password takes no code of the second factor.
func TestACodeIsNotTakenWithThePassword(t *testing.T) {
	t.Parallel()
	s, a, codes := withApp(t, false)
	const form = "/auth/callback/credentials"
	for _, code := range []string{a.code(t, 0), codes[0]} {
		for _, field := range []string{"code", "totp", "otp", "method"} {
			b := s.browser().get("/auth/signin")
			b.post(form, "email", ada, "password", "a wrong password", field, code).isAt("/auth/signin").isSignedInAs("")
			b.post(form, "email", ada, "password", goodPassword, field, code).isAt(secondFactor).isSignedInAs("")
		}
		s.half().post(secondFactor, "code", code).isSignedInAs(ada) // it was not used
	}
}

// AC-80: what an attacker knows of a user is no password, whichever page it is chosen on.
func TestAPasswordIsNotTheNameOfItsUser(t *testing.T) {
	t.Parallel()
	const name, guess = "Wilhelmina Featherstonehaugh", "featherstonehaugh"
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) { o.SignUp.Fields = []pintle.Field{{Name: "name"}} })
	refused := func(b *browser) {
		t.Helper()
		b.want(http.StatusUnprocessableEntity).says("first that attackers try")
	}
	b := s.browser().signUp(ada, "name", name)
	b.post("/auth/account/sign-up-sent", "code", s.code())
	refused(b.post("/auth/account/sign-up-finish", "password", guess))
	b.post("/auth/account/sign-up-finish", "password", goodPassword).isSignedInAs(ada)
	if u := s.user(ada); u.Name != name {
		t.Fatalf("the user is called %q", u.Name)
	}
	refused(b.get("/auth/account/password").post("/auth/account/password", "current", goodPassword, "password", guess))
	reset := s.browser().get(s.resetLink(ada))
	refused(reset.post("/auth/account/reset", "password", guess))
	waiting := s.browser().signIn(ada, s.temporary(s.user(ada))).isAt(mustChange)
	refused(waiting.post(mustChange, "password", guess))
}

// AC-80: password managers fill in the password that is there, and make one that is chosen.
func TestFieldsForPasswordsSayWhatTheyAreFor(t *testing.T) {
	t.Parallel()
	const current, chosen = `autocomplete="current-password"`, `autocomplete="new-password"`
	s := newSite(t, false)
	s.seed(ada, goodPassword, true)
	for name, page := range map[string]struct {
		shown        *browser
		current, new bool
	}{
		"sign-in":  {s.browser().get("/auth/signin"), true, false},
		"sign-up":  {s.browser().signUp("new@example.com").get(s.lastMail().URL), false, true},
		"reset":    {s.browser().get(s.resetLink(ada)), false, true},
		"password": {s.browser().signIn(ada, goodPassword).get("/auth/account/password"), true, true},
		"confirm":  {s.browser().startSession(s.user(ada), time.Hour, "pwd").get("/auth/account/confirm"), true, false},
	} {
		text := page.shown.want(http.StatusOK).page
		if strings.Contains(text, current) != page.current || strings.Contains(text, chosen) != page.new {
			t.Errorf("%s: the page is %s", name, page.shown.text())
		}
		if strings.Contains(strings.ToLower(text), "onpaste") {
			t.Errorf("%s: the page keeps users from pasting", name)
		}
	}
}

// AC-12: whatever a user does, and whatever fails, the log has no secret at any level.
func TestNoSecretOfAnAccountIsLogged(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		f := &fault{}
		down := false
		s := newSite(t, tokens, func(c *pintle.Config, o *account.Options) {
			c.Store = faultyStore{c.Store, f}
			none := throttle.Limit{Burst: -1}
			o.Passwords.Guard = &throttle.Guard{PerAccountAndClient: none, PerClient: none, PerAccount: none, PerDevice: none}
			keep := o.Mail
			o.Mail = func(ctx context.Context, m *pintle.Message) error {
				if err := keep(ctx, m); err != nil || !down {
					return err
				}
				return errors.New("the mail server is down")
			}
		})
		here, err := url.Parse(s.server.URL)
		if err != nil {
			t.Fatal(err)
		}
		const wrong = "my wrong password"
		secrets := []string{goodPassword, newPassword, wrong}
		noteCookies := func(b *browser) {
			for _, c := range b.client.Jar.Cookies(here) {
				if len(c.Value) > 30 && c.Name != "authjs.callback-url" {
					secrets = append(secrets, c.Value, c.Value[:30])
				}
			}
		}
		noteMail := func() {
			m := s.lastMail()
			if m.Token != "" {
				secrets = append(secrets, m.Token, m.URL)
			}
			if m.Code != "" {
				secrets = append(secrets, m.Code, strings.ReplaceAll(m.Code, " ", ""))
			}
		}
		for _, down = range []bool{false, true} {
			email := map[bool]string{true: "down@example.com", false: ada}[down]
			b := s.browser().signUp(email)
			noteMail()
			noteCookies(b)
			b.post("/auth/account/sign-up-sent", "code", other(s.code()))
			b.post("/auth/account/sign-up-sent", "code", s.code()).post("/auth/account/sign-up-finish", "password", "short")
			b.post("/auth/account/sign-up-finish", "password", goodPassword).isSignedInAs(email)
			noteCookies(b)
			s.browser().signIn(email, wrong)
			b.get("/auth/account/password")
			for n := range 4 { // the store fails at one call after the other
				f.arm(n + 1)
				b.post("/auth/account/password", "current", wrong, "password", newPassword)
				f.arm(n + 1)
				s.browser().post("/auth/callback/credentials", "email", email, "password", wrong)
				f.arm(0)
			}
			b.get("/auth/account/password").isSignedInAs(email)
			awayFromTheNextStep()
			a, codes := b.addApp("totp")
			secrets = append(append(secrets, a.secret), codes...)
			noteCookies(b)
			half := s.browser().signIn(email, goodPassword).isAt(secondFactor)
			noteCookies(half)
			half.post(secondFactor, "code", "0000-0000-0000-0000")
			half.post(secondFactor, "code", codes[0]).isSignedInAs(email)
			b.get("/auth/account/confirm").post("/auth/account/confirm", "password", wrong)
			reset := s.browser().get("/auth/account/forgot").post("/auth/account/forgot", "email", email)
			noteMail()
			reset.get(s.lastMail().URL).post("/auth/account/reset", "password", newPassword, "code", codes[1])
			noteCookies(reset)
			secrets = append(secrets, s.temporary(s.user(email)))
		}
		log := s.log()
		for _, want := range []string{"level=DEBUG", "level=ERROR", "the mail server is down", errFault.Error()} {
			if !strings.Contains(log, want) {
				t.Errorf("the log has no %q", want)
			}
		}
		slices.Sort(secrets)
		for _, secret := range slices.Compact(secrets) {
			if at := strings.Index(log, secret); at >= 0 {
				t.Errorf("the log has %q: %s", secret, log[max(0, at-200):min(len(log), at+200)])
			}
		}
	})
}
