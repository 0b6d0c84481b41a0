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
	"github.com/pintleauth/pintle/store/memstore"
)

// starting adds a page that starts a session of the user and shows its token.
func starting(s *site, u *pintle.User, o pintle.StartOptions) {
	rest := s.net["localhost:3000"]
	s.net["localhost:3000"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/start" {
			rest.ServeHTTP(w, r)
			return
		}
		var to http.ResponseWriter
		if r.Header.Get("Native") == "" {
			to = w
		}
		token, session, err := s.auth.StartSession(to, r, u, o)
		if err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		if session.User.ID != u.ID || session.User.Name != u.Name {
			s.t.Errorf("the session is of %+v", session.User)
		}
		fmt.Fprint(w, token)
	})
}

func TestServerCodeStartsASession(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := false
				s, k := hijackSite(t, strategy, recording, func(s *site) {
					s.Session.AllowBearer = true
					s.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) {
						asked = true
						return "", nil
					}
				})
				ada := people["ada"].user
				k.seedUser(t, ada)
				showFacts(s)
				proof := pintle.Authentication{Time: time.Now().Add(-time.Hour), Provider: "registration", Methods: []string{"email", "pwd"}}
				starting(s, &ada, pintle.StartOptions{Authentication: proof})

				t.Log("for a browser")
				b := s.browser()
				token := b.get("/start").want(http.StatusOK).body
				if held := b.cookie(sessionCookie); held == "" || held != token {
					t.Errorf("the cookie holds %q, and the token is %q", held, token)
				}
				if who := b.who(); who != "Ada Lovelace" {
					t.Errorf("%s is signed in", who)
				}
				b.wantRecorded(proof)

				t.Log("for an application")
				app := s.browser()
				r := app.get("/start", "Native", "1").want(http.StatusOK)
				if lines := r.header["Set-Cookie"]; len(lines) > 0 {
					t.Errorf("an application gets the cookies %q", lines)
				}
				if got := app.get("/", "Authorization", "Bearer "+r.body).body; got != "hello, Ada Lovelace" {
					t.Errorf("with the token the page says %q", got)
				}

				t.Log("its events and callbacks")
				e := lastEvent[*pintle.SignInEvent](s, "signIn")
				if e.User.ID != ada.ID || e.Account.Provider != "registration" || e.Account.ProviderAccountID != ada.ID || e.Account.Type != pintle.TypeCredentials {
					t.Errorf("Events.SignIn is called with %+v", e)
				}
				if asked {
					t.Error("Callbacks.SignIn is called")
				}

				t.Log("the zero options")
				starting(s, &ada, pintle.StartOptions{})
				b.get("/start").want(http.StatusOK)
				b.wantRecorded(pintle.Authentication{Time: time.Now()})
			})
		})
	}
}

// The session that StartSession returns is the one that Load returns afterwards.
func TestAStartedSessionIsTheOneThatLoadReturns(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s, k := hijackSite(t, strategy, recording, func(s *site) {
				s.Session.AllowBearer = true
				s.Session.AbsoluteMaxAge = 24 * time.Hour
				s.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
					if c.Trigger == pintle.TriggerSignIn {
						role.Put(c.Claims, "admin of "+c.Account.Provider)
					}
					return c.Claims, nil
				}
			})
			ada := people["ada"].user
			k.seedUser(t, ada)
			proof := pintle.Authentication{Time: time.Now().Add(-time.Hour), Provider: "job", Methods: []string{"pwd"}}
			token, started, err := s.auth.StartSession(nil, httptest.NewRequest("GET", s.url, nil), &ada, pintle.StartOptions{Authentication: proof})
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest("GET", s.url, nil)
			r.Header.Set("Authorization", "Bearer "+token)
			loaded, err := s.auth.Session(r)
			if err != nil || loaded == nil {
				t.Fatal(loaded, err)
			}
			if diff := cmp.Diff(loaded.User, started.User, cmp.AllowUnexported(pintle.User{})); diff != "" {
				t.Errorf("the user (-loaded +started):\n%s", diff)
			}
			if d := loaded.Expires.Sub(started.Expires); d < -time.Second || d > time.Second {
				t.Errorf("it ends at %v, and as loaded at %v", started.Expires, loaded.Expires)
			}
			if left := time.Until(started.Expires); left > 23*time.Hour {
				t.Errorf("it lasts %v, longer than its absolute lifetime", left)
			}
			if diff := cmp.Diff(loaded.Authentication, started.Authentication); diff != "" {
				t.Errorf("what it records (-loaded +started):\n%s", diff)
			}
			was, _ := role.Get(loaded)
			if is, _ := role.Get(started); is != was || strategy == pintle.StrategyJWT && is != "admin of job" {
				t.Errorf("the role is %q, and as loaded %q", is, was)
			}
			if err := s.auth.SignOutEverywhere(t.Context(), ada.ID); err != nil {
				t.Fatal(err)
			}
			if after, err := s.auth.Session(r); err != nil || after != nil {
				t.Errorf("after the end of all sessions it is %+v, %v", after, err)
			}
			for _, err := range s.auth.Devices(t.Context(), started) {
				if err != nil {
					t.Errorf("the Auth that began the session: %v", err)
				}
			}
			other := newSite(t)
			for _, err := range other.auth.Devices(t.Context(), started) {
				if !errors.Is(err, pintle.CodeAccessDenied) {
					t.Errorf("another Auth takes the session: %v", err)
				}
			}
		})
	}
}

// A started session takes the place of the one that the browser holds, unless it is
// for an application.
func TestAStartedSessionEndsTheOneBefore(t *testing.T) {
	for _, strategy := range strategies {
		for _, native := range []string{"", "1"} {
			t.Run(string(strategy)+" native "+native, func(t *testing.T) {
				s, k := hijackSite(t, strategy)
				ada, grace := people["ada"].user, people["grace"].user
				k.seedUser(t, ada)
				k.seedUser(t, grace)
				starting(s, &grace, pintle.StartOptions{})
				b, copied := s.browser(), s.browser()
				b.signIn("ada")
				copied.plant(sessionCookie, b.cookie(sessionCookie))
				b.get("/start", "Native", native).want(http.StatusOK)
				inBrowser, inCopy := "Grace Hopper", "anonymous"
				if native != "" {
					inBrowser, inCopy = "Ada Lovelace", "Ada Lovelace"
				}
				if who := b.who(); who != inBrowser {
					t.Errorf("%s is signed in", who)
				}
				if who := copied.who(); who != inCopy {
					t.Errorf("with a copy of the session before %s is signed in", who)
				}
			})
		}
	}
}

func TestASessionThatCannotStartSaysWhatToDo(t *testing.T) {
	ada := new(people["ada"].user)
	at := func(a pintle.Authentication) pintle.StartOptions { return pintle.StartOptions{Authentication: a} }
	for _, tt := range []struct {
		name   string
		change func(*site)
		user   *pintle.User
		o      pintle.StartOptions
		want   string
	}{
		{"no user", nil, nil, pintle.StartOptions{}, "no ID"},
		{"a user without an ID", nil, &pintle.User{Name: "Ada"}, pintle.StartOptions{}, "no ID"},
		{"a user who is not stored", withRecordingStore(newRecordingStore(), pintle.StrategyDatabase), ada, pintle.StartOptions{}, "StartSession was given the user \"user-ada\", which the store does not have"},
		{"a time to come", nil, ada, at(pintle.Authentication{Time: time.Now().Add(time.Hour)}), "to come"},
		{"a time too long ago", func(s *site) { s.Session.AbsoluteMaxAge = time.Hour }, ada, at(pintle.Authentication{Time: time.Now().Add(-2 * time.Hour)}), "AbsoluteMaxAge"},
		{"a long provider", nil, ada, at(pintle.Authentication{Provider: strings.Repeat("x", 257)}), "257 bytes"},
		{"an empty method", nil, ada, at(pintle.Authentication{Methods: []string{""}}), "Methods"},
		{"a callback that wants no session", func(s *site) {
			s.Callbacks.JWT = func(context.Context, *pintle.TokenChange) (pintle.Claims, error) { return nil, nil }
		}, ada, pintle.StartOptions{}, "denies the session"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.change == nil {
				tt.change = func(*site) {}
			}
			s := newSite(t, tt.change)
			w := httptest.NewRecorder()
			token, session, err := s.auth.StartSession(w, httptest.NewRequest("GET", s.url, nil), tt.user, tt.o)
			if err == nil || !strings.Contains(err.Error(), tt.want) || token != "" || session != nil {
				t.Errorf("it returns %q, %+v, %v", token, session, err)
			}
			if lines := w.Header()["Set-Cookie"]; len(lines) > 0 {
				t.Errorf("the cookies %q are set", lines)
			}
			if !strings.Contains(s.log.String(), tt.want) && !strings.Contains(s.log.String(), "which the store does not have") {
				t.Errorf("the log lacks the error:\n%s", s.log)
			}
		})
	}
	t.Run("a host that is not trusted", func(t *testing.T) {
		s := newSite(t)
		_, _, err := s.auth.StartSession(nil, httptest.NewRequest("GET", "http://app.example.com/", nil), ada, pintle.StartOptions{})
		if err == nil || !strings.Contains(err.Error(), "Config.TrustHost") {
			t.Errorf("the error is %v", err)
		}
	})
}

// SA-L9: a list of ended sessions lets no session start whose user signed in before the
// end of all sessions. The browser keeps the session that it has.
func TestAStartedSessionIsAsOldAsItsSignIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, func(s *site) { s.Session.Revocation = &memstore.Revocations{} })
		ada := people["ada"].user
		signedIn := time.Now()
		time.Sleep(time.Minute)
		if err := s.auth.SignOutEverywhere(t.Context(), ada.ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		for _, tt := range []struct {
			at     time.Time
			starts bool
		}{{signedIn, false}, {time.Now(), true}} {
			b, w := s.browser(), httptest.NewRecorder()
			b.signIn("grace")
			s.eventNames()
			_, session, err := s.auth.StartSession(w, b.request(), &ada, pintle.StartOptions{Authentication: pintle.Authentication{Time: tt.at}})
			b.takes(w)
			names := s.eventNames()
			if tt.starts {
				if err != nil || session == nil || b.who() != "Ada Lovelace" || !slices.Contains(names, "signIn") {
					t.Errorf("SA-L9 with a sign-in of now: %v, the events are %v", err, names)
				}
				continue
			}
			if !errors.Is(err, pintle.CodeAccessDenied) || session != nil || len(names) > 0 {
				t.Errorf("SA-L9 with a sign-in of before the end: %v, %v, the events are %v", session, err, names)
			}
			if who := b.who(); who != people["grace"].user.Name {
				t.Errorf("SA-L9 the browser of Grace is that of %s", who)
			}
		}
	})
}

// SA-L9: the list of ended sessions may have forgotten their end. A sign-in of before
// what it remembers starts no session.
func TestASessionDoesNotStartWithATimeThatTheListHasForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := &memstore.Revocations{}
		s, k := hijackSite(t, pintle.StrategyJWT, func(s *site) {
			s.Session.Revocation = list
			s.Session.MaxAge = time.Hour
		})
		ada := people["ada"].user
		k.seedUser(t, ada)
		proven := time.Now()
		time.Sleep(time.Minute)
		if err := s.auth.SignOutEverywhere(t.Context(), ada.ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		if _, err := list.Sweep(t.Context(), time.Now(), 100); err != nil {
			t.Fatal(err)
		}
		for at, starts := range map[time.Time]bool{
			proven:                                   false,
			time.Now().Add(-time.Hour - time.Second): false,
			time.Now().Add(-time.Hour):               true,
		} {
			b, w := s.browser(), httptest.NewRecorder()
			_, _, err := s.auth.StartSession(w, b.request(), &ada, pintle.StartOptions{Authentication: pintle.Authentication{Time: at}})
			b.takes(w)
			if starts != (err == nil) || !starts && (!errors.Is(err, pintle.CodeConfiguration) || !strings.Contains(err.Error(), "Revocation")) {
				t.Errorf("SA-L9 StartSession with %v of %v: %v", at, time.Now(), err)
			}
			if sub := b.sub(); (sub != "") != starts {
				t.Errorf("SA-L9 %q is signed in by a proof of %v ago", sub, time.Since(at))
			}
		}
	})
}

// Rows need no list.
func TestARowStartsWithAnyTimeOfThePast(t *testing.T) {
	s, k := hijackSite(t, pintle.StrategyDatabase)
	ada := people["ada"].user
	k.seedUser(t, ada)
	long := pintle.Authentication{Time: time.Now().AddDate(-1, 0, 0)}
	if _, _, err := s.auth.StartSession(nil, httptest.NewRequest(http.MethodGet, s.url, nil), &ada, pintle.StartOptions{Authentication: long}); err != nil {
		t.Error(err)
	}
}

// AT-7: a StartSession that fails leaves no row of a session that no client has.
func TestAStartThatFailsLeavesNoSession(t *testing.T) {
	s, k := pendingSite(t, pintle.StrategyDatabase)
	ada := people["ada"].user
	b := s.browser()
	b.isHeld(b.byPassword())
	before := k.sessions(t, ada.ID) // the mark of the pending sign-in
	k.fail("useVerificationToken")
	_, _, err := s.auth.StartSession(httptest.NewRecorder(), b.request(), &ada, pintle.StartOptions{})
	k.fail()
	if !errors.Is(err, pintle.CodeStore) {
		t.Fatal(err)
	}
	if rows := k.sessions(t, ada.ID); rows != before {
		t.Errorf("AT-7 StartSession failed, and the user has %d rows, %d before", rows, before)
	}
	b.completes(s.url, ada.ID, "otp")
}

// A user who changes a password ends all sessions, and goes on in this browser. Copies
// of the cookies from before are of no use, nor is a session that begins with the end.
func TestASessionStartsAfterTheEndOfAllOthers(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newRecordingStore()
				s := newSite(t, withRecordingStore(k, strategy), func(s *site) { s.Session.Revocation = &memstore.Revocations{} })
				ada := k.seedUser(t, people["ada"].user)
				starting(s, ada, pintle.StartOptions{})
				start := s.net["localhost:3000"]
				s.net["localhost:3000"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/start" && r.Method == http.MethodPost {
						if err := s.auth.SignOutEverywhere(r.Context(), ada.ID); err != nil {
							t.Error(err)
						}
					}
					start.ServeHTTP(w, r)
				})
				b, copied := s.browser(), s.browser()
				b.get("/start").want(http.StatusOK)
				copied.plant(sessionCookie, b.cookie(sessionCookie))
				if b.who() != ada.Name || copied.who() != ada.Name {
					t.Fatalf("before: %s, %s", b.who(), copied.who())
				}
				b.post("/start").want(http.StatusOK)
				if who := b.who(); who != ada.Name {
					t.Errorf("this browser is %s", who)
				}
				if who := copied.who(); who != "anonymous" {
					t.Errorf("a copy of the cookie from before is %s", who)
				}
			})
		})
	}
}
