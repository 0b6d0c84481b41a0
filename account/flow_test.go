package account_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/throttle"
)

// tokenOf is the token of a link.
func (s *site) tokenOf(link string) string {
	s.t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		s.t.Fatal(err)
	}
	return u.Query().Get("token")
}

// expire makes the flow of a link one that has expired and was not swept.
func (s *site) expire(link string) {
	s.t.Helper()
	f, err := s.rows.Flow(s.t.Context(), sha256.Sum256([]byte(s.tokenOf(link))))
	if err != nil {
		s.t.Fatal(err)
	}
	f.Expires = time.Now().Add(-time.Millisecond).UTC().Truncate(time.Millisecond)
	if err := s.rows.ChangeFlow(s.t.Context(), f); err != nil {
		s.t.Fatal(err)
	}
}

// AC-10: a sweep may be late, or never come.
func TestAFlowThatHasExpiredIsOfNoUseBeforeASweep(t *testing.T) {
	t.Parallel()
	t.Run("a reset", func(t *testing.T) {
		s := newSite(t, false)
		s.seed(ada, goodPassword, true)
		link := s.resetLink(ada)
		b := s.browser().get(link).want(http.StatusOK)
		s.expire(link)
		b.post("/auth/account/reset", "password", newPassword).want(http.StatusGone)
		s.browser().get(link).want(http.StatusGone)
		if !s.passwordIs(ada, goodPassword) {
			t.Error("the password has changed")
		}
	})
	t.Run("a sign-up", func(t *testing.T) {
		s := newSite(t, false)
		b := s.browser().signUp(ada)
		link, code := s.lastMail().URL, s.code()
		opened := s.browser().get(link).want(http.StatusOK)
		s.expire(link)
		b.post("/auth/account/sign-up-sent", "code", code).want(http.StatusGone)
		opened.post("/auth/account/sign-up-finish", "password", goodPassword).want(http.StatusGone)
		s.browser().get(link).want(http.StatusGone)
		if s.user(ada) != nil {
			t.Error("a user was made")
		}
	})
}

// AC-22: the code of a mail has ten minutes, and its link a day.
func TestACodeIsGoodForTenMinutes(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	b := s.browser().signUp(ada)
	m, code := s.lastMail(), s.code()
	if err := account.ExpireCode(t.Context(), s.accounts, s.tokenOf(m.URL)); err != nil {
		t.Fatal(err)
	}
	b.post("/auth/account/sign-up-sent", "code", code).want(http.StatusUnprocessableEntity)
	b.post("/auth/account/sign-up-sent", "again", "1").want(http.StatusOK)
	b.post("/auth/account/sign-up-sent", "code", code).want(http.StatusUnprocessableEntity)
	b.post("/auth/account/sign-up-sent", "code", s.code()).isAt("/auth/account/sign-up-finish")
	s.browser().get(m.URL).want(http.StatusOK)
}

// AC-22: a code that comes after five attempts is not compared.
func TestARightCodeAfterFiveAttemptsIsOneTooMany(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	b := s.browser().signUp(ada)
	id := accountstore.Hash(sha256.Sum256([]byte(s.tokenOf(s.lastMail().URL))))
	for range 5 {
		if _, err := s.rows.AttemptFlow(t.Context(), id, 5); err != nil {
			t.Fatal(err)
		}
	}
	b.post("/auth/account/sign-up-sent", "code", s.code()).want(http.StatusTooManyRequests)
	b.get("/auth/account/sign-up-finish").want(http.StatusForbidden)
}

// withoutMailLimits lets clients cause as many mails as they like.
func withoutMailLimits(_ *pintle.Config, o *account.Options) {
	none := throttle.Limit{Burst: -1}
	o.Passwords.Guard = &throttle.Guard{MailsPerAddress: none, MailsPerClient: none}
}

// AC-21: an attacker who asks again and again ends nothing that the owner of an address has
// begun. Beyond five at a time there is no mail, and the same answer.
func TestAFurtherRequestEndsNoneOfBefore(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ask    func(b *browser) *browser
		finish func(b *browser) *browser
	}{
		"forgot": {
			func(b *browser) *browser {
				return b.get("/auth/account/forgot").stay().post("/auth/account/forgot", "email", ada)
			},
			func(b *browser) *browser {
				return b.post("/auth/account/reset", "password", newPassword).isAt("/auth/signin").signIn(ada, newPassword)
			},
		},
		"sign-up": {
			func(b *browser) *browser {
				return b.get("/auth/account/sign-up").stay().post("/auth/account/sign-up", "email", ada)
			},
			func(b *browser) *browser { return b.post("/auth/account/sign-up-finish", "password", newPassword) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, false, withoutMailLimits)
			if name == "forgot" {
				s.seed(ada, goodPassword, true)
			}
			first := tt.ask(s.browser()).want(http.StatusSeeOther).shape()
			link := s.lastMail().URL
			for i := range 7 {
				if got := tt.ask(s.browser()).shape(); got != first {
					t.Errorf("request %d is answered differently: %s", i+2, firstDifference(got, first))
				}
			}
			if n := len(s.sent(ada)); n != 5 {
				t.Errorf("%d mails were sent, want 5", n)
			}
			tt.finish(s.browser().get(link).want(http.StatusOK)).isSignedInAs(ada)
		})
	}
}

var elsewhere = regexp.MustCompile(`(?i)(?:src|href|action|url)\s*[=(]\s*["']?((?:https?:)?//[^"')\s>]+)`)

// AC-23: the token of a link has 256 bits. It goes from the URL into a cookie, and the page names
// no other site that would learn the URL.
func TestTheTokenOfALinkIsInNoPageAndNoReferer(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	s.seed(ada, goodPassword, true)
	for _, link := range []string{s.resetLink(ada), s.browser().signUp("new@example.com").lastMail().URL} {
		token := s.tokenOf(link)
		if bits, err := base64.RawURLEncoding.DecodeString(token); err != nil || len(bits) != 32 {
			t.Errorf("the token has %d bytes, %v", len(bits), err)
		}
		b := s.browser().stay().get(link).want(http.StatusSeeOther)
		if to := b.header.Get("Location"); strings.Contains(to+b.page, token) {
			t.Errorf("the token is in the answer to the link: %q %s", to, b.page)
		}
		for _, c := range b.header["Set-Cookie"] {
			if strings.Contains(c, token) {
				t.Errorf("the token is in the cookie as it is: %s", c)
			}
		}
		b.get(b.header.Get("Location")).want(http.StatusOK)
		// The form of the page needs its Origin, which is not more than the name of the site.
		if policy := b.header.Get("Referrer-Policy"); policy != "strict-origin" && policy != "no-referrer" {
			t.Errorf("Referrer-Policy is %q", policy)
		}
		if strings.Contains(b.page, token) {
			t.Error("the token is on the page")
		}
		for _, found := range elsewhere.FindAllStringSubmatch(b.page, -1) {
			if !strings.HasPrefix(found[1], s.server.URL) {
				t.Errorf("the page names %s", found[1])
			}
		}
	}
}

// AC-13: until the flow is used up, a fault of the store costs the user one more press of the
// button.
func TestAStoreThatDoesNotAnswerConsumesNothing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		begin func(s *site) *browser
		post  []string
		done  func(b *browser)
	}{
		"reset": {
			func(s *site) *browser {
				s.seed(ada, goodPassword, true)
				return s.browser().get(s.resetLink(ada)).want(http.StatusOK)
			},
			[]string{"/auth/account/reset", "password", newPassword},
			func(b *browser) { b.signIn(ada, newPassword).isSignedInAs(ada) },
		},
		"sign-up": {
			func(s *site) *browser { return s.browser().signUp(ada).get(s.lastMail().URL).want(http.StatusOK) },
			[]string{"/auth/account/sign-up-finish", "password", newPassword},
			func(b *browser) { b.isSignedInAs(ada) },
		},
		"code of a sign-up": {
			func(s *site) *browser { return s.browser().signUp(ada) },
			[]string{"/auth/account/sign-up-sent", "code", ""},
			func(b *browser) { b.isAt("/auth/account/sign-up-finish").want(http.StatusOK) },
		},
		"recovery codes": {
			func(s *site) *browser {
				s.seed(ada, goodPassword, true)
				b := s.browser().signIn(ada, goodPassword).get("/auth/account/totp")
				key, a := b.key()
				return b.post("/auth/account/totp", "key", key, "code", a.code(s.t, 0)).isAt("/auth/account/recovery-codes")
			},
			[]string{"/auth/account/recovery-codes", "saved", "1"},
			func(b *browser) { b.isAt("/auth/account/factors").isSignedInAs(ada) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				s, f := withFaults(t)
				b := tt.begin(s)
				pairs := slices.Clone(tt.post[1:])
				if pairs[1] == "" {
					pairs[1] = s.code()
				}
				used := false
				f.onUse = func() { used = true }
				b.token()
				b.stays = true
				f.arm(n)
				b.post(tt.post[0], pairs...)
				hit := f.hit.Load()
				f.arm(0)
				if used || !hit {
					if n < 3 {
						t.Errorf("only %d calls were tried", n-1)
					}
					break
				}
				if b.status != http.StatusServiceUnavailable || len(b.cookieNames()) > 0 {
					t.Errorf("call %d failed, and the answer has status %d and the cookies %q", n, b.status, b.cookieNames())
				}
				f.onUse, b.stays = nil, false
				tt.done(b.post(tt.post[0], pairs...))
			}
		})
	}
}

// A brokenTx fails when a factor is added within a transaction.
type brokenTx struct {
	pintle.Store
	inTx bool
}

func (s brokenTx) InTx(ctx context.Context, do func(pintle.Store) error) error {
	return s.Store.InTx(ctx, func(tx pintle.Store) error { return do(brokenTx{tx, true}) })
}

func (s brokenTx) AccountStore() accountstore.Store {
	return brokenRows{s.Store.AccountStore(), s.inTx}
}

type brokenRows struct {
	accountstore.Store
	inTx bool
}

func (r brokenRows) AddFactor(ctx context.Context, f *accountstore.Factor) error {
	if err := r.Store.AddFactor(ctx, f); err != nil || !r.inTx {
		return err
	}
	return errFault
}

// AC-33: what belongs together is one transaction in a store that has them.
func TestASignUpThatFailsInATransactionChangesNothing(t *testing.T) {
	t.Parallel()
	broken := func(c *pintle.Config, _ *account.Options) { c.Store = brokenTx{Store: c.Store} }
	t.Run("a new user", func(t *testing.T) {
		s := newSite(t, false, broken)
		b := s.browser().signUp(ada).get(s.lastMail().URL)
		b.post("/auth/account/sign-up-finish", "password", goodPassword).want(http.StatusServiceUnavailable).isSignedInAs("")
		if s.user(ada) != nil {
			t.Error("there is a user without a password")
		}
	})
	t.Run("an address that is taken", func(t *testing.T) {
		s := newSite(t, false, broken, withGitHub)
		held := s.seed(ada, "", false)
		s.link(held, "github")
		b := s.browser().signUp(ada).get(s.lastMail().URL).post("/auth/account/address-choice", "choice", "new")
		b.post("/auth/account/sign-up-finish", "password", goodPassword).want(http.StatusServiceUnavailable)
		if u := s.user(ada); u == nil || u.ID != held.ID || s.state(held).Must != "" {
			t.Errorf("the address is that of %v", u)
		}
	})
	t.Run("recovery codes", func(t *testing.T) {
		s, _, codes := withApp(t, false)
		other := newSite(t, false, func(c *pintle.Config, _ *account.Options) { c.Store = brokenTx{Store: s.store} })
		u := s.user(ada)
		b := other.browser().startSession(u, 0, "pwd", "otp").get("/auth/account/recovery-codes")
		b.post("/auth/account/recovery-codes", "new", "1").post("/auth/account/recovery-codes", "saved", "1").want(http.StatusServiceUnavailable)
		s.half().post(secondFactor, "code", codes[0]).isSignedInAs(ada)
	})
}

// AC-42: a request beyond a limit is answered before anything about its address is read.
func TestARequestBeyondALimitReadsNothing(t *testing.T) {
	t.Parallel()
	for path, pairs := range map[string][]string{
		"/auth/account/forgot":       {},
		"/auth/account/sign-up":      {},
		"/auth/callback/credentials": {"password", "a wrong password"},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			r := &recorder{}
			s := newSite(t, false, func(c *pintle.Config, o *account.Options) {
				c.Store = recordedStore{c.Store, r}
				one := throttle.Limit{Burst: 1, Every: time.Hour}
				o.Passwords.Guard = &throttle.Guard{MailsPerAddress: one, PerAccountAndClient: one, PerAccount: one, PerDevice: one}
			})
			s.seed(ada, goodPassword, true)
			ask := func() *browser {
				b := s.browser().get("/auth/signin").stay()
				return b.post(path, append([]string{"email", ada}, pairs...)...)
			}
			if asked := r.of(func() { ask() }); len(asked) == 0 {
				t.Fatal("the first request reads nothing")
			}
			asked := slices.DeleteFunc(r.of(func() { ask() }), func(call string) bool { return call == "Record" })
			if len(asked) > 0 { // but for the record of the attempt
				t.Errorf("beyond the limit the store is asked %q", asked)
			}
		})
	}
}

// A lostReplacement is a store that replaces no factor.
type lostReplacement struct{ pintle.Store }

func (s lostReplacement) AccountStore() accountstore.Store { return lostRows{s.Store.AccountStore()} }

type lostRows struct{ accountstore.Store }

func (lostRows) ReplaceFactor(context.Context, *accountstore.Factor) error { return errFault }

// AC-72: a hash that cannot be renewed is still one of the right password.
func TestASignInDoesNotFailWithTheRenewalOfItsHash(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	s.outdate(u)
	other := newSite(t, false, func(c *pintle.Config, _ *account.Options) { c.Store = lostReplacement{s.store} })
	before := s.factor(u, "password").Secret
	other.browser().signIn(ada, goodPassword).isSignedInAs(ada)
	if log := other.log(); !strings.Contains(log, "hash of a password not renewed") {
		t.Errorf("the operator is not told: %s", log)
	}
	if s.factor(u, "password").Secret != before {
		t.Error("the hash was replaced")
	}
	s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
	if s.factor(u, "password").Secret == before {
		t.Error("the hash was not replaced")
	}
}

// AC-171: a notice links to pages that ask for a sign-in, and carries nothing that is of use to
// another reader.
func TestANoticeCarriesNoToken(t *testing.T) {
	t.Parallel()
	s := newSite(t, false, withGitHub)
	s.link(s.seed(ada, goodPassword, true), "github")
	b := s.browser().signIn(ada, goodPassword).get("/auth/account/password")
	b.post("/auth/account/password", "current", goodPassword, "password", newPassword)
	b.get("/auth/account/password").post("/auth/account/password", "remove", "1")
	b.get("/auth/account/password").post("/auth/account/password", "password", goodPassword)
	awayFromTheNextStep()
	a, codes := b.addApp("totp")
	s.half().post(secondFactor, "code", codes[0]).isSignedInAs(ada)
	half := s.half()
	for range 5 {
		half.post(secondFactor, "code", a.code(t, 7))
	}
	b.post("/auth/account/recovery-codes", "new", "1").post("/auth/account/recovery-codes", "saved", "1")
	b.post("/auth/account/factor", "id", s.factor(s.user(ada), "totp").ID, "action", "remove")
	if err := s.accounts.Operators().ResetSecondFactor(t.Context(), s.userID()); err != nil {
		t.Fatal(err)
	}
	s.temporary(s.user(ada))
	s.browser().get(s.resetLink(ada)).post("/auth/account/reset", "password", newPassword).isAt("/auth/signin")
	kinds := map[string]bool{}
	for _, m := range s.sent(ada) {
		if m.Kind == "reset" { // which is asked for
			continue
		}
		kinds[m.Kind] = true
		if m.Token != "" || m.Code != "" || strings.Contains(m.Text+m.HTML+m.URL, "token=") || mailedCode.MatchString(m.Text) {
			t.Errorf("the mail %q has a token or a code: %s", m.Kind, m.Text)
		}
		stranger := s.browser().get(m.URL).isSignedInAs("")
		if at := stranger.at.Path; at != "/auth/signin" && at != "/auth/account/forgot" {
			t.Errorf("the mail %q leads to %s, which asks for no sign-in", m.Kind, at)
		}
		if strings.Contains(stranger.page, ada) {
			t.Errorf("the mail %q leads to a page that names the user", m.Kind)
		}
	}
	want := []string{
		"password-changed", "password-removed", "password-set", "factor-added", "recovery-used", "second-factor-wrong", "recovery-made",
		"factor-removed", "factors-reset", "password-temporary", "password-reset",
	}
	for _, kind := range want {
		if !kinds[kind] {
			t.Errorf("there is no mail %q: %v", kind, kinds)
		}
	}
}
