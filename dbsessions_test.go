package pintle_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

// A brokenStore fails in chosen operations, and counts the calls.
type brokenStore struct {
	*memstore.Store
	fails map[string]bool
	calls map[string]int
}

func newBrokenStore() *brokenStore {
	return &brokenStore{memstore.New(), map[string]bool{}, map[string]int{}}
}

func (s *brokenStore) call(operation string) error {
	s.calls[operation]++
	if s.fails[operation] {
		return errBroken
	}
	return nil
}

func (s *brokenStore) SessionAndUser(ctx context.Context, token string) (*pintle.StoredSession, *pintle.User, error) {
	if err := s.call("SessionAndUser"); err != nil {
		return nil, nil, err
	}
	return s.Store.SessionAndUser(ctx, token)
}

func (s *brokenStore) UpdateSession(ctx context.Context, token string, change pintle.SessionUpdate) error {
	if err := s.call("UpdateSession"); err != nil {
		return err
	}
	return s.Store.UpdateSession(ctx, token, change)
}

func (s *brokenStore) DeleteSession(ctx context.Context, token string) (*pintle.StoredSession, error) {
	if err := s.call("DeleteSession"); err != nil {
		return nil, err
	}
	return s.Store.DeleteSession(ctx, token)
}

func (s *brokenStore) UserByAccount(ctx context.Context, provider, id string) (*pintle.User, error) {
	if err := s.call("UserByAccount"); err != nil {
		return nil, err
	}
	return s.Store.UserByAccount(ctx, provider, id)
}

// inDatabase keeps the site's sessions in a store.
func inDatabase(store pintle.Store) func(*site) {
	return func(s *site) { s.Store = store }
}

// S-13, ASVS-7.2.3, ASVS-3.3.1: the cookie of a database session is random and
// nothing else.
func TestADatabaseSessionIsARandomToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		s := newSite(t, inDatabase(store))
		first, second := s.browser(), s.browser()
		r := first.signInWith("acme").goesTo(s.url)
		second.signInWith("acme")
		token := first.cookie(sessionCookie)
		if len(token) != 43 || token == second.cookie(sessionCookie) {
			t.Errorf("the tokens are %q and %q, want 256 bits each", token, second.cookie(sessionCookie))
		}
		c := r.cookies()[sessionCookie]
		if want := time.Now().Add(30 * day).Truncate(time.Second).UTC(); !c.Expires.Equal(want) || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode {
			t.Errorf("the cookie is %v", c)
		}
		session, user, err := store.SessionAndUser(t.Context(), token)
		if err != nil || user.Email != "ada@example.com" || !session.Expires.Equal(time.Now().Add(30*day).Truncate(time.Millisecond)) {
			t.Errorf("the store has %v of %v, %v", session, user, err)
		}
	})
}

// S-14, S-15: a row is written when UpdateAge has passed since it was written
// last, by a page as by the session route; only the latter sends the cookie
// every time.
func TestADatabaseSessionIsExtendedWhenThatIsDue(t *testing.T) {
	tests := []struct {
		name   string
		path   string
		age    time.Duration
		after  []time.Duration
		writes []int // so far
		cookie []bool
	}{
		{"by a page, once a day", "/", 0, []time.Duration{0, day - time.Second, time.Second, 0, day}, []int{0, 0, 1, 1, 2}, []bool{false, false, true, false, true}},
		{"by a page, always", "/", -1, []time.Duration{time.Second, time.Second}, []int{1, 2}, []bool{true, true}},
		{"by the session route, once a day", "/auth/session", 0, []time.Duration{0, day - time.Second, time.Second, 0}, []int{0, 0, 1, 1}, []bool{true, true, true, true}},
		{"by other routes, never", "/auth/signin", -1, []time.Duration{0, day}, []int{0, 0}, []bool{false, false}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newBrokenStore()
				s := newSite(t, inDatabase(store), func(s *site) { s.Session.UpdateAge = tt.age })
				b := s.browser()
				b.signInWith("acme")
				held := b.cookie(sessionCookie)
				for i, wait := range tt.after {
					time.Sleep(wait)
					c := b.get(tt.path).want(http.StatusOK).cookies()[sessionCookie]
					if got := store.calls["UpdateSession"]; got != tt.writes[i] {
						t.Fatalf("request %d: %d writes so far, want %d", i+1, got, tt.writes[i])
					}
					if sent := c != nil; sent != tt.cookie[i] {
						t.Errorf("request %d sends the cookie: %t, want %t", i+1, sent, tt.cookie[i])
					}
					if c != nil && (c.Value != held || !c.Expires.Equal(time.Now().Add(30*day).Truncate(time.Second).UTC())) {
						t.Errorf("request %d sends %v", i+1, c)
					}
				}
			})
		})
	}
}

// S-34: who comes too late finds no session, and the row is gone.
func TestAnExpiredDatabaseSessionIsRemoved(t *testing.T) {
	for _, path := range []string{"/", "/auth/session"} {
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memstore.New()
				s := newSite(t, inDatabase(store), func(s *site) { s.Session.MaxAge = time.Hour })
				b := s.browser()
				b.signInWith("acme")
				token := b.cookie(sessionCookie)
				time.Sleep(time.Hour + time.Millisecond)
				w, _ := ask(s.handler(), "GET", s.url+path, nil, "Cookie", sessionCookie+"="+token)
				if body := w.Body.String(); body != "hello, anonymous" && body != "null" {
					t.Errorf("GET %s answers %s", path, body)
				}
				if cleared := len(w.Header()["Set-Cookie"]) > 0 && strings.Contains(setCookies(w.Header())[sessionCookie], "Max-Age=0"); cleared != (path == "/auth/session") {
					t.Errorf("the cookie is cleared: %t", cleared)
				}
				if _, _, err := store.SessionAndUser(t.Context(), token); !errors.Is(err, pintle.ErrNotFound) {
					t.Errorf("the store still has the session: %v", err)
				}
			})
		})
	}
}

// SH-16, ASVS-7.4.2: nothing of a session outlives its row or its user.
func TestADatabaseSessionEndsWithItsRow(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, s *site, userID, token string){
		"at a sign-out everywhere": func(t *testing.T, s *site, userID, _ string) {
			if err := s.auth.SignOutEverywhere(t.Context(), userID); err != nil {
				t.Fatal(err)
			}
		},
		"with its user": func(t *testing.T, s *site, userID, _ string) {
			if err := s.auth.DeleteUser(t.Context(), userID); err != nil {
				t.Fatal(err)
			}
		},
		"when the row is deleted": func(t *testing.T, s *site, _, token string) {
			if _, err := s.Store.DeleteSession(t.Context(), token); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, inDatabase(memstore.New()))
			b := s.browser()
			b.signInWith("acme")
			if who := b.who(); who != "Ada Lovelace" {
				t.Fatalf("%s is signed in", who)
			}
			id := lastEvent[*pintle.SignInEvent](s, "signIn").User.ID
			end(t, s, id, b.cookie(sessionCookie))
			if who := b.who(); who != "anonymous" {
				t.Errorf("%s is signed in", who)
			}
			b.get("/members").want(http.StatusFound)
			if session := b.session(); session != nil {
				t.Errorf("the session is %v", session)
			}
		})
	}
}

// SH-47: a token that the store does not have never becomes one.
func TestTheClientDoesNotChooseItsToken(t *testing.T) {
	s := newSite(t, inDatabase(memstore.New()))
	b := s.browser()
	b.plant(sessionCookie, "chosen")
	b.signInWith("acme")
	if b.cookie(sessionCookie) == "chosen" {
		t.Error("the session has the token that the browser came with")
	}
	b = s.browser()
	b.plant(sessionCookie, "chosen")
	if who := b.who(); who != "anonymous" {
		t.Errorf("%s is signed in", who)
	}
	if r := b.get("/auth/session"); r.body != "null" || !r.clears(sessionCookie) {
		t.Errorf("the session route answers %s with cookies %q", r.body, r.header["Set-Cookie"])
	}
	b.plant(sessionCookie, sealed(t, sessionCookie, claimsFor("ada")))
	if who := b.who(); who != "anonymous" {
		t.Errorf("with a token of the other strategy %s is signed in", who)
	}
}

// SH-41, ASVS-7.2.4: where the host asks for it, no session survives a sign-in.
func TestASignInGivesANewToken(t *testing.T) {
	s := newSite(t, inDatabase(memstore.New()), func(s *site) { s.Session.RotateAtSignIn = true })
	b, thief := s.browser(), s.browser()
	b.signInWith("acme")
	old := b.cookie(sessionCookie)
	thief.plant(sessionCookie, old)
	b.signInWith("acme")
	if b.cookie(sessionCookie) == old {
		t.Error("the token is the same")
	}
	if who := thief.who(); who != "anonymous" {
		t.Errorf("with the old token %s is signed in", who)
	}
	if who := b.who(); who != "Ada Lovelace" {
		t.Errorf("with the new one %s is signed in", who)
	}
}

// A cancelled request must not raise an alarm.
func TestAVisitorWhoLeavesIsNoFailureOfOurs(t *testing.T) {
	s := newSite(t, inDatabase(memstore.New()))
	b := s.browser()
	b.signInWith("acme")
	ctx, leave := context.WithCancel(t.Context())
	leave()
	r := httptest.NewRequestWithContext(ctx, "GET", s.url+"/", nil)
	r.Header.Set("Cookie", sessionCookie+"="+b.cookie(sessionCookie))
	s.auth.Load(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), r)
	if log := s.log.String(); !strings.Contains(log, "session not read") || strings.Contains(log, `"level":"ERROR"`) {
		t.Errorf("the log is %s", log)
	}
}

// A long token leaves its parts where sessions move into the database, and a
// cookie header has only so much room.
func TestPartsOfATokenGoWhenADatabaseSessionIsWritten(t *testing.T) {
	s := newSite(t, inDatabase(memstore.New()))
	b := s.browser()
	parts := []string{sessionCookie + ".0", sessionCookie + ".1"}
	for _, by := range []struct {
		name string
		do   func() *reply
	}{
		{"a sign-in", func() *reply { return b.signInWith("acme") }},
		{"the session route", func() *reply { return b.get("/auth/session").want(http.StatusOK) }},
	} {
		for _, part := range parts {
			b.plant(part, "of-a-token")
		}
		r := by.do()
		for _, part := range parts {
			if !r.clears(part) {
				t.Errorf("%s leaves %s: %q", by.name, part, r.header["Set-Cookie"])
			}
		}
		if who := b.who(); who != "Ada Lovelace" {
			t.Errorf("after %s %s is signed in", by.name, who)
		}
	}
}

// A session is valid until it ends, even if its use cannot be recorded.
func TestAReadOnlyDatabaseKeepsUsersSignedIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newBrokenStore()
		s := newSite(t, inDatabase(store))
		b := s.browser()
		b.signInWith("acme")
		store.fails["UpdateSession"] = true
		time.Sleep(day)
		if r := b.get("/members").want(http.StatusOK); len(r.header["Set-Cookie"]) > 0 {
			t.Errorf("a session that was not extended sets %q", r.header["Set-Cookie"])
		}
		if !s.log.has("SessionTokenError") {
			t.Error("the log does not say that the session was not extended")
		}
		if r := b.get("/auth/session").want(http.StatusOK); r.body != "null" || r.clears(sessionCookie) {
			t.Errorf("the session route answers %s with cookies %q", r.body, r.header["Set-Cookie"])
		}
		store.fails["UpdateSession"] = false
		if c := b.get("/members").want(http.StatusOK).cookies()[sessionCookie]; c == nil {
			t.Error("the session is not extended when the database writes again")
		}
	})
}

// W-25, SH-04: while the database is down no request is signed in. Browsers
// read null, as for an anonymous request, and keep their cookie; server code
// gets an error, and guards answer that the service is unavailable.
func TestADatabaseThatIsDownSignsNoUserInOrOut(t *testing.T) {
	store := newBrokenStore()
	s := newSite(t, inDatabase(store))
	b := s.browser()
	b.signInWith("acme")
	held := b.cookie(sessionCookie)
	store.fails["SessionAndUser"] = true

	if r := b.get("/auth/session").want(http.StatusOK); r.body != "null" || len(r.header["Set-Cookie"]) > 0 {
		t.Errorf("the session route answers %s with cookies %q", r.body, r.header["Set-Cookie"])
	}
	if who := b.who(); who != "anonymous" {
		t.Errorf("on a page %s is signed in", who)
	}
	b.get("/members").want(http.StatusServiceUnavailable)
	r := httptest.NewRequest("GET", s.url+"/", nil)
	r.Header.Set("Cookie", sessionCookie+"="+held)
	if session, err := s.auth.Session(r); session != nil || !errors.Is(err, pintle.CodeStore) || !errors.Is(err, errBroken) {
		t.Errorf("Session returns %v, %v", session, err)
	}
	for _, code := range []string{"AdapterError", "SessionTokenError"} {
		if !s.log.has(code) {
			t.Errorf("the log does not have %s", code)
		}
	}
	store.fails["SessionAndUser"] = false
	b.get("/members").want(http.StatusOK)
	if who := b.who(); who != "Ada Lovelace" {
		t.Errorf("after the outage %s is signed in", who)
	}
}

// A session whose callback fails is not shown, and its cookie is kept: the row is
// good, and the callback may work again.
func TestADatabaseSessionOutlivesAFailingCallback(t *testing.T) {
	failing := false
	s := newSite(t, inDatabase(memstore.New()), func(s *site) {
		s.Callbacks.Session = func(_ context.Context, v *pintle.SessionView) (any, error) {
			if failing {
				return nil, errBroken
			}
			return v.Session, nil
		}
	})
	b := s.browser()
	b.signInWith("acme")
	held := b.cookie(sessionCookie)
	failing = true

	if r := b.get("/auth/session").want(http.StatusOK); r.body != "null" || len(r.header["Set-Cookie"]) > 0 {
		t.Errorf("the session route responds %s with cookies %q", r.body, r.header["Set-Cookie"])
	}
	b.get("/members").want(http.StatusFound)
	r := httptest.NewRequest("GET", s.url+"/", nil)
	r.Header.Set("Cookie", sessionCookie+"="+held)
	if session, err := s.auth.Session(r); session != nil || !errors.Is(err, errBroken) {
		t.Errorf("Session returns %v, %v; want the error", session, err)
	}
	if !s.log.has("SessionTokenError") {
		t.Error("the log does not have SessionTokenError")
	}
	failing = false
	if who := b.who(); who != "Ada Lovelace" {
		t.Errorf("with a working callback %s is signed in", who)
	}
}

func TestASignOutRemovesTheRow(t *testing.T) {
	store := memstore.New()
	s := newSite(t, inDatabase(store))
	b := s.browser()
	b.signInWith("acme")
	token := b.cookie(sessionCookie)
	b.post("/auth/signout", "callbackUrl", "/bye").goesTo(s.url + "/bye")
	if _, _, err := store.SessionAndUser(t.Context(), token); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("the store still has the session: %v", err)
	}
	if e := lastEvent[*pintle.SignOutEvent](s, "signOut"); e.Session == nil || e.Claims != nil {
		t.Errorf("the event has %v", e)
	}
	b.post("/auth/signout").goesTo(s.url + "/bye") // which is remembered
}

// W-39: the token of a session is in no JSON, whatever a callback returns.
func TestTheTokenIsNotShown(t *testing.T) {
	s := newSite(t, inDatabase(memstore.New()), func(s *site) {
		s.Callbacks.Session = func(_ context.Context, v *pintle.SessionView) (any, error) {
			if v.Stored == nil || v.User == nil || v.Claims != nil {
				t.Errorf("the callback is given %+v", v)
			}
			return map[string]any{"session": v.Session, "id": v.User.ID, "trigger": v.Trigger, "new": v.Update}, nil
		}
	})
	b := s.browser()
	b.signInWith("acme")
	token := b.cookie(sessionCookie)
	r := b.postJSON("/auth/session", map[string]any{"csrfToken": b.csrf(), "data": "x"}).want(http.StatusOK)
	for _, text := range []string{b.get("/auth/session").body, r.body, b.get("/").body, s.log.String()} {
		if strings.Contains(text, token) {
			t.Errorf("the token is in %s", text)
		}
	}
	if !strings.Contains(r.body, `"trigger":"update"`) || !strings.Contains(r.body, `"new":"x"`) {
		t.Errorf("an update shows %s", r.body)
	}
}

func TestTheRowOfASessionIsShownWithoutItsToken(t *testing.T) {
	for name, show := range map[string]func(v *pintle.SessionView) any{
		"SA-L10 the row":           func(v *pintle.SessionView) any { return v.Stored },
		"SA-L10 a copy of the row": func(v *pintle.SessionView) any { return *v.Stored },
		"SA-L10 the whole view":    func(v *pintle.SessionView) any { return v },
		"SA-L10 inside a map":      func(v *pintle.SessionView) any { return map[string]any{"row": v.Stored, "user": v.User} },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, inDatabase(memstore.New()), func(s *site) {
				s.Callbacks.Session = func(ctx context.Context, v *pintle.SessionView) (any, error) {
					s.Logger.InfoContext(ctx, "shown", "row", v.Stored, "session", v.Session)
					return show(v), nil
				}
			})
			b := s.browser()
			b.signInWith("acme")
			token := b.cookie(sessionCookie)
			body := b.get("/auth/session").want(http.StatusOK).body
			if strings.Contains(body, token) || !strings.Contains(body, `"userId":"`) {
				t.Errorf("a script of the page reads %s", body)
			}
			event := lastEvent[*pintle.SessionEvent](s, "session")
			if text := mustJSON(t, event.Session) + s.log.String(); strings.Contains(text, token) {
				t.Errorf("the event and the log have %s", text)
			}
		})
	}
}

// W-23, Q17: with database sessions, who signs in with a password gets one if
// the store has them, and none otherwise.
func TestAPasswordGivesADatabaseSessionToAStoredUser(t *testing.T) {
	store := memstore.New()
	s := newSite(t, inDatabase(store), func(s *site) {
		s.Providers = append(s.Providers, &pintle.Credentials{ID: "directory", Authorize: func(ctx context.Context, c *pintle.Submission) (*pintle.User, error) {
			user, err := store.UserByEmail(ctx, c.Text("username")+"@example.com")
			if errors.Is(err, pintle.ErrNotFound) {
				return nil, nil
			}
			return user, err
		}})
	})
	b := s.browser()
	b.signInWith("acme") // which makes Ada a stored user
	b.post("/auth/signout")
	r := b.post("/auth/callback/directory", "username", "ada").goesTo(s.url)
	if c := r.cookies()[sessionCookie]; c == nil || len(c.Value) != 43 {
		t.Errorf("the session cookie is %v, want a random token", c)
	}
	if who := b.who(); who != "Ada Lovelace" {
		t.Errorf("%s is signed in", who)
	}
	first := b.cookie(sessionCookie)
	b.post("/auth/callback/directory", "username", "ada").goesTo(s.url)
	if _, _, err := store.SessionAndUser(t.Context(), first); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("W-42 the session of before is still there: %v", err)
	}

	anonymous := s.browser()
	anonymous.post("/auth/callback/credentials", "username", "grace", "password", people["grace"].password).fails("/auth/error", "Configuration")
	if who := anonymous.who(); who != "anonymous" {
		t.Errorf("%s is signed in, whom the store does not have", who)
	}
	if !s.log.has("UnsupportedStrategy") {
		t.Error("the log does not say why")
	}
}

// W-20, Q6: an expired session counts as signed out, also for linking.
func TestAnExpiredSessionReceivesNoAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		s := newSite(t, inDatabase(store), func(s *site) {
			s.Session.MaxAge = time.Hour
			s.Providers = append(s.Providers, s.idp.OAuth2("hub"))
		})
		b := s.browser()
		b.signInWith("acme")
		held := b.cookie(sessionCookie)
		time.Sleep(time.Hour + time.Second)
		b.plant(sessionCookie, held) // which the browser has dropped
		s.eventNames()
		b.signInWith("hub").fails("/auth/signin", "OAuthAccountNotLinked")
		if events := s.eventNames(); len(events) > 0 {
			t.Errorf("there are events: %q", events)
		}
	})
}

// A native application sends the token of its session in a header.
func TestDatabaseSessionsInTheAuthorizationHeader(t *testing.T) {
	for _, allowed := range []bool{true, false} {
		s := newSite(t, inDatabase(memstore.New()), func(s *site) { s.Session.AllowBearer = allowed })
		b := s.browser()
		b.signInWith("acme")
		w, _ := ask(s.handler(), "GET", s.url+"/", nil, "Authorization", "Bearer "+b.cookie(sessionCookie))
		if signedIn := w.Body.String() == "hello, Ada Lovelace"; signedIn != allowed {
			t.Errorf("allowed %t: the page says %s", allowed, w.Body)
		}
	}
}

// The host may make the tokens, and a failure to do so is no sign-in.
func TestTheHostMayMakeTheTokens(t *testing.T) {
	fail := false
	s := newSite(t, inDatabase(memstore.New()), func(s *site) {
		s.Session.GenerateToken = func() (string, error) {
			if fail {
				return "", errBroken
			}
			return "5f0b7d6a-8f47-4b7e-9d0a-3c9d4b2f6a11", nil
		}
	})
	b := s.browser()
	b.signInWith("acme")
	if got := b.cookie(sessionCookie); got != "5f0b7d6a-8f47-4b7e-9d0a-3c9d4b2f6a11" {
		t.Errorf("the token is %q", got)
	}
	fail = true
	b = s.browser()
	b.signInWith("acme").fails("/auth/error", "Configuration")
	if who := b.who(); who != "anonymous" {
		t.Errorf("%s is signed in", who)
	}
}

// With an absolute lifetime a row may last longer than its session: after the
// lifetime was shortened, for example.
func TestARowOfAnExpiredSessionCountsAsSignedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecordingStore()
		s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase), func(s *site) { s.Session.AbsoluteMaxAge = 10 * day })
		ada := k.seedUser(t, people["ada"].user)
		held := []string{k.seedSession(t, ada, 30*day), k.seedSession(t, ada, 31*day)}
		time.Sleep(10 * day)

		b := s.browser()
		b.plant(sessionCookie, held[0])
		if who := b.who(); who != "anonymous" {
			t.Errorf("ASVS-7.3.2 %s is signed in", who)
		}
		if n := k.sessions(t, ada.ID); n != 1 {
			t.Errorf("%d rows are left, want the one that was not used", n)
		}
		s.idp.SignInAs(noAddress)
		b = s.browser()
		b.plant(sessionCookie, held[1])
		b.get(b.consent(b.leave("acme"))).goesTo(s.url)
		if is := k.owner(t, "acme", noAddress.Subject); is == nil || is.ID == ada.ID {
			t.Errorf("Q6 W-20 the account went to %+v, want a new user", is)
		}
	})
}
