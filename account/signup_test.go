package account_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// AC-54
func TestASignUpByTheCodeOfTheMailSignsIn(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		b := s.browser().signUp("Ada@example.com", "callbackUrl", "/welcome").isAt("/auth/account/sign-up-sent")
		if s.user("ada@example.com") != nil {
			t.Fatal("there is a user before the address was proven")
		}
		b.post("/auth/account/sign-up-sent", "code", s.code()).isAt("/auth/account/sign-up-finish").says("ada@example.com")
		b.post("/auth/account/sign-up-finish", "password", goodPassword).isAt("/welcome").isSignedInAs("ada@example.com")
		if u := s.user("ada@example.com"); u == nil || u.EmailVerified.IsZero() {
			t.Fatalf("the user is %v", u)
		}
		s.browser().signIn("Ada@example.com", goodPassword).isSignedInAs("ada@example.com")
		s.browser().signIn("ada@example.com", "another password").isSignedInAs("")
	})
}

// signUp sends the first form of a sign-up.
func (b *browser) signUp(email string, pairs ...string) *browser {
	b.t.Helper()
	return b.get("/auth/account/sign-up").post("/auth/account/sign-up", append([]string{"email", email}, pairs...)...)
}

// AC-118: a user who has read the mail of the sign-up has proven the mailbox, and enrols without
// a second code, also in another browser than the one that began.
func TestASignUpProvesTheMailboxForTheFirstFactor(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		ways := map[string]func(s *site, began *browser) *browser{
			"the code": func(s *site, began *browser) *browser {
				return began.post("/auth/account/sign-up-sent", "code", s.code())
			},
			"the link":                    func(s *site, began *browser) *browser { return began.get(s.lastMail().URL) },
			"the link in another browser": func(s *site, _ *browser) *browser { return s.browser().get(s.lastMail().URL) },
		}
		for name, read := range ways {
			t.Run(name, func(t *testing.T) {
				s := newSite(t, tokens, required)
				b := read(s, s.browser().signUp(ada)).post("/auth/account/sign-up-finish", "password", goodPassword).isAt(enrol).isSignedInAs("")
				if mails := len(s.sent(ada)); mails != 1 {
					t.Errorf("%d mails were sent", mails)
				}
				b.addApp("enrol")
				b.isSignedInAs(ada)
				session := s.browserWith(b).get("/auth/account/me").json()["session"].(map[string]any)
				if got := fmt.Sprint(session["amr"]); !strings.Contains(got, "mail") || session["acr"] != "mfa" {
					t.Errorf("the session has the methods %s and the level %v", got, session["acr"])
				}
			})
		}
	})
}

// The link of an invitation is returned to the operator, who does not read the mail of the user.
func TestAnInvitationProvesNoMailboxForTheFirstFactor(t *testing.T) {
	s := newSite(t, false, required)
	ops, ctx := s.operators()
	link, err := ops.Invite(ctx, account.Invitation{Email: ada})
	s.done(err)
	b := s.browser().get(link).post("/auth/account/sign-up-finish", "password", goodPassword).isAt(enrol)
	b.post(enrol, "code", s.code()).want(200)
	b.key()
}

// AT-15, AC-50, AC-53
func TestTheReaderOfTheMailChoosesThePasswordOfASignUp(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, func(_ *pintle.Config, o *account.Options) {
			o.SignUp.Fields = []pintle.Field{{Name: "name", Label: "Name"}}
		})
		attacker := s.browser().signUp("ada@example.com", "password", "password of the attacker", "name", "Mallory", "callbackUrl", "/evil")
		ada := s.browser().get(s.lastMail().URL).isAt("/auth/account/sign-up-finish").want(http.StatusOK)
		if strings.Contains(ada.page, "Mallory") {
			t.Error("the page shows what was entered in another browser")
		}
		ada.post("/auth/account/sign-up-finish", "password", goodPassword, "name", "Ada").isAt("/").isSignedInAs("ada@example.com")
		if name := s.user("ada@example.com").Name; name != "Ada" {
			t.Errorf("the name is %q", name)
		}
		attacker.isSignedInAs("")
		attacker.get("/auth/account/sign-up-finish").want(http.StatusGone)
		attacker.signIn("ada@example.com", "password of the attacker").isSignedInAs("")
	})
}

// AC-7, AC-53: the link alone, opened in another browser, does not let the browser that began
// go on.
func TestTheBrowserThatBeganASignUpNeedsTheCode(t *testing.T) {
	s := newSite(t, false)
	attacker := s.browser().signUp("ada@example.com")
	s.browser().get(s.lastMail().URL).want(http.StatusOK)
	attacker.get("/auth/account/sign-up-finish").want(http.StatusForbidden)
	attacker.post("/auth/account/sign-up-finish", "password", goodPassword).want(http.StatusForbidden)
	if s.user("ada@example.com") != nil {
		t.Error("a user was made")
	}
}

// AT-16, AC-21
func TestOfTwoSignUpsForOneAddressTheFirstFinishedWins(t *testing.T) {
	for _, firstBegun := range []bool{true, false} {
		s := newSite(t, false)
		one, two := s.browser().signUp("ada@example.com"), s.browser()
		link := s.lastMail().URL
		one.get(link)
		two.signUp("ada@example.com").get(s.lastMail().URL)
		first, second := one, two
		if !firstBegun {
			first, second = two, one
		}
		first.post("/auth/account/sign-up-finish", "password", goodPassword).isSignedInAs("ada@example.com")
		second.post("/auth/account/sign-up-finish", "password", "the second password").isSignedInAs("")
		if second.status != http.StatusGone {
			t.Errorf("the second is answered with status %d", second.status)
		}
		s.browser().signIn("ada@example.com", goodPassword).isSignedInAs("ada@example.com")
	}
}

// AT-3, AC-4, AC-54
func TestOneOfManyRequestsFinishesASignUp(t *testing.T) {
	s := newSite(t, false)
	b := s.browser().signUp("ada@example.com").get(s.lastMail().URL)
	form := b.token()
	codes := make(chan int, 20)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			other := *b
			other.page = `name="csrfToken" value="` + form + `"`
			other.postQuietly("/auth/account/sign-up-finish", form, "password", goodPassword)
			codes <- other.status
		})
	}
	all.Wait()
	close(codes)
	done := 0
	for code := range codes {
		if code == http.StatusSeeOther {
			done++
		}
	}
	if done != 1 {
		t.Errorf("%d of 20 requests finished the sign-up", done)
	}
}

func (s *site) changeState(userID string, change func(*accountstore.State)) {
	s.t.Helper()
	state, err := s.rows.State(s.t.Context(), userID)
	if err == nil {
		change(state)
		err = s.rows.ChangeState(s.t.Context(), state)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// AT-18, AC-62
func TestAMailOfASignUpHasNothingThatTheAskerTyped(t *testing.T) {
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		o.SignUp.Fields = []pintle.Field{{Name: "name"}}
	})
	s.browser().signUp("ada@example.com", "name", "buy at evil.example", "callbackUrl", "/evil.example")
	if m := s.lastMail(); strings.Contains(m.Text+m.HTML+m.Subject, "evil.example") {
		t.Errorf("the mail says %s", m.Text)
	}
}

// AT-19, AC-11
func TestASignUpSetsNothingButItsFields(t *testing.T) {
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		o.SignUp.Fields = []pintle.Field{{Name: "name"}, {Name: "team"}}
	})
	b := s.browser()
	b.get("/auth/account/sign-up")
	b.postJSON("/auth/account/sign-up", map[string]any{
		"email": "ada@example.com", "role": "admin", "emailVerified": true, "id": "1", "image": "x", "name": "Ada", "team": "blue",
	})
	b.postJSON("/auth/account/sign-up-sent", map[string]any{"code": s.code(), "role": "admin"})
	b.postJSON("/auth/account/sign-up-finish", map[string]any{"password": goodPassword, "role": "admin", "id": "1", "name": "Eve"})
	u := s.user("ada@example.com")
	if u == nil || u.ID == "1" || u.Name != "Ada" || u.Image != "" || len(u.Extra) != 1 || u.Extra["team"] != "blue" {
		t.Errorf("the user is %#v", u)
	}
}

func TestFieldsOfASignUpAreRequiredAndBounded(t *testing.T) {
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		o.SignUp.Fields = []pintle.Field{{Name: "company", Label: "Your company", Attributes: map[string]string{"required": ""}}}
	})
	for _, company := range []string{"", "  ", strings.Repeat("x", 201), "Ada\x00"} {
		s.browser().signUp("ada@example.com", "company", company).want(http.StatusUnprocessableEntity).says("Your company")
	}
	if len(s.mails) > 0 {
		t.Error("a mail was sent")
	}
	s.browser().signUp("ada@example.com", "company", strings.Repeat("x", 200)).want(http.StatusOK)
}

// AC-88: a sign-up takes no name that the page of the profile refuses.
func TestANameOfASignUpHasTheRulesOfTheProfile(t *testing.T) {
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		o.SignUp.Fields = []pintle.Field{{Name: "name", Label: "Full name"}}
	})
	for _, name := range []string{strings.Repeat("x", 101), "Ada\x00", "Ada \u202eevil"} {
		s.browser().signUp(ada, "name", name).want(http.StatusUnprocessableEntity).says("Full name")
	}
	if len(s.mails) > 0 {
		t.Error("a mail was sent")
	}
	b := s.browser().get("/auth/account/sign-up").says(`maxlength="100"`)
	b.post("/auth/account/sign-up", "email", ada).want(http.StatusOK)
	s.browser().signUp("grace@example.com", "name", strings.Repeat("x", 100)).want(http.StatusOK)
}

func TestSignUpRejectsWhatIsNoAddress(t *testing.T) {
	s := newSite(t, false)
	for _, email := range []string{
		"", "ada", "a@b@example.com", `"ada"@example.com`, "ada@example.com,eve@example.com", "ada@exam\u0001ple.com",
		strings.Repeat("a", 250) + "@example.com",
	} {
		b := s.browser()
		b.get("/auth/account/sign-up").post("/auth/account/sign-up", "email", email).want(http.StatusUnprocessableEntity)
		if answer := b.postJSON("/auth/account/sign-up", map[string]any{"email": email}); answer["error"] != "invalid_email" {
			t.Errorf("%q: %v", email, answer)
		}
	}
	if len(s.mails) > 0 {
		t.Error("a mail was sent")
	}
}

// AC-54, AC-63
func TestTheApplicationDecidesWhoMaySignUp(t *testing.T) {
	denied := errors.New("denied")
	for name, change := range map[string]func(*pintle.Config, *account.Options){
		"closed": func(_ *pintle.Config, o *account.Options) { o.SignUp.Closed = true },
		"the address": func(_ *pintle.Config, o *account.Options) {
			o.SignUp.Allow = func(context.Context, string) error { return denied }
		},
		"the request": func(_ *pintle.Config, o *account.Options) {
			o.Admit = func(_ context.Context, _ *http.Request, action string) error {
				if action != "sign-up" {
					t.Errorf("the action is %q", action)
				}
				return denied
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, false, change)
			s.browser().post("/auth/account/sign-up", "email", "ada@example.com").want(http.StatusForbidden)
			if len(s.mails) > 0 {
				t.Error("a mail was sent")
			}
		})
	}
	t.Run("the sign-in", func(t *testing.T) {
		s := newSite(t, false, func(c *pintle.Config, _ *account.Options) {
			c.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) { return "", denied }
		})
		b := s.browser().signUp("ada@example.com").get(s.lastMail().URL)
		b.post("/auth/account/sign-up-finish", "password", goodPassword).want(http.StatusForbidden)
		if s.user("ada@example.com") != nil {
			t.Error("a user was made")
		}
	})
}

// AC-22, ASVS-6.6.3
func TestAWrongCodeCanBeTriedFiveTimes(t *testing.T) {
	s := newSite(t, false)
	b := s.browser().signUp("ada@example.com")
	code := s.code()
	for range 5 {
		b.post("/auth/account/sign-up-sent", "code", other(code)).want(http.StatusUnprocessableEntity)
	}
	b.post("/auth/account/sign-up-sent", "code", code).want(http.StatusTooManyRequests)
	b.post("/auth/account/sign-up-sent", "again", "1").isAt("/auth/account/sign-up-sent")
	b.post("/auth/account/sign-up-sent", "code", s.code()).want(http.StatusTooManyRequests)
	s.browser().get(s.lastMail().URL).want(http.StatusOK).post("/auth/account/sign-up-finish", "password", goodPassword).
		isSignedInAs("ada@example.com")
}

// other is a code that is not the right one.
func other(code string) string {
	if code[0] == '0' {
		return "1" + code[1:]
	}
	return "0" + code[1:]
}

// AC-22
func TestASignUpSendsItsMailThreeTimesMore(t *testing.T) {
	s := newSite(t, false)
	b := s.browser().signUp("ada@example.com")
	for range 3 {
		b.post("/auth/account/sign-up-sent", "again", "1").want(http.StatusOK).says("We sent the mail again.")
	}
	b.post("/auth/account/sign-up-sent", "again", "1").want(http.StatusTooManyRequests)
	if n := len(s.sent("ada@example.com")); n != 4 {
		t.Errorf("%d mails were sent", n)
	}
}

// AC-42
func TestMailsToOneAddressAreLimited(t *testing.T) {
	s := newSite(t, false)
	for range 5 {
		s.browser().signUp("ada@example.com").want(http.StatusOK)
	}
	b := s.browser().signUp("ada@example.com").want(http.StatusTooManyRequests)
	if b.header.Get("Retry-After") == "" {
		t.Error("the answer does not say when to try again")
	}
	s.browser().get("/auth/account/forgot").post("/auth/account/forgot", "email", "ada@example.com").want(http.StatusTooManyRequests)
	s.browser().signUp("grace@example.com").want(http.StatusOK)
}

// AT-10, AT-14, AC-60
func TestAnAddressThatAUserHasNotProvenIsAskedAbout(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withGitHub)
		eve := s.seed("ada@example.com", "", false)
		s.link(eve, "github")
		b := s.browser().signUp("ada@example.com").get(s.lastMail().URL).says("Is this account yours?").says("GitHub")

		// Nothing happens without an answer.
		b.post("/auth/account/sign-up-finish", "password", goodPassword).says("Is this account yours?").isSignedInAs("")
		b.post("/auth/account/address-choice", "choice", "other").want(http.StatusUnprocessableEntity)

		b.get("/auth/account/sign-up-finish").stay().post("/auth/account/address-choice", "choice", "theirs")
		if to := b.header.Get("Location"); !strings.HasPrefix(to, "/auth/signin?callbackUrl=") {
			t.Errorf("who has the account is sent to %q", to)
		}
		b.stays = false

		b.get("/auth/account/sign-up-finish").post("/auth/account/address-choice", "choice", "new").says("Choose a password")
		if u := s.user("ada@example.com"); u.ID != eve.ID {
			t.Error("the address moved before the password was chosen")
		}
		b.post("/auth/account/sign-up-finish", "password", goodPassword).isSignedInAs("ada@example.com")
		if u := s.user("ada@example.com"); u.ID == eve.ID {
			t.Error("one user has two owners")
		}
		loser, err := s.store.User(t.Context(), eve.ID)
		if err != nil || loser.Email != "" || !loser.EmailVerified.IsZero() {
			t.Errorf("the other user is %v: %v", loser, err)
		}
	})
}

// AC-60
func TestAnAnswerOfAnotherBrowserTakesNoAddress(t *testing.T) {
	s := newSite(t, false, withGitHub)
	s.link(s.seed("ada@example.com", "", false), "github")
	s.browser().signUp("ada@example.com")
	link := s.lastMail().URL
	s.browser().get(link).post("/auth/account/address-choice", "choice", "new").says("Choose a password")
	s.browser().get(link).says("Is this account yours?")
}

// AT-10, AC-60: a provider that is not configured now may be configured again, and would then
// let the owner of its account in.
func TestAnAccountOfAProviderThatIsGoneIsNotShared(t *testing.T) {
	s := newSite(t, false)
	eve := s.seed("ada@example.com", "", false)
	s.link(eve, "github")
	b := s.browser().signUp("ada@example.com").get(s.lastMail().URL).says("Is this account yours?")
	b.post("/auth/account/address-choice", "choice", "new").post("/auth/account/sign-up-finish", "password", goodPassword).
		isSignedInAs("ada@example.com")
	if u := s.user("ada@example.com"); u.ID == eve.ID {
		t.Error("one user has two owners")
	}
}

func TestAUserWhoCannotSignInIsTheReaderOfTheMail(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		made := s.seed("ada@example.com", "", false)
		b := s.browser().signUp("ada@example.com").get(s.lastMail().URL).says("Choose a password")
		b.post("/auth/account/sign-up-finish", "password", goodPassword)
		u := s.user("ada@example.com")
		if u.ID != made.ID || u.EmailVerified.IsZero() {
			t.Errorf("the user is %v", u)
		}
		b.isSignedInAs("ada@example.com")
	})
}

// AC-51, AC-55
func TestASignUpOfAKnownAddressLeadsToTheSignIn(t *testing.T) {
	s := newSite(t, false)
	b := s.browser().signUp("ada@example.com").get(s.lastMail().URL)
	s.seed("ada@example.com", goodPassword, true) // meanwhile
	b.get("/auth/account/sign-up-finish").says("You have an account")
	for range 2 { // it uses nothing up
		b.post("/auth/account/sign-up-finish", "password", "the second password").want(http.StatusConflict)
	}
	s.browser().signUp("ada@example.com")
	m := s.wantMail("ada@example.com", "You have an account")
	if m.Token != "" || strings.Contains(m.Text, "token=") || mailedCode.MatchString(m.Text) {
		t.Errorf("the mail has a token or a code: %s", m.Text)
	}
}

func TestTheApplicationSaysWhyAnAddressMayNotSignUp(t *testing.T) {
	s := newSite(t, false, func(c *pintle.Config, o *account.Options) {
		o.SignUp.Allow = func(_ context.Context, address string) error {
			if strings.HasSuffix(address, "@example.com") {
				return nil
			}
			return &pintle.Error{Code: pintle.CodeAccessDenied, Detail: "company_only"}
		}
		c.Texts.Account.Problems = map[string]string{"company_only": "Use your address at example.com."}
	})
	b := s.browser()
	b.get("/auth/account/sign-up").post("/auth/account/sign-up", "email", "ada@example.org").
		want(http.StatusForbidden).says("Use your address at example.com.").says(`value="ada@example.org"`)
	answer := b.postJSON("/auth/account/sign-up", map[string]any{"email": "ada@example.org"})
	fields, _ := answer["fields"].(map[string]any)
	if b.status != http.StatusForbidden || answer["error"] != "company_only" || fields["email"] != "company_only" {
		t.Errorf("a script gets %d %v", b.status, answer)
	}
	if !strings.Contains(s.log(), "SignUp.Allow refused an address\" detail=company_only") {
		t.Error("the log has no record")
	}
	b.post("/auth/account/sign-up", "email", "ada@example.com").isAt("/auth/account/sign-up-sent")
}

// AC-63
func TestTheApplicationReadsWhatWasSubmitted(t *testing.T) {
	var answers []string
	s := newSite(t, false, func(c *pintle.Config, o *account.Options) {
		o.Admit = func(_ context.Context, r *http.Request, _ string) error {
			answers = append(answers, r.PostFormValue("captcha"), r.FormValue("captcha"))
			if r.PostFormValue("captcha") != "42" {
				return &pintle.Error{Code: pintle.CodeAccessDenied, Detail: "captcha"}
			}
			return nil
		}
		c.Texts.Account.Problems = map[string]string{"captcha": "Solve the riddle."}
	})
	b := s.browser()
	b.post("/auth/account/sign-up", "email", "ada@example.com", "captcha", "42").isAt("/auth/account/sign-up-sent")
	b.postJSON("/auth/account/forgot", map[string]any{"email": "ada@example.com", "captcha": "42"})
	if want := []string{"42", "42", "42", "42"}; !slices.Equal(answers, want) {
		t.Errorf("the application reads %q", answers)
	}
	b.get("/auth/account/forgot").post("/auth/account/forgot", "email", "ada@example.com", "captcha", "7").
		want(http.StatusForbidden).says("Solve the riddle.")
}

func TestANewUserGoesToThePageForNewUsers(t *testing.T) {
	s := newSite(t, false, func(c *pintle.Config, _ *account.Options) { c.Pages.NewUser = "/welcome" })
	b := s.browser().get("/auth/account/sign-up?callbackUrl=%2Fshop").stay()
	b.post("/auth/account/sign-up", "email", "ada@example.com", "callbackUrl", "/shop")
	b.post("/auth/account/sign-up-sent", "code", s.code())
	b.post("/auth/account/sign-up-finish", "password", goodPassword).want(http.StatusSeeOther)
	if to, want := b.header.Get("Location"), s.server.URL+"/welcome?callbackUrl="+url.QueryEscape(s.server.URL+"/shop"); to != want {
		t.Errorf("a new user goes to %q, not to %q", to, want)
	}
	b.isSignedInAs("ada@example.com")

	s.seed("operator@example.com", "", false)
	b = s.browser().signUp("operator@example.com").stay()
	b.post("/auth/account/sign-up-sent", "code", s.code())
	b.post("/auth/account/sign-up-finish", "password", goodPassword).want(http.StatusSeeOther)
	if to := b.header.Get("Location"); strings.Contains(to, "welcome") {
		t.Errorf("a user whom the operator made goes to %q", to)
	}
}

func TestAScriptSignsUp(t *testing.T) {
	s := newSite(t, false)
	b := s.browser()
	if next := b.postJSON("/auth/account/sign-up", map[string]any{"email": "ada@example.com"})["next"]; next != s.server.URL+"/auth/account/sign-up-sent" {
		t.Errorf("next is %v", next)
	}
	b.postJSON("/auth/account/sign-up-sent", map[string]any{"code": s.code()})
	answer := b.postJSON("/auth/account/sign-up-finish", map[string]any{"password": "short"})
	fields, _ := answer["fields"].(map[string]any)
	if b.status != http.StatusUnprocessableEntity || answer["error"] != "password_too_short" || fields["password"] != "password_too_short" ||
		answer["min"] != 15.0 {
		t.Errorf("a short password: %d %v", b.status, answer)
	}
	b.postJSON("/auth/account/sign-up-finish", map[string]any{"password": goodPassword})
	b.isSignedInAs("ada@example.com")
}
