package account_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/throttle"
)

var strongest = account.Demand{MaxAge: tenMinutes, Strongest: true}

// confirmBy sends the form of the page to confirm.
func (b *browser) confirmBy(pairs ...string) *browser {
	b.t.Helper()
	return b.post("/auth/account/confirm", b.fields(pairs...)...)
}

// app gives a user an authenticator app. The result returns codes of it, each of them good.
func (s *site) app(u *pintle.User) (next func() string) {
	s.t.Helper()
	secret, err := s.accounts.GiveTOTP(s.t.Context(), u.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	step := int64(-2)
	return func() string {
		step++
		return account.TOTPCode(secret, step)
	}
}

// AT-71, AC-140: the session knows nothing of what the user added afterwards.
func TestTheStrongestProofIsThatOfTheUserAndNotOfTheSession(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		s.demand("/danger", strongest)
		u := s.seed("ada@example.com", goodPassword, true)
		b := s.browser().signIn("ada@example.com", goodPassword)
		b.get("/danger").says("done")
		code := s.app(u)
		b.get("/danger").isAt("/auth/account/confirm").says("Code of the app").confirmBy("code", "000000").want(http.StatusUnprocessableEntity)
		b.get("/danger").confirmBy("code", code()).isAt("/danger").says("done")
	})
}

// Two factors of long ago are proven again, one after the other.
func TestBothFactorsAreConfirmed(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		s.demand("/danger", strongest)
		u := s.seed("ada@example.com", goodPassword, true)
		code := s.app(u)
		codes, err := s.accounts.GiveRecoveryCodes(t.Context(), u.ID)
		if err != nil {
			t.Fatal(err)
		}
		b := s.browser().startSession(u, time.Hour, "pwd", "otp")
		b.get("/danger?x=1").isAt("/auth/account/confirm").says(`type="password"`)
		b.confirmBy("password", goodPassword).isAt("/auth/account/confirm").says("Code of the app")
		b.get("/danger").isAt("/auth/account/confirm").says("Code of the app").confirmBy("code", code()).says("done")

		b = s.browser().startSession(u, time.Hour, "pwd", "otp")
		b.get("/danger").confirmBy("password", goodPassword).get(b.at.String() + "&method=recovery").says("Recovery code")
		b.confirmBy("code", strings.ToLower(codes[3])).says("done")
		s.wantMail("ada@example.com", "recovery code was used")

		// A code proves nothing about who typed the password.
		b = s.browser().startSession(u, time.Hour, "pwd", "otp")
		b.get("/danger").post("/auth/account/confirm", "method", "totp", "code", code()).want(http.StatusUnprocessableEntity)
		b.get("/danger").isAt("/auth/account/confirm").says(`type="password"`)
	})
}

func TestAWrongPasswordConfirmsNothing(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		calls := s.demand("/danger", account.Demand{MaxAge: tenMinutes})
		b := s.browser().startSession(s.seed("ada@example.com", goodPassword, true), time.Hour, "pwd")
		for _, wrong := range []string{"", "guess", goodPassword + "!", strings.ToUpper(goodPassword)} {
			b.get("/danger").confirmBy("password", wrong).want(http.StatusUnprocessableEntity).says("That is not your password.")
			if len(b.cookieNames()) != 0 {
				t.Errorf("a wrong password set %v", b.cookieNames())
			}
		}
		b.get("/danger").isAt("/auth/account/confirm").isSignedInAs("ada@example.com")
		if *calls != 0 {
			t.Error("the page was reached")
		}
	})
}

// The page to confirm has the limits of sign-ins: a thief who begins new sessions by a mailbox
// would have ten more guesses with each.
func TestThePageToConfirmHasTheLimitsOfSignIns(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, func(_ *pintle.Config, o *account.Options) {
			none := throttle.Limit{Burst: -1}
			o.Passwords.Guard = &throttle.Guard{PerAccountAndClient: throttle.Limit{Burst: 2}, PerClient: none, PerAccount: none, PerDevice: none}
		})
		s.demand("/danger", account.Demand{MaxAge: tenMinutes})
		u := s.seed("ada@example.com", goodPassword, true)
		for range 2 {
			s.browser().startSession(u, 2*time.Hour, "pwd").get("/danger").confirmBy("password", "guess").want(http.StatusUnprocessableEntity)
		}
		s.browser().startSession(u, 2*time.Hour, "pwd").get("/danger").confirmBy("password", goodPassword).want(http.StatusTooManyRequests)
	})
}

// A thief of a session has ten guesses at the password, whatever address they come from.
func TestASessionHasTenPasswords(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, func(_ *pintle.Config, o *account.Options) {
			none := throttle.Limit{Burst: -1} // the limits of sign-ins hold as well
			o.Passwords.Guard = &throttle.Guard{PerAccountAndClient: none, PerClient: none, PerAccount: none, PerDevice: none}
		})
		s.demand("/danger", account.Demand{MaxAge: tenMinutes})
		u := s.seed("ada@example.com", goodPassword, true)
		thief := s.browser().startSession(u, 2*time.Hour, "pwd")
		for range 10 {
			thief.get("/danger").confirmBy("password", "guess").want(http.StatusUnprocessableEntity)
		}
		thief.get("/danger").confirmBy("password", goodPassword).want(http.StatusTooManyRequests).says("/auth/signin?callbackUrl=")
		thief.get("/danger").isAt("/auth/account/confirm")
		// Another session of the user goes on, and a right password ends its count.
		b := s.browser().startSession(u, time.Hour, "pwd")
		for range 2 {
			for range 9 {
				b.get("/auth/account/confirm").confirmBy("password", "guess").want(http.StatusUnprocessableEntity)
			}
			b.get("/auth/account/confirm").confirmBy("password", goodPassword).want(http.StatusOK)
			b.startSession(u, time.Hour, "pwd")
		}
	})
}

// AT-73, AC-146
func TestAConfirmationIsOfTheUserWhoIsSignedIn(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		s.demand("/danger", account.Demand{MaxAge: tenMinutes})
		ada, bob := s.seed("ada@example.com", goodPassword, true), s.seed("bob@example.com", "another good password", true)
		b := s.browser().startSession(ada, time.Hour, "pwd")
		b.get("/danger")
		form := b.fields("password", goodPassword, "email", "ada@example.com", "user", ada.ID)
		b.startSession(bob, time.Hour, "pwd").post("/auth/account/confirm", form...).want(http.StatusUnprocessableEntity)
		b.isSignedInAs("bob@example.com").get("/danger").isAt("/auth/account/confirm")
	})
}

// AT-73: the code of one user, in a browser where another one is signed in.
func TestAMailedCodeConfirmsItsUserAlone(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		s.demand("/danger", account.Demand{MaxAge: tenMinutes})
		ada, bob := s.seed("ada@example.com", "", true), s.seed("bob@example.com", "", true)
		b := s.browser().startSession(ada, time.Hour, "fed")
		b.get("/danger").says("Send me a code by mail").confirmBy("again", "1").isAt("/auth/account/confirm")
		code := s.code()
		s.wantMail("ada@example.com", "code")
		b.startSession(bob, time.Hour, "fed").post("/auth/account/confirm", "method", "mail", "code", code).want(http.StatusForbidden)
		b.isSignedInAs("bob@example.com").get("/danger").isAt("/auth/account/confirm")
	})
}

// AC-4, AC-147
func TestAUserWithoutAPasswordConfirmsByMail(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		s.demand("/danger", strongest)
		u := s.seed("ada@example.com", "", true)
		b := s.browser().startSession(u, time.Hour, "fed")
		b.get("/danger?x=1").confirmBy("again", "1")
		first := s.code()
		b.confirmBy("again", "1", "code", "") // the code of the mail that was sent again replaces it
		second := s.code()
		b.confirmBy("code", first, "again", "").want(http.StatusUnprocessableEntity)
		form, copied := b.fields("code", second, "again", ""), s.browser()
		here, err := url.Parse(s.server.URL)
		if err != nil {
			t.Fatal(err)
		}
		copied.client.Jar.SetCookies(here, b.client.Jar.Cookies(here))
		b.confirmBy("code", second, "again", "").isAt("/danger").says("done GET x=1")
		copied.post("/auth/account/confirm", form...).want(http.StatusGone)
		if got := s.sent("ada@example.com"); len(got) != 2 {
			t.Errorf("%d mails were sent, want 2", len(got))
		}
		// The code works once, and in the browser that asked for it.
		b.startSession(u, time.Hour, "fed").post("/auth/account/confirm", "method", "mail", "code", second).want(http.StatusForbidden)
		b.get("/danger").isAt("/auth/account/confirm")
	})
}

// ASVS-6.6.3
func TestFiveWrongCodesEndTheMailedOne(t *testing.T) {
	s := newSite(t, false)
	s.demand("/danger", strongest)
	b := s.browser().startSession(s.seed("ada@example.com", "", true), time.Hour, "fed")
	b.get("/danger").confirmBy("again", "1")
	code, wrong := s.code(), "1234 5678"
	if code == wrong {
		wrong = "8765 4321"
	}
	for range 5 {
		b.confirmBy("again", "", "code", wrong).want(http.StatusUnprocessableEntity)
	}
	b.confirmBy("again", "", "code", code)
	b.get("/danger").isAt("/auth/account/confirm")
}

func TestAUserWithAPasswordGetsNoCodeByMail(t *testing.T) {
	s := newSite(t, false)
	b := s.browser().startSession(s.seed("ada@example.com", goodPassword, true), time.Hour, "fed")
	b.get("/auth/account/confirm?method=mail").says(`type="password"`)
	b.post("/auth/account/confirm", "method", "mail", "again", "1").want(http.StatusUnprocessableEntity).says("Check what you entered.")
	if got := s.sent("ada@example.com"); len(got) != 0 {
		t.Errorf("%d mails were sent", len(got))
	}
}

// A redirect through a provider shows that a browser has a session there, and not who
// sits at it.
func TestAUserOfAProviderAloneSignsInAgain(t *testing.T) {
	s := newSite(t, false)
	b := s.browser().startSession(s.seed("ada@example.com", "", false), time.Hour, "fed")
	b.get("/auth/account/confirm?callbackUrl=/x").says("Sign in again").says("/auth/signin?callbackUrl=")
	b.post("/auth/account/confirm", "method", "mail", "again", "1").want(http.StatusUnprocessableEntity)
	if len(s.mails) != 0 {
		t.Error("a mail was sent to an address that is not proven")
	}
}

// AC-148
func TestADemandAboveWhatAUserHasLeadsToASecondFactor(t *testing.T) {
	s := newSite(t, false)
	s.demand("/danger", account.Demand{Level: account.TwoFactors})
	s.demand("/vault", account.Demand{Level: account.PhishingResistant})
	b := s.browser().startSession(s.seed("ada@example.com", goodPassword, true), 0, "pwd")
	b.get("/danger").isAt("/auth/account/confirm").says("/auth/account/totp")
	b.get("/vault").isAt("/auth/account/confirm").says("Sign in again")
	for _, level := range []string{"mfa", "phr"} {
		b.post("/auth/account/confirm", "acr_values", level, "password", goodPassword).want(http.StatusUnprocessableEntity)
	}
}

// AT-74, AC-143
func TestTheWayBackIsAPageOfThisSite(t *testing.T) {
	s := newSite(t, false)
	s.demand("/danger", account.Demand{MaxAge: tenMinutes})
	u := s.seed("ada@example.com", goodPassword, true)
	for wanted, want := range map[string]string{
		"":                              "/auth/account",
		"/danger?x=1":                   "/danger?x=1",
		s.server.URL + "/danger":        "/danger",
		"/auth/account":                 "/auth/account",
		"/auth/account/password":        "/auth/account/password",
		"https://evil.example/x":        "/",
		"//evil.example":                "/",
		`/\evil.example`:                "/",
		"/%09/evil.example":             "/%09/evil.example",
		"javascript:alert(1)":           "/",
		"https://a@evil.example":        "/",
		"/auth/account/confirm":         "/",
		"/auth/account/confirm/":        "/",
		"/auth/account/confirm-options": "/",
		"/auth/account/address-choice":  "/",
		"/auth/account/no-such":         "/",
		"/auth/signout":                 "/",
		"/auth/callback/password":       "/",
		"/auth/account/confirm?callbackUrl=%2Fauth%2Faccount%2Fconfirm": "/",
	} {
		b := s.browser().startSession(u, time.Hour, "pwd").stay()
		b.get("/auth/account/confirm?callbackUrl=" + url.QueryEscape(wanted)).want(http.StatusOK)
		b.confirmBy("password", goodPassword).want(http.StatusSeeOther)
		to, err := url.Parse(b.header.Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		if got := to.RequestURI(); to.Host != "" && s.server.URL != to.Scheme+"://"+to.Host {
			t.Errorf("%q leads to %s", wanted, to)
		} else if want != "/" && got != want || want == "/" && strings.HasPrefix(got, "/auth/") {
			t.Errorf("%q leads to %s, want %s", wanted, got, want)
		}
	}
}

// AT-74: a page that is never satisfied ends at a page, and not in a circle.
func TestAPageThatIsNeverSatisfiedEndsAtAPage(t *testing.T) {
	s := newSite(t, false)
	s.demand("/danger", account.Demand{MaxAge: time.Nanosecond})
	b := s.browser().signIn("ada@example.com", "")
	b.startSession(s.seed("ada@example.com", goodPassword, true), time.Hour, "pwd")
	for range 3 {
		b.get("/danger").want(http.StatusOK).isAt("/auth/account/confirm").confirmBy("password", goodPassword).want(http.StatusOK)
	}
}

// AT-79: a mail beside a password is no second factor.
func TestAMailIsNoSecondFactor(t *testing.T) {
	s := newSite(t, false)
	calls := s.demand("/danger", account.Demand{Level: account.TwoFactors})
	u := s.seed("ada@example.com", goodPassword, true)
	s.browser().startSession(u, 0, "pwd", "mail").get("/danger").isAt("/auth/account/confirm")
	s.browser().startSession(u, 0, "fed", "fed:mfa").get("/danger").isAt("/auth/account/confirm")
	if *calls != 0 {
		t.Error("the page was reached")
	}
}

func TestTheWaysToConfirmAsData(t *testing.T) {
	s := newSite(t, true)
	u := s.seed("ada@example.com", goodPassword, true)
	s.app(u)
	b := s.browser().startSession(u, time.Hour, "pwd")
	answer := b.script(http.MethodGet, "/auth/account/confirm?acr_values=1fa&max_age=60", "").want(http.StatusOK).json()
	if got, want := answer["methods"], []any{"password", "totp"}; !equalJSON(got, want) || answer["confirmed"] != false || answer["acr_values"] != "1fa mfa phr" {
		t.Errorf("the answer is %v", answer)
	}
	answer = b.postJSON("/auth/account/confirm", map[string]any{"method": "password", "password": "guess"})
	if b.status != http.StatusUnprocessableEntity || answer["error"] != "wrong_password" || !equalJSON(answer["fields"], map[string]any{"password": "wrong_password"}) {
		t.Errorf("a wrong password was answered with %d %v", b.status, answer)
	}
	answer = b.postJSON("/auth/account/confirm", map[string]any{"method": "password", "password": goodPassword, "callbackUrl": "/x", "acr_values": "1fa"})
	if b.status != http.StatusOK || answer["next"] != s.server.URL+"/x" {
		t.Errorf("a right password was answered with %d %v", b.status, answer)
	}
}

// AC-13: the store does not answer: nothing is proven, and no cookie changes.
func TestAConfirmationWithoutTheStoreChangesNothing(t *testing.T) {
	s := newSite(t, true, func(c *pintle.Config, _ *account.Options) { c.Store = &flakyStore{Store: c.Store} })
	s.demand("/danger", strongest)
	b := s.browser().startSession(s.seed("ada@example.com", goodPassword, true), time.Hour, "pwd")
	b.get("/auth/account/confirm")
	form := b.fields("password", goodPassword)
	s.store.(*flakyStore).fail("Factors")
	if r := b.post("/auth/account/confirm", form...).want(http.StatusServiceUnavailable); r.header.Get("Retry-After") != "5" {
		t.Errorf("the user may try again after %q", r.header.Get("Retry-After"))
	}
	if len(b.cookieNames()) != 0 {
		t.Errorf("the cookies %v were set", b.cookieNames())
	}
	b.get("/danger").want(http.StatusServiceUnavailable)
	s.store.(*flakyStore).fail("")
	b.get("/danger").isAt("/auth/account/confirm")
}

// AT-76, AC-146: a copy of the session from before the confirmation has not been confirmed.
func TestTheSessionBeforeAConfirmationIsNotConfirmed(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		calls := s.demand("/danger", account.Demand{MaxAge: tenMinutes})
		b, thief := s.browser().startSession(s.seed("ada@example.com", goodPassword, true), time.Hour, "pwd"), s.browser()
		here, err := url.Parse(s.server.URL)
		if err != nil {
			t.Fatal(err)
		}
		thief.client.Jar.SetCookies(here, b.client.Jar.Cookies(here))
		b.get("/danger").confirmBy("password", goodPassword).says("done")
		if thief.get("/danger").isAt("/auth/account/confirm"); *calls != 1 {
			t.Error("a copy of the session reached the page")
		}
		b.isSignedInAs("ada@example.com").get("/danger").says("done")
	})
}

// A sign-out everywhere while the user confirms is not undone.
func TestAConfirmationDoesNotReviveASession(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		u := s.seed("ada@example.com", goodPassword, true)
		b := s.browser().startSession(u, time.Hour, "pwd")
		b.get("/auth/account/confirm")
		form := b.fields("password", goodPassword)
		if err := s.auth.SignOutEverywhere(t.Context(), u.ID); err != nil {
			t.Fatal(err)
		}
		b.post("/auth/account/confirm", form...).want(http.StatusUnauthorized)
		b.isSignedInAs("")
	})
}

// A code of an app is one factor. If the password was checked too long ago, the page asks
// for it before it accepts a code.
func TestACodeOfNowDoesNotStandInForThePassword(t *testing.T) {
	s := newSite(t, false)
	u := s.seed("ada@example.com", goodPassword, true)
	code := s.app(u)
	b := s.browser().startSession(u, time.Hour, "pwd", "otp")
	b.get("/auth/account/confirm?acr_values=1fa&max_age=600&method=totp").confirmBy("code", code()).isAt("/auth/account")
	b.get("/auth/account/confirm").says(`type="password"`)
	b.confirmBy("password", goodPassword).isAt("/auth/account")
}
