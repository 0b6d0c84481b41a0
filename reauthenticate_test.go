package pintle_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/testsite"
	"github.com/pintleauth/pintle/store/memstore"
)

var nickname = pintle.NewClaim[string]("nickname")

// steppingUp is a site on which Ada has signed in by a password.
func steppingUp(t *testing.T, strategy pintle.SessionStrategy, changes ...func(*site)) (*site, *browser) {
	t.Helper()
	k := newRecordingStore()
	s := newSite(t, append([]func(*site){withRecordingStore(k, strategy), recording, func(s *site) {
		s.Session.Revocation = &memstore.Revocations{}
		s.Session.UpdateAge = -1 // every request would renew the session
	}}, changes...)...)
	showFacts(s)
	ada := people["ada"].user
	if _, err := k.Store.CreateUser(t.Context(), &ada); err != nil {
		t.Fatal(err)
	}
	b := s.browser()
	b.begins(ada)
	return s, b
}

// begins gives the browser a session of a user that a password began.
func (b *browser) begins(u pintle.User) {
	b.t.Helper()
	w := httptest.NewRecorder()
	_, _, err := b.site.auth.StartSession(w, b.request(), &u, pintle.StartOptions{
		Authentication: pintle.Authentication{Provider: "credentials", Methods: []string{"pwd"}},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.takes(w)
}

// copied is another browser with the session cookie of this one.
func (b *browser) copied() *browser {
	c := b.site.browser()
	c.plant(sessionCookie, b.cookie(sessionCookie))
	return c
}

// confirms records that the user was verified again.
func (b *browser) confirms(methods ...string) (*pintle.Session, *httptest.ResponseRecorder, error) {
	b.t.Helper()
	w := httptest.NewRecorder()
	session, err := b.site.auth.Reauthenticate(w, b.request(), pintle.CompleteOptions{Methods: methods})
	if err != nil && len(w.Header()["Set-Cookie"]) > 0 {
		b.t.Errorf("a call that fails sets %q", w.Header()["Set-Cookie"])
	}
	b.takes(w)
	return session, w, err
}

func TestAReauthenticationIsRecorded(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var triggers []pintle.Trigger
				s, b := steppingUp(t, strategy, func(s *site) {
					s.Session.AbsoluteMaxAge = 2 * day
					s.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
						triggers = append(triggers, c.Trigger)
						return c.Claims, nil
					}
				})
				began := time.Now()
				time.Sleep(time.Minute)
				// Data of the application, saved and not saved yet.
				var updated *httptest.ResponseRecorder
				s.auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					nickname.Set(pintle.SessionFrom(r.Context()), "Countess")
					updated = httptest.NewRecorder()
					if _, err := s.auth.UpdateSession(updated, r, nil); err != nil {
						t.Error(err)
					}
				})).ServeHTTP(httptest.NewRecorder(), b.request())
				b.takes(updated)
				old := b.copied()
				time.Sleep(time.Minute)

				session, w, err := b.confirms("otp", "pwd")
				if err != nil {
					t.Fatal(err)
				}
				now := time.Now()
				want := pintle.Authentication{
					Time: now, Started: began, Provider: "credentials", Methods: []string{"pwd", "otp"},
					Proofs: map[string]time.Time{"pwd": now, "otp": now},
				}
				b.wantRecorded(want)
				if diff := cmp.Diff(b.recorded(), session.Authentication, cmp.Comparer(func(a, b time.Time) bool { return a.Unix() == b.Unix() })); diff != "" {
					t.Errorf("Reauthenticate returns (-read +got):\n%s", diff)
				}
				if name, _ := nickname.Get(session); name != "Countess" {
					t.Errorf("the data of the session is %q", name)
				}
				if b.cookie(sessionCookie) == old.cookie(sessionCookie) {
					t.Error("the session has the token it had")
				}
				if !session.Expires.Equal(began.Add(2*day)) && session.Expires.Sub(began.Add(2*day)).Abs() > time.Second {
					t.Errorf("the session ends %v after its beginning", session.Expires.Sub(began))
				}
				if len(w.Header()["Set-Cookie"]) == 0 || w.Header().Get("Cache-Control") != "private" {
					t.Errorf("the answer has the headers %v", w.Header())
				}
				if strategy == pintle.StrategyJWT && !slices.Contains(triggers[2:], pintle.TriggerUpdate) {
					t.Errorf("Callbacks.JWT was called with %q", triggers)
				}
				// AT-75
				time.Sleep(2*day - 3*time.Minute)
				if b.who() != "Ada Lovelace" {
					t.Error("the session has ended too early")
				}
				time.Sleep(2 * time.Minute)
				if who := b.who(); who != "anonymous" {
					t.Errorf("after its absolute lifetime %s is signed in", who)
				}
			})
		})
	}
}

// AT-76, AC-146
func TestASessionThatWasReplacedIsReadForTenSecondsAsItWas(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, b := steppingUp(t, strategy)
				old := b.copied()
				before := old.recorded()
				if _, _, err := b.confirms("otp"); err != nil {
					t.Fatal(err)
				}
				for range 100 {
					for _, r := range []*reply{old.get("/"), old.get("/auth/session"), old.postJSON("/auth/session", map[string]any{"csrfToken": old.csrf(), "data": 1})} {
						if lines := r.header["Set-Cookie"]; slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, sessionCookie) }) {
							t.Fatalf("an answer to the session before sets %q", lines)
						}
					}
					if old.who() != "Ada Lovelace" || old.session() == nil {
						t.Fatal("the session before is gone at once")
					}
					if diff := cmp.Diff(before, old.recorded()); diff != "" {
						t.Fatalf("the session before records something else (-want +got):\n%s", diff)
					}
					time.Sleep(90 * time.Millisecond)
				}
				if _, _, err := old.confirms("mfa"); !errors.Is(err, pintle.CodeAccessDenied) {
					t.Errorf("the session before is replaced once more: %v", err)
				}
				r := old.request()
				s.auth.Load(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					nickname.Set(pintle.SessionFrom(r.Context()), "Eve")
					w := httptest.NewRecorder()
					session, err := s.auth.UpdateSession(w, r, nil)
					if name, _ := nickname.Get(session); err != nil || name != "" || len(w.Header()["Set-Cookie"]) > 0 {
						t.Errorf("the session before is changed: %q, %v, %v", name, err, w.Header())
					}
				})).ServeHTTP(httptest.NewRecorder(), r)
				for device, err := range s.auth.Devices(t.Context(), must(s.auth.Session(b.request()))) {
					if err != nil || !device.Current {
						t.Errorf("the devices have the session before: %+v, %v", device, err)
					}
				}
				time.Sleep(2 * time.Second)
				if who := old.who(); who != "anonymous" {
					t.Errorf("after ten seconds %s is signed in", who)
				}
				if b.who() != "Ada Lovelace" {
					t.Error("the new session has ended")
				}
			})
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestWhatEndsASessionEndsTheOneBefore(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, s *site, old, b *browser){
		"the end of all sessions": func(t *testing.T, s *site, _, _ *browser) {
			if err := s.auth.SignOutEverywhere(t.Context(), "user-ada"); err != nil {
				t.Error(err)
			}
		},
		"a sign-out": func(_ *testing.T, _ *site, _, b *browser) { b.post("/auth/signout") },
	} {
		for _, strategy := range strategies {
			t.Run(name+", "+string(strategy), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, b := steppingUp(t, strategy)
					old, copied := b.copied(), b
					if _, _, err := b.confirms("otp"); err != nil {
						t.Fatal(err)
					}
					copied = b.copied()
					time.Sleep(3 * time.Second)
					end(t, s, old, b)
					if who := copied.who(); who != "anonymous" {
						t.Errorf("the new session is that of %s", who)
					}
					if who := old.who(); who != "anonymous" {
						t.Errorf("the session before is that of %s", who)
					}
				})
			})
		}
	}
	// A sign-out with the token before may come while the new session begins.
	synctest.Test(t, func(t *testing.T) {
		_, b := steppingUp(t, pintle.StrategyJWT)
		old := b.copied()
		if _, _, err := b.confirms("otp"); err != nil {
			t.Fatal(err)
		}
		old.post("/auth/signout")
		if who := b.who(); who != "anonymous" {
			t.Errorf("after a sign-out with the token before %s is signed in", who)
		}
	})
}

// A session that ends while it is replaced does not go on.
func TestASessionThatEndsDuringAReauthentication(t *testing.T) {
	for _, strategy := range strategies {
		for name, end := range map[string]func(s *site, old *browser) error{
			"the end of all sessions": func(s *site, _ *browser) error { return s.auth.SignOutEverywhere(context.Background(), "user-ada") },
			"a sign-out": func(_ *site, old *browser) error {
				_, err := old.site.auth.SignOut(httptest.NewRecorder(), old.request(), pintle.SignOutOptions{RedirectTo: "/"})
				return err
			},
		} {
			t.Run(name+", "+string(strategy), func(t *testing.T) {
				var ending func()
				s, b := steppingUp(t, strategy, func(s *site) {
					s.Callbacks.Session = func(_ context.Context, v *pintle.SessionView) (any, error) {
						if end := ending; end != nil {
							ending = nil
							end()
						}
						return v.Session, nil
					}
				})
				old, copied := b.copied(), b.copied()
				ending = func() {
					if err := end(s, old); err != nil {
						t.Error(err)
					}
				}
				if _, _, err := b.confirms("otp"); !errors.Is(err, pintle.CodeAccessDenied) {
					t.Errorf("Reauthenticate: %v", err)
				}
				for _, any := range []*browser{b, copied} {
					if who := any.who(); who != "anonymous" {
						t.Errorf("%s is signed in", who)
					}
				}
				if strategy == pintle.StrategyDatabase {
					for row, err := range s.Store.UserSessions(t.Context(), "user-ada") {
						t.Errorf("a row is left: %v, %v", row, err)
					}
				}
			})
		}
	}
}

func TestRequestsThatReauthenticateAtOnce(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s, b := steppingUp(t, strategy)
			r := b.request()
			good := testsite.InParallel(20, func(int) *httptest.ResponseRecorder {
				w := httptest.NewRecorder()
				if _, err := s.auth.Reauthenticate(w, r.Clone(t.Context()), pintle.CompleteOptions{Methods: []string{"otp"}}); err != nil {
					if !errors.Is(err, pintle.CodeAccessDenied) || len(w.Header()["Set-Cookie"]) > 0 {
						t.Errorf("%v, %v", err, w.Header())
					}
					return nil
				}
				return w
			})
			good = slices.DeleteFunc(good, func(w *httptest.ResponseRecorder) bool { return w == nil })
			if len(good) == 0 || strategy == pintle.StrategyDatabase && len(good) > 1 {
				t.Fatalf("%d requests replace the session", len(good))
			}
			b.takes(good[0])
			if b.who() != "Ada Lovelace" || !slices.Contains(b.recorded().Methods, "otp") {
				t.Error("the new session is not good")
			}
		})
	}
}

func TestReauthenticateFails(t *testing.T) {
	for _, strategy := range strategies {
		synctest.Test(t, func(t *testing.T) {
			s, b := steppingUp(t, strategy)
			if _, _, err := s.browser().confirms("pwd"); !errors.Is(err, pintle.CodeAccessDenied) {
				t.Errorf("without a session: %v", err)
			}
			if _, _, err := b.confirms(); !errors.Is(err, pintle.CodeConfiguration) {
				t.Errorf("without a method: %v", err)
			}
			if _, _, err := b.confirms(strings.Repeat("x", 65)); !errors.Is(err, pintle.CodeConfiguration) {
				t.Errorf("with a long method: %v", err)
			}
			w := httptest.NewRecorder()
			if _, err := s.auth.SignOut(w, b.copied().request(), pintle.SignOutOptions{RedirectTo: "/"}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.auth.Reauthenticate(w, b.request(), pintle.CompleteOptions{Methods: []string{"pwd"}}); !errors.Is(err, pintle.CodeAccessDenied) {
				t.Errorf("after a sign-out in the same response: %v", err)
			}
			b.begins(people["ada"].user)
			s.Session.RecordAuthentication = false
			auth, err := pintle.New(s.Config)
			if err != nil {
				t.Fatal(err)
			}
			_, err = auth.Reauthenticate(httptest.NewRecorder(), b.request(), pintle.CompleteOptions{Methods: []string{"pwd"}})
			if !errors.Is(err, pintle.CodeConfiguration) || !strings.Contains(fmt.Sprint(err), "RecordAuthentication") {
				t.Errorf("where nothing is recorded: %v", err)
			}
		})
	}
}

// Without a list of ended sessions only the response shows that another session has taken
// the place of the one that the request carries.
func TestAReauthenticationReplacesNoSessionOfTheSameResponse(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s, b := steppingUp(t, strategy, func(s *site) { s.Session.Revocation = nil })
			w, r, ada := httptest.NewRecorder(), b.request(), people["ada"].user
			if _, _, err := s.auth.StartSession(w, r, &ada, pintle.StartOptions{}); err != nil {
				t.Fatal(err)
			}
			set := len(w.Result().Cookies())
			_, err := s.auth.Reauthenticate(w, r, pintle.CompleteOptions{Methods: []string{"otp"}})
			if !errors.Is(err, pintle.CodeAccessDenied) || len(w.Result().Cookies()) != set {
				t.Errorf("%v, with %d cookies where there were %d", err, len(w.Result().Cookies()), set)
			}
		})
	}
}

// Without a list of ended sessions the token before stays good, and never has the proof.
func TestATokenBeforeWithoutAListNeverHasTheProof(t *testing.T) {
	_, b := steppingUp(t, pintle.StrategyJWT, func(s *site) { s.Session.Revocation = nil })
	old := b.copied()
	if _, _, err := b.confirms("otp"); err != nil {
		t.Fatal(err)
	}
	if got := old.recorded().Methods; !slices.Equal(got, []string{"pwd"}) {
		t.Errorf("the token before records %q", got)
	}
	if got := b.recorded().Methods; !slices.Equal(got, []string{"pwd", "otp"}) {
		t.Errorf("the new token records %q", got)
	}
}

// All other sessions and sign-ins that wait end, and this browser has a new session, in
// one response.
func TestAUserEndsAllSessionsButThisOne(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := pendingSite(t, strategy, recording)
				s.Session.UpdateAge = -1
				showFacts(s)
				b, other, waiting := s.browser(), s.browser(), s.browser()
				b.begins(people["ada"].user)
				other.begins(people["ada"].user)
				waiting.isHeld(waiting.byPassword())
				old := b.copied()
				time.Sleep(time.Minute)
				r, w := b.request(), httptest.NewRecorder()
				session := must(s.auth.Session(r))
				proven := session.Authentication
				proven.Started, proven.Time = time.Time{}, time.Time{}
				if err := s.auth.SignOutEverywhere(t.Context(), session.User.ID); err != nil {
					t.Fatal(err)
				}
				if _, _, err := s.auth.StartSession(w, r, &session.User, pintle.StartOptions{Authentication: proven}); err != nil {
					t.Fatal(err)
				}
				b.takes(w)
				if b.who() != "Ada Lovelace" || b.recorded().Proofs["pwd"].Unix() != session.Authentication.Proofs["pwd"].Unix() {
					t.Errorf("%s is signed in, who has proven %v", b.who(), b.recorded().Proofs)
				}
				for name, ended := range map[string]*browser{"another device": other, "a copy of this session": old} {
					if who := ended.who(); who != "anonymous" {
						t.Errorf("%s is signed in as %s", name, who)
					}
				}
				if p := waiting.pending(); p != nil {
					t.Error("a sign-in waits still")
				}
			})
		})
	}
}

// A token of another program may have neither sid nor jti. Each such session has an id of its own
// after a confirmation: the end of one is not that of another.
func TestSessionsWithoutAnIDHaveOneAfterAConfirmation(t *testing.T) {
	_, b := steppingUp(t, pintle.StrategyJWT)
	seen := map[any]bool{}
	for _, user := range []string{"ada", "grace"} {
		claims := claimsFor(user)
		delete(claims, "jti")
		other := b.site.browser()
		other.plant(sessionCookie, sealed(t, sessionCookie, claims))
		if _, _, err := other.confirms("pwd"); err != nil {
			t.Fatal(err)
		}
		sid := unsealed(t, sessionCookie, other.cookie(sessionCookie))["sid"]
		if text, _ := sid.(string); text == "" || seen[sid] {
			t.Errorf("the session has the id %q, which another one has, too, or none", sid)
		}
		seen[sid] = true
	}
}

// Callbacks.JWT cannot take away by what the session is ended.
func TestTheIDOfAConfirmedSessionIsNotOfTheHost(t *testing.T) {
	s, b := steppingUp(t, pintle.StrategyJWT, func(s *site) {
		s.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
			if c.Trigger == pintle.TriggerUpdate {
				delete(c.Claims, "sid")
			}
			return c.Claims, nil
		}
	})
	if _, _, err := b.confirms("pwd"); err != nil {
		t.Fatal(err)
	}
	if sid := unsealed(t, sessionCookie, b.cookie(sessionCookie))["sid"]; sid == nil {
		t.Error("the session has no id")
	}
	copied := b.copied()
	b.post("/auth/signout").want(http.StatusFound)
	if who := copied.who(); who != "anonymous" {
		t.Errorf("the copy of a session that has ended is that of %q: %s", who, s.log)
	}
}
