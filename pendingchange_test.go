package pintle_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

// changes completes the pending sign-in of the browser with a change.
func (b *browser) changes(change func(context.Context) error, methods ...string) (string, error) {
	w := httptest.NewRecorder()
	next, err := b.site.auth.CompleteSignIn(w, b.request(), pintle.CompleteOptions{Methods: methods, Change: change})
	b.takes(w)
	return next, err
}

// hasNoSession fails the test if the session whose cookie the browser has goes on.
func (b *browser) hasNoSession() {
	b.t.Helper()
	if sub := b.sub(); sub != "" {
		b.t.Errorf("%s is signed in", sub)
	}
}

// threeBrowsers signs browsers in: one with a session, one that waits beside the first, and one whose
// sign-in is to be completed.
func threeBrowsers(s *site) (signedIn, waits, b *browser) {
	s.t.Helper()
	signedIn, waits, b = s.browser(), s.browser(), s.browser()
	signedIn.isHeld(signedIn.byPassword())
	if _, err := signedIn.complete("otp"); err != nil {
		s.t.Fatal(err)
	}
	waits.isHeld(waits.byPassword())
	b.isHeld(b.byPassword())
	return signedIn, waits, b
}

// AC-30, AC-61: a change leaves the sign-in that makes it, and nothing else of what its user has
// begun. That holds also where the sign-in goes on to another page, and is left there.
func TestAChangeEndsAllButItsSignIn(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s, k := pendingSite(t, strategy)
			signedIn, waits, b := threeBrowsers(s)
			var during, name string
			renames := func(ctx context.Context) error {
				during, name = signedIn.sub(), "Ada King"
				_, err := k.Store.UpdateUser(ctx, "user-ada", pintle.UserUpdate{Name: &name})
				return err
			}
			if next, err := b.changes(renames, "mail"); err != nil || next != s.url+"/second-factor" {
				t.Fatalf("CompleteSignIn: %q, %v; log:\n%s", next, err, s.log)
			}
			if during != "" {
				t.Errorf("during the change %s is signed in", during)
			}
			signedIn.hasNoSession()
			if p := waits.pending(); p != nil {
				t.Errorf("another sign-in of %s still waits", p.User.ID)
			}
			p := b.pending()
			if p == nil || p.User.Name != name || !slices.Contains(p.Authentication.Methods, "mail") {
				t.Fatalf("after the change the sign-in is %+v", p)
			}
			b.completes(s.url, "user-ada", "otp")
			if rows := k.sessions(t, "user-ada"); strategy == pintle.StrategyDatabase && rows != 1 {
				t.Errorf("the user has %d sessions", rows)
			}
			if shown := b.session(); shown == nil || shown["user"].(map[string]any)["name"] != name {
				t.Errorf("the session is %v", shown)
			}
			if err := s.auth.SignOutEverywhere(t.Context(), "user-ada"); err != nil {
				t.Fatal(err)
			}
			b.hasNoSession()
		})
	}
}

// AC-30: a session that begins while the change is under way ends with it.
func TestAChangeEndsWhatBeginsMeanwhile(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := pendingSite(t, strategy)
				b, other := s.browser(), s.browser()
				b.isHeld(b.byPassword())
				signsIn := func(context.Context) error {
					time.Sleep(time.Second) // the list of ended sessions counts in seconds
					other.isHeld(other.byPassword())
					other.completes(s.url, "user-ada", "otp")
					return nil
				}
				if next, err := b.changes(signsIn, "otp"); err != nil || next != s.url {
					t.Fatal(next, err)
				}
				other.hasNoSession()
				if sub := b.sub(); sub != "user-ada" {
					t.Errorf("the user signed in is %q", sub)
				}
			})
		})
	}
}

// AT-8: the sessions of the user end while the change is under way, by another request. In the same
// second a list of ended sessions does not tell the one end from the other.
func TestASignInThatEndsDuringItsChangeSignsNobodyIn(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := pendingSite(t, strategy)
				b := s.browser()
				b.isHeld(b.byPassword())
				next, err := b.changes(func(ctx context.Context) error {
					time.Sleep(time.Second)
					return s.auth.SignOutEverywhere(ctx, "user-ada")
				}, "otp")
				if !errors.Is(err, pintle.CodeInvalidCheck) || next != "" {
					t.Errorf("CompleteSignIn: %q, %v", next, err)
				}
				b.isSignedOut()
			})
		})
	}
}

// RPT-22: the provider ends the session while the change is under way, or while the new session
// waits for the next second.
func TestALogoutDuringAChangeIsNotMissed(t *testing.T) {
	for _, after := range []time.Duration{0, 300 * time.Millisecond, 1500 * time.Millisecond} {
		t.Run(after.String(), func(t *testing.T) {
			inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
				s := newSite(t, endedBy(strategy, func(s *site) { s.Store = memstore.New() }), holdingAt("/second-factor"))
				b := s.browser()
				b.arrivesBy("acme")
				time.Sleep(time.Minute)
				_, err := b.changes(func(context.Context) error {
					time.Sleep(after)
					s.loggedOutBy(ofSession("sid-1"))
					return nil
				}, "otp")
				if !errors.Is(err, pintle.CodeInvalidCheck) {
					t.Errorf("CompleteSignIn: %v", err)
				}
				b.isSignedOut()
			})
		})
	}
}

// AC-30: a change whose sessions of before cannot be ended is not made, and a sign-in that fails
// signs nobody in and is over.
func TestAChangeThatFailsSignsNobodyIn(t *testing.T) {
	refused := errors.New("the application says no")
	for _, strategy := range strategies {
		for name, c := range map[string]struct {
			fails int // the end of the sessions that fails
			err   error
			code  pintle.Code
			calls int
		}{
			"the end before it": {1, nil, pintle.CodeStore, 0},
			"the change":        {0, refused, pintle.CodeAccessDenied, 1},
			"a store in it":     {0, &pintle.Error{Code: pintle.CodeStore, Err: refused}, pintle.CodeStore, 1},
			"the end after it":  {2, nil, pintle.CodeStore, 1},
		} {
			t.Run(fmt.Sprintf("%s, %s", name, strategy), func(t *testing.T) {
				list := &countingList{}
				s, k := pendingSite(t, strategy, func(s *site) { s.Session.Revocation = list })
				signedIn, _, b := threeBrowsers(s)
				copied, form := b.cookie(pendingCookie), b.cookie(csrfCookie)
				calls := 0
				fail := func() {
					list.failing = c.fails == calls+1
					k.fail()
					if list.failing {
						k.fail("endUserSessions")
					}
				}
				fail()
				next, err := b.changes(func(context.Context) error {
					calls++
					fail()
					return c.err
				}, "otp")
				list.failing = false
				k.fail()
				if !errors.Is(err, c.code) || next != "" || calls != c.calls {
					t.Errorf("CompleteSignIn: %q, %v, and the change was called %d times", next, err, calls)
				}
				b.isSignedOut()
				b.plant(pendingCookie, copied)
				b.plant(csrfCookie, form)
				if p := b.pending(); p != nil {
					t.Error("the sign-in still waits")
				}
				if c.calls > 0 {
					signedIn.hasNoSession()
				}
			})
		}
	}
}

// A panic in a change goes on to the server, which ends the request, and the sign-in is over.
func TestAChangeThatPanicsLeavesNoSignIn(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s, k := pendingSite(t, strategy)
			signedIn, waits, b := threeBrowsers(s)
			caught := func() (value any) {
				defer func() { value = recover() }()
				_, _ = b.changes(func(context.Context) error { panic(http.ErrAbortHandler) }, "otp")
				return nil
			}()
			if err, _ := caught.(error); !errors.Is(err, http.ErrAbortHandler) {
				t.Errorf("the server sees %v, want the value of the change", caught)
			}
			if b.pending() != nil || waits.pending() != nil {
				t.Error("a sign-in still waits")
			}
			signedIn.hasNoSession()
			if rows := k.sessions(t, "user-ada"); rows != 0 {
				t.Errorf("the user has %d rows of sessions", rows)
			}
		})
	}
}

// countingList is a list of ended sessions that can fail to end those of a user.
type countingList struct {
	memstore.Revocations
	failing bool
	after   func() // the sessions of a user have ended
}

func (l *countingList) RevokeUser(ctx context.Context, userID string, until time.Time) error {
	if l.failing {
		return errBroken
	}
	err := l.Revocations.RevokeUser(ctx, userID, until)
	if l.after != nil {
		l.after()
	}
	return err
}

// A token goes on without its user: one who is deleted while the new session waits for its second
// has none.
func TestAUserWhoIsDeletedAfterAChangeHasNoSession(t *testing.T) {
	list := &countingList{}
	s, k := pendingSite(t, pintle.StrategyJWT, func(s *site) { s.Session.Revocation = list })
	b := s.browser()
	b.isHeld(b.byPassword())
	next, err := b.changes(func(ctx context.Context) error {
		list.after = func() {
			list.after = nil
			if err := s.auth.DeleteUser(ctx, "user-ada"); err != nil {
				t.Error(err)
			}
		}
		return nil
	}, "otp")
	if !errors.Is(err, pintle.CodeInvalidCheck) || next != "" {
		t.Errorf("CompleteSignIn: %q, %v", next, err)
	}
	if u, err := k.Store.User(t.Context(), "user-ada"); u != nil {
		t.Errorf("the user is not deleted: %v", err)
	}
	b.isSignedOut()
}

// AT-8: a sign-in that has ended before makes no change.
func TestASignInThatHasEndedMakesNoChange(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s, _ := pendingSite(t, strategy)
			b := s.browser()
			b.isHeld(b.byPassword())
			if err := s.auth.SignOutEverywhere(t.Context(), "user-ada"); err != nil {
				t.Fatal(err)
			}
			called := false
			next, err := b.changes(func(context.Context) error { called = true; return nil }, "otp")
			if !errors.Is(err, pintle.CodeInvalidCheck) || next != "" || called {
				t.Errorf("CompleteSignIn: %q, %v, and the change was called: %t", next, err, called)
			}
			b.isSignedOut()
		})
	}
}

// A token has the time at which its session begins, and the list of ended sessions counts in
// seconds: without a list no change can end a session.
func TestAChangeNeedsAListOfEndedSessions(t *testing.T) {
	s, _ := pendingSite(t, pintle.StrategyJWT, func(s *site) { s.Session.Revocation = nil })
	b := s.browser()
	b.isHeld(b.byPassword())
	called := false
	if _, err := b.changes(func(context.Context) error { called = true; return nil }, "otp"); !errors.Is(err, pintle.CodeConfiguration) || called {
		t.Errorf("CompleteSignIn: %v, and the change was called: %t", err, called)
	}
	b.isSignedOut()
}

// A page after a change does not give the first proof more time.
func TestAChangeDoesNotProlongASignIn(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := pendingSite(t, strategy)
				b := s.browser()
				b.isHeld(b.byPassword())
				began := time.Now()
				for time.Since(began) < 51*time.Minute {
					time.Sleep(9 * time.Minute)
					if next, err := b.changes(func(context.Context) error { return nil }); err != nil || next != s.url+"/second-factor" {
						t.Fatalf("after %v: %q, %v", time.Since(began), next, err)
					}
				}
				if p := b.pending(); p == nil || p.Expires.After(began.Add(time.Hour)) {
					t.Errorf("after %v the sign-in is %+v", time.Since(began), p)
				}
			})
		})
	}
}
