package account_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// withFallback lets all users but administrators sign in with a mailed code.
func withFallback(_ *pintle.Config, o *account.Options) {
	o.SecondFactor.MailFallback = func(_ context.Context, p *pintle.PendingSignIn) (bool, error) {
		return p.User.Extra["role"] != "admin", nil
	}
}

// provenAt moves the proof of a user's address.
func (s *site) provenAt(u *pintle.User, ago time.Duration) {
	s.t.Helper()
	at := time.Now().Add(-ago).UTC().Truncate(time.Millisecond)
	if _, err := s.store.UpdateUser(s.t.Context(), u.ID, pintle.UserUpdate{EmailVerified: &at}); err != nil {
		s.t.Fatal(err)
	}
}

// withMailedCode is a site with the fallback, and a user with an app whose address was proven
// long ago.
func withMailedCode(t *testing.T, tokens bool, changes ...func(*pintle.Config, *account.Options)) (*site, *pintle.User) {
	t.Helper()
	s := newSite(t, tokens, append(changes, withFallback)...)
	u := s.seed(ada, goodPassword, true)
	s.provenAt(u, 25*time.Hour)
	s.app(u)
	return s, u
}

// mailsACode asks for a code on the page of the second factor.
func (b *browser) mailsACode() string {
	b.t.Helper()
	b.get(secondFactor+"?method=mail").says("We send a code to").says(ada).post(secondFactor, "method", "mail", "again", "1")
	b.isAt(secondFactor).says("We sent a code to")
	return b.code()
}

const byMail = "method=mail"

// AC-116, AT-79
func TestAMailedCodeLetsAUserSignInWithOneFactor(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s, _ := withMailedCode(t, tokens, remembering)
		b := s.half().says(byMail)
		code := b.mailsACode()
		b.post(secondFactor, "method", "mail", "code", code, "remember", "1").isAt("/").isSignedInAs(ada)
		if methods, level := b.proofs(); strings.Join(methods, " ") != "mail pwd" || level != "1fa" {
			t.Errorf("the session has %v and the level %v", methods, level)
		}
		if b.deviceCookie() != "" {
			t.Error("the browser is remembered")
		}
		s.demand("/danger", strongest)
		b.get("/danger").isAt("/auth/account/confirm").says("Code of the app")
		// The code is of one sign-in, and works once.
		s.half().post(secondFactor, "method", "mail", "code", code).want(http.StatusUnprocessableEntity).isSignedInAs("")
		other := s.half()
		other.mailsACode()
		other.post(secondFactor, "method", "mail", "code", code).want(http.StatusUnprocessableEntity).isSignedInAs("")
		other.post(secondFactor, "code", code).want(http.StatusUnprocessableEntity).isSignedInAs("")
	})
}

// AC-116: the page that is shown sends no mail.
func TestACodeIsMailedWhenItsUserAsksForIt(t *testing.T) {
	s, _ := withMailedCode(t, false)
	b := s.half().get(secondFactor + "?method=mail").get(secondFactor + "?method=mail&again=1")
	if mails := s.sent(ada); len(mails) != 0 {
		t.Errorf("%d mails were sent", len(mails))
	}
	if answer := b.script(http.MethodGet, secondFactor+"?method=mail", "").json(); answer["sent"] != false {
		t.Errorf("the answer is %v", answer)
	}
	b.postJSON(secondFactor, map[string]any{"method": "mail", "again": true})
	if answer := b.script(http.MethodGet, secondFactor+"?method=mail", "").json(); answer["sent"] != true {
		t.Errorf("the answer is %v", answer)
	}
	if answer := b.postJSON(secondFactor, map[string]any{"method": "mail", "code": b.code()}); answer["next"] == nil {
		t.Errorf("the answer is %v", answer)
	}
	b.isSignedInAs(ada)
}

// AC-116: when the fallback is not offered.
func TestTheMailedCodeHasItsExclusions(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		excluded := func(t *testing.T, s *site, b *browser) {
			t.Helper()
			if b.isAt(secondFactor); strings.Contains(b.page, byMail) {
				t.Errorf("the page offers it: %s", b.text())
			}
			mails := len(s.sent(ada))
			b.post(secondFactor, "method", "mail", "again", "1").want(http.StatusUnprocessableEntity)
			if len(s.sent(ada)) != mails {
				t.Error("a mail was sent")
			}
		}
		t.Run("by default", func(t *testing.T) {
			s := newSite(t, tokens)
			u := s.seed(ada, goodPassword, true)
			s.provenAt(u, 25*time.Hour)
			s.app(u)
			excluded(t, s, s.half())
		})
		t.Run("a role", func(t *testing.T) {
			s, u := withMailedCode(t, tokens)
			if _, err := s.store.UpdateUser(t.Context(), u.ID, pintle.UserUpdate{Extra: map[string]any{"role": "admin"}}); err != nil {
				t.Fatal(err)
			}
			excluded(t, s, s.half())
		})
		t.Run("after a mail", func(t *testing.T) {
			var s *site
			s, _ = withMailedCode(t, tokens, withMailLinks(&s))
			b := s.browser().get("/auth/signin").post("/auth/signin/email", "email", ada)
			link := s.lastMail().URL
			excluded(t, s, b.get(link).post(strings.TrimPrefix(link, s.server.URL)))
		})
		t.Run("after a passkey that did not verify its user", func(t *testing.T) {
			s, u := withMailedCode(t, tokens, withPasskeys(&echo{}))
			id := s.passkey(u)
			b := s.browser().get("/auth/signin")
			data, _ := b.answer(id, "/auth/webauthn-options/passkey?action=authenticate")
			excluded(t, s, b.post("/auth/callback/passkey", "action", "authenticate", "data", data))
		})
		t.Run("an address that was proven today", func(t *testing.T) {
			s, u := withMailedCode(t, tokens)
			s.provenAt(u, 23*time.Hour)
			excluded(t, s, s.half())
		})
		t.Run("a password that was chosen today", func(t *testing.T) {
			s, u := withMailedCode(t, tokens)
			for ago, offered := range map[time.Duration]bool{25 * time.Hour: true, 23 * time.Hour: false} {
				factors, err := s.rows.Factors(t.Context(), u.ID)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range factors {
					if f.Kind != "password" {
						continue
					}
					if err := s.rows.DeleteFactor(t.Context(), u.ID, f.Kind, f.ID); err != nil {
						t.Fatal(err)
					}
					f.Step = time.Now().Add(-ago).UnixMilli()
					if err := s.rows.AddFactor(t.Context(), f); err != nil {
						t.Fatal(err)
					}
				}
				if b := s.half(); offered {
					b.says(byMail)
				} else {
					excluded(t, s, b)
				}
			}
		})
	})
}

// AT-52: the codes of all kinds share the limits of one sign-in and of one user.
func TestMailedCodesShareTheLimitsOfOtherCodes(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s, u := withMailedCode(t, tokens)
		b := s.half()
		code := b.mailsACode()
		wrong := "0000 0000"
		if code == wrong {
			wrong = "0000 0001"
		}
		for _, pairs := range [][]string{{"method", "mail", "code", wrong}, {"code", "000000"}, {"method", "mail", "code", wrong}, {"code", "000001"}} {
			b.post(secondFactor, pairs...).want(http.StatusUnprocessableEntity)
		}
		b.post(secondFactor, "method", "mail", "code", "12").want(http.StatusUnprocessableEntity) // not counted
		b.post(secondFactor, "method", "mail", "code", wrong).want(http.StatusTooManyRequests)
		b.post(secondFactor, "method", "mail", "code", code).want(http.StatusForbidden).isSignedInAs("")
		s.wantMail(ada, "did not succeed")

		b = s.half()
		code = b.mailsACode()
		if err := s.rows.ChangeState(t.Context(), &accountstore.State{UserID: u.ID, Suspended: true}); err != nil {
			t.Fatal(err)
		}
		b.post(secondFactor, "method", "mail", "code", code).want(http.StatusForbidden).says("Codes are no longer accepted").isSignedInAs("")
	})
}

// Four mails of one sign-in are the most, and a new code replaces the one before.
func TestASecondMailReplacesTheCode(t *testing.T) {
	s, _ := withMailedCode(t, false)
	b := s.half()
	first := b.mailsACode()
	b.post(secondFactor, "method", "mail", "again", "1")
	second := b.code()
	if first != second {
		b.post(secondFactor, "method", "mail", "code", first).want(http.StatusUnprocessableEntity)
	}
	b.post(secondFactor, "method", "mail", "code", second).isSignedInAs(ada)

	b = s.half()
	b.mailsACode()
	for range 3 {
		b.post(secondFactor, "method", "mail", "again", "1")
	}
	mails := len(s.sent(ada))
	b.post(secondFactor, "method", "mail", "again", "1").want(http.StatusTooManyRequests)
	if len(s.sent(ada)) != mails {
		t.Error("a fifth mail was sent")
	}
}

// AT-62, AC-4: a change of the factors ends the code, and of two requests with it one goes on.
func TestAMailedCodeEndsWithItsSignIn(t *testing.T) {
	s, u := withMailedCode(t, false)
	b := s.half()
	code := b.mailsACode()
	if err := s.accounts.Operators().ResetSecondFactor(t.Context(), u.ID); err != nil {
		t.Fatal(err)
	}
	b.post(secondFactor, "method", "mail", "code", code).want(http.StatusForbidden).isSignedInAs("")

	s, _ = withMailedCode(t, false)
	first := s.half()
	code = first.mailsACode()
	browsers := []*browser{first, s.browserWith(first), s.browserWith(first), s.browserWith(first)}
	in := make(chan bool, len(browsers))
	atOnce(browsers, func(b *browser) {
		b.stays = true
		b.post(secondFactor, "method", "mail", "code", code)
		in <- b.status == http.StatusSeeOther && !strings.Contains(b.header.Get("Location"), "/auth/")
	})
	n := 0
	for range browsers {
		if <-in {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d of %d requests went on", n, len(browsers))
	}
}

// A code that was mailed, and not typed, completes no sign-in.
func TestAMailedCodeHasToBeTyped(t *testing.T) {
	s, _ := withMailedCode(t, false)
	s.mux.HandleFunc("/complete", func(w http.ResponseWriter, r *http.Request) {
		next, err := s.auth.CompleteSignIn(w, r, pintle.CompleteOptions{Methods: []string{"mail"}})
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write([]byte(next))
	})
	b := s.half()
	b.mailsACode()
	b.get("/complete").isSignedInAs("")
}
