package account_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// remembering lets all users have browsers remembered.
func remembering(_ *pintle.Config, o *account.Options) {
	o.SecondFactor.Remember = func(context.Context, *pintle.PendingSignIn) (bool, error) { return true, nil }
}

// browsers are the rows of the remembered browsers of a user, the oldest first.
func (s *site) browsers(u *pintle.User) (rows []*accountstore.Factor) {
	s.t.Helper()
	all, err := s.rows.Factors(s.t.Context(), u.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range all {
		if f.Kind == "device" {
			rows = append(rows, f)
		}
	}
	return rows
}

// giveBrowser has a browser remembered for a user, and returns the id of its row.
func (s *site) giveBrowser(u *pintle.User, b *browser) (id string) {
	s.t.Helper()
	token, id, err := s.accounts.GiveBrowser(s.t.Context(), u.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	b.plant(token)
	return id
}

// plant sets the cookie of a remembered browser.
func (b *browser) plant(value string) *browser {
	b.t.Helper()
	b.client.Jar.SetCookies(b.home(), []*http.Cookie{{Name: "pintle.device", Value: value, Path: "/"}})
	return b
}

func (b *browser) home() *url.URL {
	u, err := url.Parse(b.server.URL + "/")
	if err != nil {
		b.t.Fatal(err)
	}
	return u
}

// deviceCookie is the value of that cookie, or "".
func (b *browser) deviceCookie() string {
	for _, c := range b.client.Jar.Cookies(b.home()) {
		if c.Name == "pintle.device" {
			return c.Value
		}
	}
	return ""
}

// leaves signs a browser out and forgets its session; other cookies stay.
func (b *browser) leaves() *browser {
	b.t.Helper()
	return b.get("/auth/account").post("/auth/signout").isSignedInAs("")
}

// isAsked checks that a sign-in in a browser needs the second factor.
func (b *browser) isAsked() *browser {
	b.t.Helper()
	return b.signIn(ada, goodPassword).isAt(secondFactor).isSignedInAs("")
}

// AC-117, AT-79
func TestARememberedBrowserIsNotAskedForASecondFactor(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s, a, _ := withApp(t, tokens, remembering)
		u := s.user(ada)
		b := s.half().says(`name="remember"`).says("Do not ask in this browser for 30 days")
		b.stay().post(secondFactor, "code", a.code(t, 0), "remember", "1")
		var line string
		for _, set := range b.header["Set-Cookie"] {
			if strings.HasPrefix(set, "pintle.device=") {
				line = set
			}
		}
		for _, want := range []string{"; Path=/", "; HttpOnly", "; SameSite=Lax", fmt.Sprintf("; Max-Age=%d", 30*24*60*60)} {
			if !strings.Contains(line, want) {
				t.Errorf("the cookie %q has no %q", line, want)
			}
		}
		b.stays = false
		if b.isSignedInAs(ada); len(b.deviceCookie()) != 43 {
			t.Errorf("the cookie is %q", b.deviceCookie())
		}
		rows := s.browsers(u)
		if len(rows) != 1 || strings.Contains(rows[0].Secret, b.deviceCookie()) || len(rows[0].Secret) != hex.EncodedLen(32) {
			t.Fatalf("the rows are %+v", rows)
		}
		if left := time.Until(rows[0].Expires); left < 30*24*time.Hour-time.Minute || left > 30*24*time.Hour {
			t.Errorf("the browser is remembered for %v", left)
		}

		// The sign-out keeps it, and a sign-in does not extend it.
		b.leaves().signIn(ada, goodPassword).isAt("/").isSignedInAs(ada)
		if again := s.browsers(u); len(again) != 1 || !again[0].Expires.Equal(rows[0].Expires) {
			t.Errorf("after another sign-in the rows are %+v", again)
		}
		// It proves nothing.
		if methods, level := b.proofs(); strings.Join(methods, " ") != "pwd" || level != "1fa" {
			t.Errorf("the session has %v and the level %v", methods, level)
		}
		s.demand("/danger", strongest)
		b.get("/danger").isAt("/auth/account/confirm").says("Code of the app")
		s.half() // another browser
	})
}

// AC-117: the tick is off by default, and the user's.
func TestABrowserIsRememberedIfItsUserAndTheApplicationWantThat(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s, a, codes := withApp(t, tokens)
		if b := s.half(); strings.Contains(b.page, "remember") {
			t.Errorf("the page is %s", b.text())
		}
		s.half().post(secondFactor, "code", a.code(t, 0), "remember", "1").isSignedInAs(ada)
		if rows := s.browsers(s.user(ada)); len(rows) != 0 {
			t.Errorf("the rows are %+v", rows)
		}
		_ = codes

		s, a, codes = withApp(t, tokens, func(_ *pintle.Config, o *account.Options) {
			o.SecondFactor.Remember = func(_ context.Context, p *pintle.PendingSignIn) (bool, error) {
				return p.User.Extra["role"] != "admin", nil
			}
		})
		u := s.user(ada)
		s.half().post(secondFactor, "code", a.code(t, 0)).isSignedInAs(ada)
		if rows := s.browsers(u); len(rows) != 0 {
			t.Errorf("without the tick the rows are %+v", rows)
		}
		b := s.half().post(secondFactor, "code", codes[0], "remember", "1").isSignedInAs(ada)
		if _, err := s.store.UpdateUser(t.Context(), u.ID, pintle.UserUpdate{Extra: map[string]any{"role": "admin"}}); err != nil {
			t.Fatal(err)
		}
		b.leaves().isAsked()
		if strings.Contains(b.page, "remember") {
			t.Errorf("the page is %s", b.text())
		}
		b.post(secondFactor, "code", codes[1], "remember", "1").isSignedInAs(ada)
		if rows := s.browsers(u); len(rows) != 1 {
			t.Errorf("the rows are %+v", rows)
		}
	})
}

// A passkey has the tick, too, and scripts see whether it is offered.
func TestScriptsHaveABrowserRemembered(t *testing.T) {
	s, a, _ := withApp(t, false, remembering, withPasskeys(&echo{}))
	u := s.user(ada)
	b := s.half()
	if answer := b.script(http.MethodGet, secondFactor, "").json(); answer["remember"] != true {
		t.Errorf("the answer is %v", answer)
	}
	b.postJSON(secondFactor, map[string]any{"code": a.code(t, 0), "remember": true})
	b.leaves().signIn(ada, goodPassword).isSignedInAs(ada)
	id := s.passkey(u)
	other := s.half().says(`name="remember"`).byPasskey(id, "remember", "1")
	other.leaves().signIn(ada, goodPassword).isSignedInAs(ada)
	me := s.browserWith(other).get("/auth/account/me").json()
	list := me["rememberedDevices"].([]any)
	if len(list) != 2 || list[0].(map[string]any)["current"] != false || list[1].(map[string]any)["current"] != true {
		t.Errorf("the browsers are %v", list)
	}
	if strings.Contains(s.browserWith(other).get("/auth/account/me").page, s.browsers(u)[0].Secret) {
		t.Error("the list has a hash")
	}
}

// AT-56: the cookie of another user, of another tenant, a copied hash, the 31st day.
func TestACookieOfNoRememberedBrowserIsOfNoUse(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s, _, _ := withApp(t, tokens, remembering)
		u := s.user(ada)
		s.browser().isAsked()
		b := s.browser()
		s.giveBrowser(u, b)
		b.signIn(ada, goodPassword).isSignedInAs(ada)

		bob := s.browser()
		s.giveBrowser(s.seed("bob@example.com", goodPassword, true), bob)
		bob.isAsked()

		hash := s.browsers(u)[0].Secret
		for _, planted := range []string{hash, "", "x", b.deviceCookie()[:42], b.deviceCookie() + "A"} {
			s.browser().plant(planted).isAsked()
		}

		row := *s.browsers(u)[0]
		row.Expires = time.Now().Add(-time.Second)
		if err := s.rows.ReplaceFactor(t.Context(), &row); err != nil {
			t.Fatal(err)
		}
		b.leaves().isAsked()
	})
}

// AT-56: tenants share a database.
func TestARememberedBrowserIsOfOneTenant(t *testing.T) {
	s, _, _ := withApp(t, false, remembering)
	u := s.user(ada)
	b := s.browser()
	s.giveBrowser(u, b)
	other := newSite(t, false, remembering, func(c *pintle.Config, _ *account.Options) { c.Store, c.Tenant = s.store, "other" })
	other.browser().plant(b.deviceCookie()).isAsked()
	b.signIn(ada, goodPassword).isSignedInAs(ada)
}

// AC-117, AT-22: what ends remembered browsers.
func TestChangesOfHowAUserSignsInEndRememberedBrowsers(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		const another = "another long password"
		for name, change := range map[string]func(s *site, u *pintle.User, b *browser, next func() string){
			"the password is changed": func(s *site, _ *pintle.User, b *browser, _ func() string) {
				b.get("/auth/account/password").post("/auth/account/password", "current", goodPassword, "password", another).want(http.StatusOK)
			},
			"the password is reset": func(s *site, _ *pintle.User, _ *browser, next func() string) {
				b := s.browser().get("/auth/account/forgot").post("/auth/account/forgot", "email", ada)
				b.get(s.wantMail(ada, "password").URL).post("/auth/account/reset", "password", another, "code", next()).isAt("/auth/signin")
			},
			"an app is added": func(s *site, _ *pintle.User, b *browser, _ func() string) {
				b.get("/auth/account/totp")
				key, a := b.key()
				b.post("/auth/account/totp", "key", key, "code", a.code(t, 0), "name", "second").isAt("/auth/account/factors").want(http.StatusOK)
			},
			"an app is removed": func(s *site, u *pintle.User, b *browser, _ func() string) {
				s.app(u)
				factors, err := s.rows.Factors(t.Context(), u.ID)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range factors {
					if f.Kind == "totp" {
						b.get("/auth/account/factors").post("/auth/account/factor", "kind", "totp", "action", "remove", "id", f.ID).want(http.StatusOK)
						return
					}
				}
			},
			"recovery codes are made": func(_ *site, _ *pintle.User, b *browser, _ func() string) {
				b.get("/auth/account/recovery-codes").post("/auth/account/recovery-codes", "new", "1").want(http.StatusOK)
				b.post("/auth/account/recovery-codes", "saved", "1").want(http.StatusOK)
			},
			"a passkey is added": func(s *site, u *pintle.User, b *browser, _ func() string) {
				if b.addPasskey("new"); s.passkeys(u) != 1 {
					t.Fatalf("no passkey is added: the browser is at %s", b.at)
				}
			},
			"a passkey is removed": func(s *site, u *pintle.User, b *browser, _ func() string) {
				id := s.passkey(u)
				s.mux.Handle("/unlink", s.auth.Load(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					if err := s.auth.Unlink(r.Context(), pintle.SessionFrom(r.Context()), "passkey", id); err != nil {
						t.Error(err)
					}
				})))
				if b.get("/unlink"); s.passkeys(u) != 0 {
					t.Fatal("the passkey is still there")
				}
			},
			"an operator ends all sessions": func(s *site, u *pintle.User, _ *browser, _ func() string) {
				if err := s.auth.SignOutEverywhere(t.Context(), u.ID); err != nil {
					t.Fatal(err)
				}
			},
			"an operator resets the second factor": func(s *site, u *pintle.User, _ *browser, _ func() string) {
				if err := s.accounts.Operators().ResetSecondFactor(t.Context(), u.ID); err != nil {
					t.Fatal(err)
				}
			},
			"an operator sets a password": func(s *site, u *pintle.User, _ *browser, _ func() string) {
				if _, err := s.accounts.Operators().SetTemporaryPassword(t.Context(), u.ID); err != nil {
					t.Fatal(err)
				}
			},
			"a ban": func(s *site, u *pintle.User, _ *browser, _ func() string) {
				b := s.browser().startSession(u, time.Hour, "pwd", "otp")
				if err := s.rows.ChangeState(t.Context(), &accountstore.State{UserID: u.ID, BannedUntil: accountstore.Forever}); err != nil {
					t.Fatal(err)
				}
				b.get("/auth/account/confirm").post("/auth/account/confirm", "method", "password", "password", goodPassword)
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newSite(t, tokens, remembering, func(c *pintle.Config, _ *account.Options) {
					c.Providers = append(c.Providers, &pintle.WebAuthn{Ceremony: &registrar{}})
					c.ExperimentalPasskeys = true
				})
				s.t = t
				u := s.seed(ada, goodPassword, true)
				next := s.app(u)
				b := s.browser().startSession(u, 0, "pwd", "otp")
				s.giveBrowser(u, s.browser())
				if rows := s.browsers(u); len(rows) != 1 {
					t.Fatalf("before, the rows are %+v", rows)
				}
				change(s, u, b, next)
				if rows := s.browsers(u); len(rows) != 0 {
					t.Errorf("the rows are %+v", rows)
				}
			})
		}
	})
}

// AC-30, AC-117: a passkey is removed once the other sessions and the remembered browsers have
// ended. Until then it stays, and can be removed again.
func TestAPasskeyStaysUntilRememberedBrowsersHaveEnded(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		var flaky *flakyStore
		s := newSite(t, tokens, withPasskeys(&echo{}), func(c *pintle.Config, _ *account.Options) {
			flaky = &flakyStore{Store: c.Store}
			c.Store = flaky
		})
		u := s.seed(ada, goodPassword, true)
		id := s.passkey(u)
		b := s.browser().startSession(u, 0, "pwd", "otp").get("/auth/account/passkeys")
		flaky.fail("DeleteFactors")
		b.post("/auth/account/passkey", "action", "remove", "id", id).want(http.StatusServiceUnavailable)
		if n := s.passkeys(u); n != 1 {
			t.Errorf("the user has %d passkeys", n)
		}
		flaky.fail("")
		s.browser().startSession(u, -2*time.Second, "pwd", "otp").post("/auth/account/passkey", "action", "remove", "id", id).want(http.StatusOK)
		if n := s.passkeys(u); n != 0 {
			t.Errorf("the user has %d passkeys", n)
		}
		s.wantMail(ada, "passkey")
	})
}

// AC-117: the eleventh browser ends the first.
func TestAUserHasTenRememberedBrowsers(t *testing.T) {
	s, a, _ := withApp(t, false, remembering)
	u := s.user(ada)
	for range 10 {
		s.giveBrowser(u, s.browser())
		time.Sleep(2 * time.Millisecond) // Created counts in milliseconds, and tells which one is the oldest
	}
	oldest := s.browsers(u)[0].ID
	b := s.half().post(secondFactor, "code", a.code(t, 0), "remember", "1").isSignedInAs(ada)
	rows := s.browsers(u)
	if len(rows) != 10 || rows[0].ID == oldest {
		t.Errorf("there are %d browsers, the first of them is still there: %t", len(rows), rows[0].ID == oldest)
	}
	b.leaves().signIn(ada, goodPassword).isSignedInAs(ada)
}

// A token that an attacker knows must not become that of the user's browser.
func TestABrowserThatIsRememberedGetsANewToken(t *testing.T) {
	s, a, _ := withApp(t, false, remembering)
	planted := strings.Repeat("A", 43)
	b := s.half().plant(planted)
	b.post(secondFactor, "code", a.code(t, 0), "remember", "1").isSignedInAs(ada)
	if got := b.deviceCookie(); got == planted || len(got) != 43 {
		t.Errorf("the cookie is %q", got)
	}
	s.browser().plant(planted).isAsked()
}

// AC-31: a change that ends the sign-in while it is completed ends its browser, too.
func TestABrowserIsNotRememberedByASignInThatFails(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		var s *site
		var a app
		deny := false
		s, a, _ = withApp(t, tokens, remembering, func(c *pintle.Config, _ *account.Options) {
			c.Callbacks.Hold = func(ctx context.Context, p *pintle.PendingSignIn) (string, error) {
				if !deny {
					return "", nil
				}
				// The row is there by now, and the owner signs out everywhere.
				if rows := s.browsers(p.User); len(rows) != 1 {
					t.Errorf("the rows are %+v", rows)
				}
				return "", errors.New("denied")
			}
		})
		b := s.half()
		deny = true
		b.post(secondFactor, "code", a.code(t, 0), "remember", "1").isSignedInAs("")
		if rows := s.browsers(s.user(ada)); len(rows) != 0 || b.deviceCookie() != "" {
			t.Errorf("the rows are %+v, the cookie is %q", rows, b.deviceCookie())
		}
	})
}

// AC-117: the list, and the forms in it.
func TestAUserHasBrowsersAskedAgain(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s, _, _ := withApp(t, tokens, remembering)
		u := s.user(ada)
		bob := s.seed("bob@example.com", goodPassword, true)
		b, second, third, bobs := s.browser(), s.browser(), s.browser(), s.browser()
		s.giveBrowser(u, b)
		id := s.giveBrowser(u, second)
		s.giveBrowser(u, third)
		s.giveBrowser(bob, bobs)
		b.signIn(ada, goodPassword).get("/auth/account/factors").says("not asked until").says("Ask in all browsers again")
		const path = "/auth/account/remembered"
		b.post(path, "id", s.browsers(bob)[0].ID).want(http.StatusNotFound)
		b.post(path, "id", "").want(http.StatusNotFound)
		b.get("/auth/account/factors").post(path, "id", id).isAt("/auth/account/factors").says("You need your second factor again")
		if b.deviceCookie() == "" {
			t.Error("this browser lost its cookie")
		}
		second.isAsked()
		third.signIn(ada, goodPassword).isSignedInAs(ada)
		b.get("/auth/account/factors").post(path, "all", "1").isAt("/auth/account/factors").isSignedInAs(ada)
		if b.deviceCookie() != "" {
			t.Error("this browser kept its cookie")
		}
		third.leaves().isAsked()
		if len(s.browsers(u)) != 0 || len(s.browsers(bob)) != 1 {
			t.Error("the wrong browsers are forgotten")
		}
	})
}
