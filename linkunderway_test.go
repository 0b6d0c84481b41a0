package pintle_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
)

// A linkUnderWay is a site at which Ada has a session, and a thief with a copy of its
// cookie, who links something while Ada ends the session.
type linkUnderWay struct {
	*site
	k            *recordingTxStore
	owner, thief *browser
	end          func() error // nil once Ada has ended the session
}

// moments are when the session ends: always after it was read, and before the end of
// the link.
var moments = map[string]func(s *site, u *linkUnderWay){
	"during Callbacks.SignIn": func(s *site, u *linkUnderWay) {
		s.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) {
			u.endNow()
			return "", nil
		}
	},
	"during Callbacks.SyncUser": func(s *site, u *linkUnderWay) {
		s.Callbacks.SyncUser = func(context.Context, *pintle.SignInAttempt) (pintle.UserUpdate, error) {
			u.endNow()
			return pintle.UserUpdate{}, nil
		}
	},
	"while the link is stored": func(s *site, u *linkUnderWay) {
		k := s.Store.(*recordingTxStore)
		s.Store = k.recordingStore // in which another request writes between two calls
		k.before = func(op string) {
			if op == "linkAccount" {
				u.endNow()
			}
		}
	},
}

// endings are the ways in which Ada ends the session.
var endings = map[string]func(u *linkUnderWay) error{
	"sign-out": func(u *linkUnderWay) error { u.owner.post("/auth/signout"); return nil },
	"SignOutEverywhere": func(u *linkUnderWay) error {
		return u.auth.SignOutEverywhere(context.Background(), "user-ada")
	},
}

// links are what a copy of a session can add.
var links = map[string]func(b *browser){
	"an account": func(b *browser) { b.signInWith("acme") },
	"a passkey":  func(b *browser) { b.passkey("register", "CCCC") },
	"a passkey whose account is stored": func(b *browser) {
		b.site.Store.(*recordingTxStore).seedAccount(b.t, &pintle.User{ID: "user-ada"}, "passkey", "CCCC")
		b.passkey("register", "CCCC")
	},
}

func (u *linkUnderWay) endNow() {
	end := u.end
	if end == nil {
		return
	}
	u.end = nil
	if err := end(); err != nil {
		u.t.Error(err)
	}
}

func newLinkUnderWay(t *testing.T, strategy pintle.SessionStrategy, record bool, moment, ending string) *linkUnderWay {
	t.Helper()
	u := &linkUnderWay{}
	u.site, u.k = pendingSite(t, strategy, func(s *site) {
		s.Session.RecordAuthentication = record // with rows it rotates them
		moments[moment](s, u)
	})
	u.owner, u.thief = u.browser(), u.browser()
	u.owner.isHeld(u.owner.byPassword())
	u.owner.completes(u.url, "user-ada", "otp")
	u.thief.csrf()
	u.thief.plant(sessionCookie, u.owner.cookie(sessionCookie))
	time.Sleep(time.Hour)
	u.eventNames()
	u.end = func() error { return endings[ending](u) }
	return u
}

// waysIn counts what signs Ada in.
func (u *linkUnderWay) waysIn() int {
	u.t.Helper()
	accounts, err := u.k.Store.UserAccounts(u.t.Context(), "user-ada")
	if err != nil {
		u.t.Fatal(err)
	}
	passkeys, err := u.k.Store.UserPasskeys(u.t.Context(), "user-ada")
	if err != nil {
		u.t.Fatal(err)
	}
	return len(accounts) + len(passkeys)
}

// SA-L9: a session that ends while something is linked by it does not go on in another
// one, which would have its facts and would not be held.
func TestALinkDoesNotReviveASessionThatHasEnded(t *testing.T) {
	for _, strategy := range strategies {
		for _, record := range []bool{false, true} {
			for moment := range moments {
				for ending := range endings {
					for _, what := range []string{"an account", "a passkey"} {
						name := fmt.Sprintf("%s %s, %s, %s, recorded %t", ending, moment, what, strategy, record)
						t.Run(name, func(t *testing.T) {
							synctest.Test(t, func(t *testing.T) {
								u := newLinkUnderWay(t, strategy, record, moment, ending)
								links[what](u.thief)
								if u.end != nil {
									t.Fatal("the session did not end")
								}
								if sub := u.thief.sub(); sub != "" {
									session, _ := u.auth.Session(u.thief.request())
									t.Errorf("SA-L9 the session of %s has ended and goes on; it records %+v", sub, session.Authentication)
								}
								// Without rotation the browser keeps the token of the row that is gone.
								goesOn := strategy == pintle.StrategyDatabase && !record
								if names := u.eventNames(); slices.Contains(names, "signIn") && !goesOn {
									t.Errorf("SA-L9 the events are %v", names)
								}
							})
						})
					}
				}
			}
		}
	}
}

// SA-L11: an account or a passkey is a way in for good. The session by which it would be
// linked must be good when that is decided.
func TestASessionThatHasEndedLinksNothing(t *testing.T) {
	for _, strategy := range strategies {
		for _, moment := range []string{"during Callbacks.SignIn", "during Callbacks.SyncUser"} {
			for ending := range endings {
				for what, link := range links {
					t.Run(fmt.Sprintf("%s %s, %s, %s", ending, moment, what, strategy), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							u := newLinkUnderWay(t, strategy, false, moment, ending)
							before := u.waysIn()
							if what == "a passkey whose account is stored" {
								before++
							}
							link(u.thief)
							if u.end != nil {
								t.Fatal("the session did not end")
							}
							if after := u.waysIn(); after != before {
								t.Errorf("SA-L11 Ada, whose session has ended, has %d ways in, and had %d", after, before)
							}
						})
					})
				}
			}
		}
	}
}

// The session of a link goes on in another token, unless the host wants none: then a
// copy of the token before ends.
func TestALinkThatIsDeniedASessionEndsTheOneBefore(t *testing.T) {
	none := false
	s, _ := pendingSite(t, pintle.StrategyJWT, func(s *site) {
		s.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
			if none {
				return nil, nil
			}
			return c.Claims, nil
		}
	})
	b, copied := s.browser(), s.browser()
	b.isHeld(b.byPassword())
	b.completes(s.url, "user-ada", "otp")
	copied.plant(sessionCookie, b.cookie(sessionCookie))
	b.signInWith("acme").goesTo(s.url)
	for name, browser := range map[string]*browser{"of the link": b, "of before the link": copied} {
		if sub := browser.sub(); sub != "user-ada" {
			t.Errorf("SA-L9 the user of the session %s is %q", name, sub)
		}
	}
	none = true
	b.passkey("register", "CCCC")
	none = false
	if sub := copied.sub(); sub != "" {
		t.Errorf("SA-L9 with the token of before %s is signed in", sub)
	}
}

// The user shows an account once more: that is a sign-in of now, whatever became of the
// session before it.
func TestASignInAgainDoesNotNeedTheSessionBeforeIt(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			ends := ""
			s, _ := hijackSite(t, strategy, func(s *site) {
				s.Session.RotateAtSignIn = strategy == pintle.StrategyDatabase
				s.Callbacks.SignIn = func(ctx context.Context, a *pintle.SignInAttempt) (string, error) {
					if ends == "" {
						return "", nil
					}
					_, err := s.auth.SignOut(httptest.NewRecorder(), cookieRequest(s, ends), pintle.SignOutOptions{RedirectTo: "/"})
					return "", err
				}
			})
			b := s.browser()
			b.signInWith("acme").goesTo(s.url)
			sub := b.sub()
			ends = b.cookie(sessionCookie)
			b.signInWith("acme").goesTo(s.url)
			if again := b.sub(); again == "" || again != sub {
				t.Errorf("SA-L9 the user is %q, want %q", again, sub)
			}
			if b.cookie(sessionCookie) == ends {
				t.Error("SA-L9 the browser has the token of before")
			}
		})
	}
}

// cookieRequest is a request with a session cookie.
func cookieRequest(s *site, token string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, s.url+"/", nil)
	r.Header.Set("Cookie", sessionCookie+"="+token)
	return r
}
