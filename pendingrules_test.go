package pintle_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
)

// letsIn is a callback that asks for nothing.
func letsIn(context.Context, *pintle.PendingSignIn) (string, error) { return "", nil }

// What Hold does to its argument changes neither the user, nor the account, nor what is
// proven.
func TestHoldCannotChangeASignIn(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			page := "/second-factor"
			s, k := pendingSite(t, strategy, func(s *site) {
				s.Session.RecordAuthentication = true
				s.Callbacks.Hold = func(_ context.Context, p *pintle.PendingSignIn) (string, error) {
					p.User.ID, p.User.Name = "user-grace", "Grace Hopper"
					p.Account.Provider, p.Account.ProviderAccountID, p.Account.UserID = "other", "other", "user-grace"
					p.Authentication.Provider, p.Authentication.Methods[0] = "passkey", "mfa"
					return page, nil
				}
			})
			k.seedUser(t, people["grace"].user)
			b := s.browser()
			b.isHeld(b.byPassword())
			p := b.pending()
			if p == nil || p.User.ID != "user-ada" || p.Account.Provider != "credentials" || p.Account.ProviderAccountID != "user-ada" || !slices.Equal(p.Authentication.Methods, []string{"pwd"}) {
				t.Fatalf("the pending sign-in is %+v with %+v", p, p.Account)
			}
			page = ""
			b.completes(s.url, "user-ada")
			e := lastEvent[*pintle.SignInEvent](s, "signIn")
			if e.User.ID != "user-ada" || e.Account.Provider != "credentials" || e.Account.ProviderAccountID != "user-ada" {
				t.Errorf("the event has %+v, %+v", e.User, e.Account)
			}
			if a := b.held().Authentication; a.Provider != "credentials" || !slices.Equal(a.Methods, []string{"pwd"}) {
				t.Errorf("the session records %+v", a)
			}
		})
	}
}

// AC-24: the cookie has the account without tokens, and of a stored user what the claims need.
func TestWhatWaitsInTheCookie(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s, _ := pendingSite(t, strategy)
			b := s.browser()
			b.isHeld(b.signInWith("careful"))
			if a := b.pending().Account; a.Type != pintle.TypeOIDC || a.Provider != "careful" || a.ProviderAccountID != "1" {
				t.Errorf("the account is %+v", *a)
			}
			plain := unsealed(t, pendingCookie, b.cookie(pendingCookie))
			if user, _ := plain["user"].(map[string]any); user["id"] != "user-ada" || user["emailVerified"] != nil {
				t.Errorf("the cookie has the user %v", user)
			}
			b.passkey("authenticate", "AAAA").goesTo(s.url + "/second-factor")
			if a := b.pending().Account; a.UserID != "user-ada" {
				t.Errorf("the account of the passkey is %+v", *a)
			}
			set := b.byPassword().cookies()[pendingCookie]
			if left := time.Until(set.Expires); left < 9*time.Minute || left > 10*time.Minute+time.Second {
				t.Errorf("the cookie lasts for %v", left)
			}
		})
	}
}

// A cookie that lacks a part is no pending sign-in, even if everything in it is genuine.
func TestACookieThatLacksAPartHoldsNoSignIn(t *testing.T) {
	for name, spoil := range map[string]func(plain map[string]any){
		"the secret":         func(plain map[string]any) { plain["secret"] = "" },
		"the user":           func(plain map[string]any) { delete(plain, "user") },
		"the ID of the user": func(plain map[string]any) { plain["user"] = map[string]any{"name": "Ada"} },
		"the account":        func(plain map[string]any) { delete(plain, "account") },
		"the provider":       func(plain map[string]any) { delete(plain, "provider") },
		"the browser":        func(plain map[string]any) { delete(plain, "browser") },
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := pendingSite(t, pintle.StrategyJWT)
			b := s.browser()
			b.isHeld(b.byPassword())
			plain := unsealed(t, pendingCookie, b.cookie(pendingCookie))
			spoil(plain)
			b.plant(pendingCookie, sealed(t, pendingCookie, plain))
			if p := b.pending(); p != nil {
				t.Errorf("the pending sign-in is %+v", p)
			}
			if name == "the secret" {
				_, err := b.complete("otp")
				if err == nil || !strings.Contains(err.Error(), "holds no sign-in") {
					t.Errorf("CompleteSignIn: %v", err)
				}
				return
			}
			b.isNotCompleted(pintle.CodeInvalidCheck, "otp")
		})
	}
	t.Run("everything", func(t *testing.T) {
		s, _ := pendingSite(t, pintle.StrategyJWT)
		if _, err := s.browser().complete("otp"); err == nil || !strings.Contains(err.Error(), "this browser has no pending sign-in") {
			t.Errorf("CompleteSignIn: %v", err)
		}
	})
}

// Two tenants may share secrets and a store. What waits at one is nothing at the other, and
// is completed at its own.
func TestAPendingSignInIsOfOneTenant(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s, _ := pendingSite(t, strategy, func(s *site) { s.Tenant = "red" })
			b := s.browser()
			b.isHeld(b.byPassword())
			red := s.auth
			s.again(t, func(c *pintle.Config) { c.Tenant = "blue" })
			if p := b.pending(); p != nil {
				t.Errorf("the other tenant shows the sign-in of %s", p.User.ID)
			}
			held := b.cookie(pendingCookie)
			b.isNotCompleted(pintle.CodeInvalidCheck, "otp")
			s.serve(red)
			b.plant(pendingCookie, held)
			b.completes(s.url, "user-ada", "otp")
		})
	}
}

// The salt is that of the cookie: sealed as a session token it opens nothing, and a pending
// sign-in is no session, not even one without a user.
func TestAPendingSignInAndASessionHaveDifferentKeys(t *testing.T) {
	s, _ := pendingSite(t, pintle.StrategyJWT)
	b := s.browser()
	b.isHeld(b.byPassword())
	held := b.cookie(pendingCookie)
	b.plant(pendingCookie, sealed(t, sessionCookie, unsealed(t, pendingCookie, held)))
	if p := b.pending(); p != nil {
		t.Errorf("what is sealed as a session token is the pending sign-in of %s", p.User.ID)
	}
	b.plant(pendingCookie, held)
	b.plant(sessionCookie, held)
	if session := b.held(); session != nil {
		t.Errorf("a pending sign-in is the session %+v", session)
	}
	b.plant(sessionCookie, "")
	b.completes(s.url, "user-ada", "otp")
}

// shortRows is a store whose rows end before the cookie that goes with them.
type shortRows struct{ pintle.Store }

func (s shortRows) CreateVerification(ctx context.Context, v *pintle.Verification) error {
	short := *v
	short.Expires = time.Now().Add(-time.Second)
	return s.Store.CreateVerification(ctx, &short)
}

// An operator who ends the rows of the table ends what waits.
func TestARowThatHasExpiredCompletesNothing(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s, k := pendingSite(t, strategy)
			k.Store = shortRows{k.Store}
			b := s.browser()
			b.isHeld(b.byPassword())
			b.isNotCompleted(pintle.CodeInvalidCheck, "otp")
		})
	}
}

// The clocks of two servers may differ by some seconds. The rows are there as long as the
// cookie is good.
func TestTheRowsLastAsLongAsTheCookie(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, k := pendingSite(t, strategy)
				b := s.browser()
				b.isHeld(b.byPassword())
				held, form := b.cookie(pendingCookie), b.cookie(csrfCookie)
				time.Sleep(10*time.Minute + 10*time.Second)
				b.plant(pendingCookie, held)
				b.plant(csrfCookie, form)
				if strategy == pintle.StrategyDatabase {
					mark, _ := unsealed(t, pendingCookie, held)["marker"].(string)
					if row, _, err := k.Store.SessionAndUser(t.Context(), mark); err != nil || row.Expires.Before(time.Now()) {
						t.Errorf("the mark is %+v, %v", row, err)
					}
				}
				b.completes(s.url, "user-ada", "otp")
			})
		})
	}
}

// A secret that is replaced while a sign-in waits stays good as long as it is in the list.
func TestASecretIsReplacedWhileASignInWaits(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s, _ := pendingSite(t, strategy)
			b := s.browser()
			b.isHeld(b.byPassword())
			s.again(t, func(c *pintle.Config) {
				c.Secrets = []string{"another secret for tests, as long as it has to be", secret}
			})
			b.completes(s.url, "user-ada", "otp")
		})
	}
}

// A user who was deleted in the store itself, of whom no list of ended sessions knows, is not
// signed in.
func TestAUserWhoIsDeletedMeanwhileIsNotSignedIn(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s, k := pendingSite(t, strategy, func(s *site) { s.Session.Revocation = nil })
			b := s.browser()
			b.isHeld(b.byPassword())
			if err := k.Store.DeleteUser(t.Context(), "user-ada"); err != nil {
				t.Fatal(err)
			}
			if p := b.pending(); p != nil {
				t.Errorf("the sign-in of %s waits", p.User.ID)
			}
			b.isNotCompleted(pintle.CodeInvalidCheck, "otp")
			if b.cookie(pendingCookie) != "" {
				t.Error("the cookie is left")
			}
		})
	}
	for _, operation := range []string{"createSession", "deleteSession"} {
		t.Run("before "+operation, func(t *testing.T) {
			s, k := pendingSite(t, pintle.StrategyDatabase)
			b := s.browser()
			b.isHeld(b.byPassword())
			k.once(operation, func() {
				if err := k.Store.DeleteUser(t.Context(), "user-ada"); err != nil {
					t.Error(err)
				}
			})
			b.isNotCompleted(pintle.CodeInvalidCheck, "otp")
		})
	}
}

// While Hold asks for a further page the user is deleted, or their sessions end. The sign-in
// ends there, and no row of it is left.
func TestASignInDoesNotGoOnToAFurtherPageAfterItsEnd(t *testing.T) {
	for name, end := range map[string]func(ctx context.Context, s *site) error{
		"SignOutEverywhere": func(ctx context.Context, s *site) error { return s.auth.SignOutEverywhere(ctx, "user-ada") },
		"DeleteUser":        func(ctx context.Context, s *site) error { return s.auth.DeleteUser(ctx, "user-ada") },
	} {
		for _, strategy := range strategies {
			t.Run(name+", "+string(strategy), func(t *testing.T) {
				asked := 0
				var s *site
				s, k := pendingSite(t, strategy, func(changed *site) {
					changed.Callbacks.Hold = func(ctx context.Context, p *pintle.PendingSignIn) (string, error) {
						if !p.Expires.IsZero() {
							t.Errorf("Hold is told of the end %v", p.Expires)
						}
						if asked++; asked == 2 {
							return "/second-factor", end(ctx, s)
						}
						return "/second-factor", nil
					}
				})
				b := s.browser()
				b.isHeld(b.byPassword())
				b.isNotCompleted(pintle.CodeInvalidCheck, "otp")
				if rows := k.sessions(t, "user-ada"); rows != 0 {
					t.Errorf("%d rows are left", rows)
				}
				if b.cookie(pendingCookie) != "" {
					t.Error("the cookie is left")
				}
			})
		}
	}
}

// A sign-in that cannot be held fails, and leaves no cookie.
func TestASignInThatCannotBeHeldFails(t *testing.T) {
	for name, tt := range map[string]struct {
		change    func(*site)
		operation string
		strategy  pintle.SessionStrategy
	}{
		"a callback for the claims that fails": {change: func(s *site) {
			s.Callbacks.JWT = func(context.Context, *pintle.TokenChange) (pintle.Claims, error) { return nil, errBroken }
		}, strategy: pintle.StrategyJWT},
		"a callback for redirects that fails": {change: func(s *site) {
			s.Callbacks.Redirect = func(_ context.Context, target, base string) (string, error) {
				if strings.Contains(target, "second-factor") {
					return "", errBroken
				}
				return base, nil
			}
		}, strategy: pintle.StrategyJWT},
		"a row that cannot be written":              {operation: "createVerificationToken", strategy: pintle.StrategyJWT},
		"a user who cannot be looked up":            {operation: "getUser", strategy: pintle.StrategyJWT},
		"a mark that cannot be written":             {operation: "createSession", strategy: pintle.StrategyDatabase},
		"a row that cannot be written after a mark": {operation: "createVerificationToken", strategy: pintle.StrategyDatabase},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.change == nil {
				tt.change = func(*site) {}
			}
			s, k := pendingSite(t, tt.strategy, tt.change)
			if tt.operation != "" {
				k.fail(tt.operation)
			}
			b := s.browser()
			b.byPassword().fails("/auth/error", "Configuration")
			if b.cookie(pendingCookie) != "" || b.cookie(sessionCookie) != "" {
				t.Error("the browser has a cookie")
			}
		})
	}
}

// A user of Credentials is as the store has the user, from the first call of Hold on.
func TestHoldSeesTheUserOfTheStore(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			var seen *pintle.User
			s, k := pendingSite(t, strategy, func(s *site) {
				s.Callbacks.Hold = func(_ context.Context, p *pintle.PendingSignIn) (string, error) {
					seen = p.User
					return "/second-factor", nil
				}
			})
			name := "Ada King"
			if _, err := k.Store.UpdateUser(t.Context(), "user-ada", pintle.UserUpdate{Name: &name}); err != nil {
				t.Fatal(err)
			}
			b := s.browser()
			b.isHeld(b.byPassword())
			if seen.Name != name {
				t.Errorf("Hold sees the user %+v", seen)
			}
		})
	}
}

// A sign-in of many cookies that waits takes no cookie with it into a shorter one.
func TestAShorterPendingSignInReplacesALongOne(t *testing.T) {
	size := 6000
	s, _ := pendingSite(t, pintle.StrategyJWT, func(s *site) { s.Callbacks.JWT = fill(&size, pintle.NewClaim[string]("data")) })
	b := s.browser()
	b.isHeld(b.byPassword())
	if b.cookie(pendingCookie+".1") == "" {
		t.Fatal("the sign-in is in one cookie")
	}
	size = 0
	b.isHeld(b.byPassword())
	if b.cookie(pendingCookie+".0") != "" || b.cookie(pendingCookie) == "" {
		t.Error("parts of the sign-in before are left")
	}
	b.completes(s.url, "user-ada", "otp")
}

// As many cookies wait as are read back, and not one more: what is held can be completed.
func TestWhatIsHeldCanBeReadBack(t *testing.T) {
	size, most := 0, 0
	s, _ := pendingSite(t, pintle.StrategyJWT, func(s *site) { s.Callbacks.JWT = fill(&size, pintle.NewClaim[string]("data")) })
	refused := false
	for size = 86_000; size < 98_000; size += 1000 {
		b := s.browser()
		if b.byPassword().location() != s.url+"/second-factor" {
			refused = true
			continue
		}
		if p := b.pending(); p == nil {
			t.Fatalf("a sign-in with %d bytes of claims is held and not read back", size)
		}
		for i := range 40 {
			if b.cookie(pendingCookie+"."+strconv.Itoa(i)) != "" {
				most = max(most, i+1)
			}
		}
	}
	if most != 32 || !refused {
		t.Errorf("at most %d cookies are held; longer ones are refused: %t", most, refused)
	}
}

// Whatever ends a pending sign-in clears its cookie.
func TestTheCookieGoesWithItsSignIn(t *testing.T) {
	t.Run("at a completion that comes too late", func(t *testing.T) {
		s, _ := pendingSite(t, pintle.StrategyJWT)
		b := s.browser()
		b.isHeld(b.byPassword())
		held := b.cookie(pendingCookie)
		b.completes(s.url, "user-ada", "otp")
		b.plant(pendingCookie, held)
		if _, err := b.complete("otp"); !errors.Is(err, pintle.CodeInvalidCheck) || b.cookie(pendingCookie) != "" {
			t.Errorf("the cookie is left: %v", err)
		}
		b.plant(pendingCookie, "junk")
		if _, err := b.complete("otp"); !errors.Is(err, pintle.CodeInvalidCheck) || b.cookie(pendingCookie) != "" {
			t.Errorf("a cookie that holds nothing is left: %v", err)
		}
	})
	t.Run("at a session that cannot be given", func(t *testing.T) {
		list := &failingList{}
		s, k := pendingSite(t, pintle.StrategyJWT, func(s *site) { s.Session.Revocation = list })
		k.seedUser(t, people["grace"].user)
		b := s.browser()
		b.isHeld(b.post("/auth/callback/credentials", "username", "grace", "password", people["grace"].password))
		b.completes(s.url, "user-grace", "otp")
		b.isHeld(b.byPassword())
		list.fails = true
		next, err := b.complete("otp")
		if next != "" || !errors.Is(err, pintle.CodeStore) || b.cookie(pendingCookie) != "" {
			t.Errorf("CompleteSignIn: %q, %v", next, err)
		}
		if sub := b.sub(); sub != "user-grace" {
			t.Errorf("the user signed in is %q, want the one before", sub)
		}
	})
	for _, strategy := range strategies {
		t.Run("at a sign-in that is let in, "+string(strategy), func(t *testing.T) {
			let := false
			s, _ := pendingSite(t, strategy, func(s *site) {
				s.Callbacks.Hold = func(ctx context.Context, p *pintle.PendingSignIn) (string, error) {
					if let {
						return letsIn(ctx, p)
					}
					return "/second-factor", nil
				}
			})
			b := s.browser()
			b.isHeld(b.byPassword())
			let = true
			b.byPassword().goesTo(s.url)
			if b.cookie(pendingCookie) != "" {
				t.Error("the cookie is left")
			}
			let = false
			b.isHeld(b.byPassword())
			b.signInWith("acme").goesTo(s.url) // links the account: the session goes on
			if b.cookie(pendingCookie) != "" {
				t.Error("the cookie is left by a session that goes on")
			}
		})
	}
	t.Run("at CancelSignIn after the strategy has changed", func(t *testing.T) {
		s, _ := pendingSite(t, pintle.StrategyDatabase)
		b := s.browser()
		b.isHeld(b.byPassword())
		s.again(t, func(c *pintle.Config) { c.Session.Strategy = pintle.StrategyJWT })
		w := httptest.NewRecorder()
		if err := s.auth.CancelSignIn(w, b.request()); err != nil {
			t.Error(err)
		}
		b.takes(w)
		if b.cookie(pendingCookie) != "" {
			t.Error("the cookie is left")
		}
	})
}

// A mark that cannot be removed fails what would leave it.
func TestAMarkThatStaysFailsTheCancellation(t *testing.T) {
	s, k := pendingSite(t, pintle.StrategyDatabase)
	b := s.browser()
	b.isHeld(b.byPassword())
	k.fail("deleteSession")
	w := httptest.NewRecorder()
	if err := s.auth.CancelSignIn(w, b.request()); !errors.Is(err, pintle.CodeStore) || len(w.Result().Cookies()) > 0 {
		t.Errorf("CancelSignIn: %v, with the cookies %v", err, w.Result().Cookies())
	}
}

// A method may have 64 bytes.
func TestALongMethodIsRecorded(t *testing.T) {
	long := strings.Repeat("x", 64)
	s, _ := pendingSite(t, pintle.StrategyJWT, func(s *site) { s.Session.RecordAuthentication = true })
	b := s.browser()
	b.isHeld(b.byPassword())
	b.completes(s.url, "user-ada", "otp", long)
	if a := b.held().Authentication; !slices.Equal(a.Methods, []string{"pwd", "otp", long}) {
		t.Errorf("the session records %q", a.Methods)
	}
}

// A session that server code starts does not begin while what waits cannot be ended.
func TestASessionDoesNotStartBesideAPendingSignIn(t *testing.T) {
	s, k := pendingSite(t, pintle.StrategyJWT)
	b := s.browser()
	b.isHeld(b.byPassword())
	k.fail("useVerificationToken")
	w := httptest.NewRecorder()
	token, session, err := s.auth.StartSession(w, b.request(), new(people["ada"].user), pintle.StartOptions{})
	if token != "" || session != nil || !errors.Is(err, pintle.CodeStore) || len(w.Result().Cookies()) > 0 {
		t.Errorf("StartSession: %q, %+v, %v", token, session, err)
	}
}

// StartSession without a response leaves the request and the user of the host alone.
func TestStartSessionChangesNeitherTheRequestNorTheUser(t *testing.T) {
	s, _ := hijackSite(t, pintle.StrategyJWT, func(s *site) {
		s.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
			if c.User != nil {
				c.User.Name = "Mallory"
			}
			return c.Claims, nil
		}
	})
	r := httptest.NewRequest(http.MethodPost, s.url+"/token", nil)
	r.Header.Set("Cookie", "theme=dark")
	ada := people["ada"].user
	if _, _, err := s.auth.StartSession(nil, r, &ada, pintle.StartOptions{}); err != nil {
		t.Fatal(err)
	}
	if r.Header.Get("Cookie") != "theme=dark" || ada.Name != people["ada"].user.Name {
		t.Errorf("the request has the cookies %q, and the user is %+v", r.Header.Get("Cookie"), ada)
	}
}

// The claims of a sign-in that waits follow the stored user, unless the callback has chosen
// otherwise.
func TestTheClaimsFollowTheUserUnlessTheCallbackChose(t *testing.T) {
	for name, tt := range map[string]struct {
		jwt    func(pintle.Claims) pintle.Claims
		change pintle.UserUpdate
		want   map[string]any // nil for a claim that is not there
	}{
		"a name that was removed": {
			func(c pintle.Claims) pintle.Claims { return c },
			pintle.UserUpdate{Name: new("")},
			map[string]any{"name": nil, "email": "ada@example.com"},
		},
		"a name that the callback left out": {
			func(c pintle.Claims) pintle.Claims { delete(c, "name"); return c },
			pintle.UserUpdate{Name: new("Ada King")},
			map[string]any{"name": nil},
		},
		"an image that the user did not have": {
			func(c pintle.Claims) pintle.Claims { return c },
			pintle.UserUpdate{Image: new("/ada.png")},
			map[string]any{"picture": "/ada.png"},
		},
		"no claims": {func(pintle.Claims) pintle.Claims { return nil }, pintle.UserUpdate{Image: new("/ada.png")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, k := pendingSite(t, pintle.StrategyJWT, func(s *site) {
				s.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
					if c.Trigger == "" {
						return c.Claims, nil
					}
					return tt.jwt(c.Claims), nil
				}
			})
			b := s.browser()
			b.isHeld(b.signInWith("careful"))
			if _, err := k.Store.UpdateUser(t.Context(), "user-ada", tt.change); err != nil {
				t.Fatal(err)
			}
			if next, err := b.complete("otp"); err != nil || next != s.url {
				t.Fatalf("CompleteSignIn: %q, %v", next, err)
			}
			if tt.want == nil {
				b.isSignedOut()
				return
			}
			claims := unsealed(t, sessionCookie, b.cookie(sessionCookie))
			for claim, want := range tt.want {
				if got := claims[claim]; got != want {
					t.Errorf("the claim %s is %v, want %v", claim, got, want)
				}
			}
		})
	}
}

// The cookie of a pending sign-in is secure where the site is, unless the configuration says
// otherwise.
func TestTheCookieOfAPendingSignInIsSecure(t *testing.T) {
	for _, tt := range []struct {
		scheme string
		set    pintle.Cookie
		name   string
		secure bool
	}{
		{"https", pintle.Cookie{}, "__Host-" + pendingCookie, true},
		{"http", pintle.Cookie{}, pendingCookie, false},
		{"https", pintle.Cookie{Name: "waits", Secure: pintle.SecureNever}, "waits", false},
		{"http", pintle.Cookie{Name: "waits", Secure: pintle.SecureAlways}, "waits", true},
	} {
		s, _ := pendingSite(t, pintle.StrategyJWT, func(s *site) { s.Cookies.PendingSignIn = tt.set })
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, tt.scheme+"://localhost:3000/login", nil)
		next, err := s.auth.SignIn(w, r, "credentials", pintle.SignInOptions{Fields: map[string]any{"username": "ada", "password": people["ada"].password}})
		if err != nil || next != tt.scheme+"://localhost:3000/second-factor" {
			t.Fatalf("SignIn: %q, %v", next, err)
		}
		found := false
		for _, c := range w.Result().Cookies() {
			if c.Name == tt.name && c.Value != "" {
				found = true
				if c.Secure != tt.secure || !c.HttpOnly || c.Path != "/" {
					t.Errorf("over %s the cookie is %v", tt.scheme, c)
				}
			}
		}
		if !found {
			t.Errorf("over %s there is no cookie %s: %v", tt.scheme, tt.name, w.Result().Cookies())
		}
	}
}

// What Describe returns may be one map for all sessions, and may have names that sessions
// record: neither becomes what a session records.
func TestWhatDescribeReturnsIsNotWhatASessionRecords(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			shared := map[string]any{"amr": []any{"hwk"}, "auth_provider": "passkey", "browser": "Firefox"}
			s, k := hijackSite(t, strategy, recording, func(s *site) {
				s.Session.Describe = func(*http.Request) map[string]any { return shared }
			})
			ada := people["ada"].user
			k.seedUser(t, ada)
			for _, proof := range []pintle.Authentication{{Provider: "job", Methods: []string{"pwd"}}, {Provider: "job"}} {
				_, started, err := s.auth.StartSession(nil, httptest.NewRequest(http.MethodGet, s.url, nil), &ada, pintle.StartOptions{Authentication: proof})
				if err != nil {
					t.Fatal(err)
				}
				if a := started.Authentication; a.Provider != "job" || !slices.Equal(a.Methods, proof.Methods) {
					t.Errorf("the session records %+v, want %+v", a, proof)
				}
				current := 0
				for d, err := range s.auth.Devices(t.Context(), started) {
					if err != nil {
						t.Fatal(err)
					}
					if d.Current {
						current++
					}
				}
				if current != 1 {
					t.Errorf("%d devices are that of the started session", current)
				}
			}
			if len(shared) != 3 || shared["auth_provider"] != "passkey" {
				t.Errorf("the map of the host is now %v", shared)
			}
		})
	}
}

// The bounds of what StartSession takes are those that the documentation gives.
func TestStartSessionTakesWhatIsWithinItsBounds(t *testing.T) {
	s := newSite(t, recording)
	long := pintle.Authentication{
		Time: time.Now().Add(5 * time.Second), Provider: strings.Repeat("p", 256),
		Methods: slices.Repeat([]string{strings.Repeat("x", 64)}, 16),
	}
	_, session, err := s.auth.StartSession(nil, httptest.NewRequest(http.MethodGet, s.url, nil), new(people["ada"].user), pintle.StartOptions{Authentication: long})
	if err != nil {
		t.Fatal(err)
	}
	if a := session.Authentication; a.Provider != long.Provider || !slices.Equal(a.Methods, long.Methods) || a.Time.IsZero() {
		t.Errorf("the session records %+v", a)
	}
}
