package pintle_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

const day = 24 * time.Hour

// S-14, S-15: middleware renews a token at most once per UpdateAge, and the
// session route at every read, as its clients expect.
func TestATokenIsRenewedWhenThatIsDue(t *testing.T) {
	tests := []struct {
		name  string
		path  string
		age   time.Duration // Session.UpdateAge
		after []time.Duration
		renew []bool
	}{
		{"by a page, once a day", "/", 0, []time.Duration{0, day - time.Second, time.Second, 0, day - time.Second, time.Second}, []bool{false, false, true, false, false, true}},
		{"by a page, once an hour", "/", time.Hour, []time.Duration{time.Hour - time.Second, time.Second, time.Minute}, []bool{false, true, false}},
		{"by a page, always", "/", -1, []time.Duration{0, 0, time.Hour}, []bool{true, true, true}},
		{"by a guarded page, once a day", "/members", 0, []time.Duration{0, day, 0}, []bool{false, true, false}},
		{"by the session route, always", "/auth/session", 0, []time.Duration{0, 0, time.Hour}, []bool{true, true, true}},
		{"by other routes, never", "/auth/signin", -1, []time.Duration{0, day, 20 * day}, []bool{false, false, false}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, func(s *site) { s.Session.UpdateAge = tt.age })
				b := s.browser()
				b.signIn("ada")
				for i, wait := range tt.after {
					time.Sleep(wait)
					before := b.cookie(sessionCookie)
					r := b.get(tt.path).want(http.StatusOK)
					c := r.cookies()[sessionCookie]
					if renewed := c != nil; renewed != tt.renew[i] {
						t.Fatalf("request %d renews the token: %t, want %t", i+1, renewed, tt.renew[i])
					}
					if c == nil {
						continue
					}
					if want := time.Now().Add(30 * day).Truncate(time.Second).UTC(); !c.Expires.Equal(want) {
						t.Errorf("request %d lets the cookie expire at %v, want %v", i+1, c.Expires, want)
					}
					if before == c.Value {
						t.Errorf("request %d sends the token of before", i+1)
					}
					if tt.path != "/auth/session" && r.header.Get("Cache-Control") != "private" {
						t.Errorf("CK-9 a page with a new cookie may be cached: %q", r.header.Get("Cache-Control"))
					}
				}
			})
		})
	}
}

// ASVS-7.3.1, ASVS-9.2.1: an unused session ends, with 15 seconds for clocks
// that differ.
func TestAnUnusedSessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, func(s *site) { s.Session.MaxAge = time.Hour })
		token := signedInCookie(t, s.auth)
		for _, tt := range []struct {
			wait time.Duration
			who  string
		}{{time.Hour, "Ada Lovelace"}, {14 * time.Second, "Ada Lovelace"}, {time.Second, "anonymous"}, {day, "anonymous"}} {
			time.Sleep(tt.wait)
			w, _ := ask(s.handler(), "GET", s.url+"/", nil, "Cookie", sessionCookie+"="+token)
			if got := strings.TrimPrefix(w.Body.String(), "hello, "); got != tt.who {
				t.Errorf("%v later %s is signed in, want %s", tt.wait, got, tt.who)
			}
			if len(w.Header()["Set-Cookie"]) > 0 && tt.who == "anonymous" {
				t.Errorf("a page clears a cookie it cannot read: %q", w.Header()["Set-Cookie"])
			}
		}
		w, _ := ask(s.auth, "GET", s.url+"/auth/session", nil, "Cookie", sessionCookie+"="+token)
		if w.Body.String() != "null" || !strings.HasPrefix(setCookies(w.Header())[sessionCookie], sessionCookie+"=; Max-Age=0") {
			t.Errorf("the session route answers %s with cookies %q", w.Body, w.Header()["Set-Cookie"])
		}
	})
}

// ASVS-7.3.2: a session in daily use still ends at the time that the host sets.
func TestASessionEndsHoweverMuchItIsUsed(t *testing.T) {
	callback := func(_ context.Context, change *pintle.TokenChange) (pintle.Claims, error) { return change.Claims, nil }
	for _, tt := range []struct {
		name     string
		strategy pintle.SessionStrategy
		callback func(context.Context, *pintle.TokenChange) (pintle.Claims, error)
	}{{"jwt", pintle.StrategyJWT, nil}, {"jwt with a callback", pintle.StrategyJWT, callback}, {"database", pintle.StrategyDatabase, nil}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, func(s *site) {
					s.Session.AbsoluteMaxAge, s.Session.Strategy = 90*day, tt.strategy
					s.Callbacks.JWT = tt.callback
					s.Store = memstore.New()
				})
				b := s.browser()
				b.signInWith("acme")
				for i := range 90 {
					if who := b.who(); who != "Ada Lovelace" {
						t.Fatalf("on day %d %s is signed in", i, who)
					}
					if expires := b.session()["expires"].(string); i > 62 && expires[:10] != time.Now().Add(time.Duration(90-i)*day).UTC().Format(time.DateOnly) {
						t.Errorf("on day %d the session says that it ends at %s", i, expires)
					}
					// Servers that share the cookie see the end in the token.
					if i > 62 && tt.strategy == pintle.StrategyJWT {
						exp := unsealed(t, sessionCookie, b.cookie(sessionCookie))["exp"].(float64)
						if left := time.Until(time.Unix(int64(exp), 0)).Round(time.Hour); left != time.Duration(90-i)*day {
							t.Errorf("on day %d the token is good for %v more", i, left)
						}
					}
					time.Sleep(day)
				}
				if who := b.who(); who != "anonymous" {
					t.Errorf("after 90 days %s is signed in", who)
				}
			})
		})
	}
}

func TestCallbacksMakeTheToken(t *testing.T) {
	type call struct {
		trigger pintle.Trigger
		user    bool
		claims  string
		session any
	}
	var calls []call
	s := newSite(t, func(s *site) {
		s.Callbacks.JWT = func(_ context.Context, change *pintle.TokenChange) (pintle.Claims, error) {
			var names []string
			for name := range change.Claims {
				names = append(names, name)
			}
			slices.Sort(names)
			calls = append(calls, call{change.Trigger, change.User != nil && change.Account != nil, strings.Join(names, " "), change.Update})
			change.Claims["role"] = "captain"
			if update, ok := change.Update.(map[string]any); ok {
				change.Claims["nickname"] = update["nickname"]
			}
			return change.Claims, nil
		}
	})
	b := s.browser()
	b.signIn("ada")
	b.get("/auth/session")
	b.postJSON("/auth/session", map[string]any{"csrfToken": b.csrf(), "data": map[string]any{"nickname": "Countess", "role": "admiral"}}).want(http.StatusOK)
	b.get("/")
	want := []call{
		{pintle.TriggerSignIn, true, "email name sub", nil},
		{"", false, "email exp iat jti name role sub", nil},
		{pintle.TriggerUpdate, false, "email exp iat jti name role sub", map[string]any{"nickname": "Countess", "role": "admiral"}},
		{"", false, "email exp iat jti name nickname role sub", nil},
	}
	for i := range want {
		if i >= len(calls) {
			t.Fatalf("there are %d calls, want %d", len(calls), len(want))
		}
		got, wanted := mustJSON(t, calls[i].session), mustJSON(t, want[i].session)
		if calls[i].trigger != want[i].trigger || calls[i].user != want[i].user || calls[i].claims != want[i].claims || got != wanted {
			t.Errorf("call %d is %+v, want %+v", i+1, calls[i], want[i])
		}
	}
	claims := unsealed(t, sessionCookie, b.cookie(sessionCookie))
	if claims["role"] != "captain" || claims["nickname"] != "Countess" {
		t.Errorf("the token holds %v", claims)
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestATokenCallbackEndsASession(t *testing.T) {
	end := false
	s := newSite(t, func(s *site) {
		s.Callbacks.JWT = func(_ context.Context, change *pintle.TokenChange) (pintle.Claims, error) {
			if end {
				return nil, nil
			}
			return change.Claims, nil
		}
	})
	b := s.browser()
	b.signIn("ada")
	end = true
	if who := b.who(); who != "anonymous" {
		t.Errorf("on a page %s is signed in", who)
	}
	b.get("/members").want(http.StatusFound)
	if r := b.get("/auth/session").want(http.StatusOK); r.body != "null" || !r.clears(sessionCookie) {
		t.Errorf("the session route answers %s with cookies %q", r.body, r.header["Set-Cookie"])
	}
	// At a sign-in the callback rejects the new user, and the session before
	// ends too.
	b.plantSession("grace")
	r := b.post("/auth/callback/credentials", "username", "ada", "password", people["ada"].password).goesTo(s.url)
	if !r.clears(sessionCookie) {
		t.Errorf("the sign-in sets %q", r.header["Set-Cookie"])
	}
}

// W-24: a callback that fails is the application's fault. On its own pages the
// cookie stays, and server code gets an error.
func TestAFailingCallbackIsNoSession(t *testing.T) {
	for name, change := range map[string]func(*site, *bool){
		"of the token": func(s *site, broken *bool) {
			s.Callbacks.JWT = func(_ context.Context, change *pintle.TokenChange) (pintle.Claims, error) {
				if *broken {
					return nil, errBroken
				}
				return change.Claims, nil
			}
		},
		"of the session": func(s *site, broken *bool) {
			s.Callbacks.Session = func(_ context.Context, v *pintle.SessionView) (any, error) {
				if *broken {
					return nil, errBroken
				}
				return v.Session, nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			broken := false
			s := newSite(t, func(s *site) { change(s, &broken) })
			b := s.browser()
			b.signIn("ada")
			held := b.cookie(sessionCookie)
			broken = true
			if who := b.who(); who != "anonymous" {
				t.Errorf("on a page %s is signed in", who)
			}
			b.get("/members").want(http.StatusFound)
			if b.cookie(sessionCookie) != held {
				t.Error("a page changes the cookie")
			}
			if !strings.Contains(s.log.String(), errBroken.Error()) {
				t.Error("the log does not say why")
			}
			r := httptest.NewRequest("GET", s.url+"/", nil)
			r.Header.Set("Cookie", sessionCookie+"="+held)
			if session, err := s.auth.Session(r); session != nil || !errors.Is(err, errBroken) {
				t.Errorf("Session returns %v, %v; want the error", session, err)
			}
			if r := b.get("/auth/session").want(http.StatusOK); r.body != "null" {
				t.Errorf("the session route answers %s", r.body)
			}
			broken = false
			b.plant(sessionCookie, held)
			if who := b.who(); who != "Ada Lovelace" {
				t.Errorf("repaired, %s is signed in", who)
			}
		})
	}
}

// W-39, ASVS-10.1.1: what a browser is shown is little unless the host shows more.
func TestTheHostDecidesWhatABrowserIsShown(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	b.signIn("ada")
	if r := b.get("/auth/session"); !strings.HasPrefix(r.body, `{"user":{"name":"Ada Lovelace","email":"ada@example.com"},"expires":"`) {
		t.Errorf("by default a browser is shown %s", r.body)
	}

	s = newSite(t, func(s *site) {
		s.Callbacks.Session = func(_ context.Context, v *pintle.SessionView) (any, error) {
			return map[string]any{"id": v.Claims["sub"], "same": v.Session.User.ID == v.Claims["sub"], "stored": v.Stored != nil}, nil
		}
	})
	b = s.browser()
	b.signIn("ada")
	if r := b.get("/auth/session"); r.body != `{"id":"user-ada","same":true,"stored":false}` {
		t.Errorf("with a callback a browser is shown %s", r.body)
	}
	if e := lastEvent[*pintle.SessionEvent](s, "session"); mustJSON(t, e.Session) != `{"id":"user-ada","same":true,"stored":false}` || e.Claims["sub"] != "user-ada" {
		t.Errorf("the event has %v", e)
	}
	if who := b.who(); who != "Ada Lovelace" {
		t.Errorf("on a page %s is signed in", who)
	}
}

var (
	role   = pintle.NewClaim[string]("role")
	visits = pintle.NewClaim[int]("visits")
)

// counting is an application that keeps data with the session.
func counting(auth *pintle.Auth) http.Handler {
	return auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session := pintle.SessionFrom(r.Context())
		n, _ := visits.Get(session)
		if session != nil {
			visits.Set(session, n+1)
		}
		after, err := auth.UpdateSession(w, r, nil)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		n, known := visits.Get(after)
		again, _ := visits.Get(session)
		_, _ = w.Write([]byte(mustMarshal(map[string]any{"known": known, "n": n, "again": again})))
	}))
}

func mustMarshal(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestServerCodeKeepsDataWithTheSession(t *testing.T) {
	for _, strategy := range []pintle.SessionStrategy{pintle.StrategyJWT, pintle.StrategyDatabase} {
		t.Run(string(strategy), func(t *testing.T) {
			s := newSite(t, func(s *site) { s.Session.Strategy, s.Store = strategy, memstore.New() })
			s.net["localhost:3000"] = mountedAt(s, "/count", counting(s.auth))
			b := s.browser()
			if r := b.get("/count"); r.body != `{"again":0,"known":false,"n":0}` || len(r.header["Set-Cookie"]) > 0 {
				t.Errorf("for an anonymous request the page says %s and sets %q", r.body, r.header["Set-Cookie"])
			}
			b.signInWith("acme")
			for i, want := range []string{`{"again":1,"known":true,"n":1}`, `{"again":2,"known":true,"n":2}`, `{"again":3,"known":true,"n":3}`} {
				r := b.get("/count").want(http.StatusOK)
				if r.body != want {
					t.Errorf("visit %d: the page says %s, want %s", i+1, r.body, want)
				}
				if n := len(r.header["Set-Cookie"]); n != 1 {
					t.Errorf("visit %d sets %d cookies: %q", i+1, n, r.header["Set-Cookie"])
				}
			}
			if who := b.who(); who != "Ada Lovelace" {
				t.Errorf("%s is signed in", who)
			}
		})
	}
}

// mountedAt is the application with one more page.
func mountedAt(s *site, path string, h http.Handler) http.Handler {
	rest := s.handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			h.ServeHTTP(w, r)
			return
		}
		rest.ServeHTTP(w, r)
	})
}

// AC-14
func TestClaimsAreReadByTheirType(t *testing.T) {
	type place struct{ Room, Floor int }
	where := pintle.NewClaim[place]("where")
	s := newSite(t, func(s *site) {
		s.Callbacks.JWT = func(_ context.Context, change *pintle.TokenChange) (pintle.Claims, error) {
			role.Put(change.Claims, "captain")
			where.Put(change.Claims, place{7, 2})
			return change.Claims, nil
		}
	})
	r := httptest.NewRequest("GET", s.url+"/", nil)
	r.Header.Set("Cookie", sessionCookie+"="+signedInCookie(t, s.auth))
	session, err := s.auth.Session(r)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := role.Get(session); got != "captain" || !ok {
		t.Errorf("the role is %q, %t", got, ok)
	}
	if got, ok := where.Get(session); got != (place{7, 2}) || !ok {
		t.Errorf("the place is %v, %t", got, ok)
	}
	if got, ok := pintle.NewClaim[int]("role").Get(session); got != 0 || ok {
		t.Errorf("the role as a number is %d, %t", got, ok)
	}
	if _, ok := visits.Get(session); ok {
		t.Error("there is a number of visits")
	}
	role.Set(session, "cook")
	if got, _ := role.Get(session); got != "cook" {
		t.Errorf("after Set the role is %q", got)
	}
	if _, ok := role.Get(nil); ok {
		t.Error("a nil session has a role")
	}
	for _, name := range []string{"", "sub", "exp", "iat", "nbf", "jti", "iss", "aud", "auth_time", "started", "sid", "amr", "auth_provider", "acr", "act", "proofs", "roles"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("NewClaim(%q) returns", name)
				}
			}()
			pintle.NewClaim[string](name)
		}()
	}
}

// A token format of the host's own is used for everything, under the cookie's name.
func TestTheHostMayHaveAFormatOfItsOwn(t *testing.T) {
	kept := map[string]pintle.Claims{}
	s := newSite(t, func(s *site) {
		s.JWT.MaxAge = time.Hour
		s.JWT.Encode = func(_ context.Context, claims pintle.Claims, salt string, maxAge time.Duration) (string, error) {
			if salt != sessionCookie || maxAge != time.Hour {
				t.Errorf("Encode is called for %s and %v", salt, maxAge)
			}
			kept["ticket"] = claims
			return "ticket", nil
		}
		s.JWT.Decode = func(_ context.Context, token, _ string) (pintle.Claims, error) {
			if claims := kept[token]; claims != nil {
				return claims, nil
			}
			return nil, errors.New("no such ticket")
		}
	})
	b := s.browser()
	b.signIn("ada")
	if got := b.cookie(sessionCookie); got != "ticket" {
		t.Fatalf("the cookie holds %q", got)
	}
	if who := b.who(); who != "Ada Lovelace" {
		t.Errorf("%s is signed in", who)
	}
	if user := b.session()["user"].(map[string]any); user["name"] != "Ada Lovelace" {
		t.Errorf("the session is of %v", user)
	}
	b.plant(sessionCookie, "forged")
	if who := b.who(); who != "anonymous" {
		t.Errorf("with a forged ticket %s is signed in", who)
	}
}

// SH-86, ASVS-7.4.1, ASVS-7.4.5, W-40: with a list of what was ended, a copy of
// a cookie is worth nothing after a sign-out.
func TestEndedTokenSessionsStayEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, func(s *site) { s.Session.Revocation = new(memstore.Revocations) })
		b, thief, elsewhere := s.browser(), s.browser(), s.browser()
		b.signIn("ada")
		elsewhere.signIn("ada")
		thief.plant(sessionCookie, b.cookie(sessionCookie))
		time.Sleep(25 * time.Hour)
		if who := b.who(); who != "Ada Lovelace" { // which renews the token
			t.Fatalf("%s is signed in", who)
		}
		b.post("/auth/signout")
		if who := thief.who(); who != "anonymous" {
			t.Errorf("with a copy from before the renewal %s is signed in", who)
		}
		if who := elsewhere.who(); who != "Ada Lovelace" {
			t.Errorf("in another browser %s is signed in", who)
		}
		if err := s.auth.SignOutEverywhere(t.Context(), "user-ada"); err != nil {
			t.Fatal(err)
		}
		if who := elsewhere.who(); who != "anonymous" {
			t.Errorf("after signing out everywhere %s is signed in", who)
		}
		time.Sleep(time.Second)
		b.signIn("ada")
		if who := b.who(); who != "Ada Lovelace" {
			t.Errorf("after signing in again %s is signed in", who)
		}
	})
}

// A token is taken for 15 seconds after its end, and what ended it is remembered
// for as long.
func TestAnEndedTokenIsRememberedUntilItExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := new(memstore.Revocations)
		s := newSite(t, func(s *site) { s.Session.Revocation = list })
		b, thief, other := s.browser(), s.browser(), s.browser()
		b.signIn("ada")
		held := b.cookie(sessionCookie)
		other.signIn("ada")
		kept := other.cookie(sessionCookie)
		b.post("/auth/signout")
		time.Sleep(30*day + 14*time.Second)
		if _, err := list.Sweep(t.Context(), time.Now(), 100); err != nil {
			t.Fatal(err)
		}
		thief.plant(sessionCookie, kept)
		if who := thief.who(); who != "Ada Lovelace" {
			t.Fatalf("with a token that was not ended %s is signed in", who)
		}
		thief.plant(sessionCookie, held)
		if who := thief.who(); who != "anonymous" {
			t.Errorf("with a token that was ended %s is signed in", who)
		}
	})
}

// SH-04: a session that cannot be checked is not used.
func TestARevocationListThatFailsLetsNoRequestPass(t *testing.T) {
	s := newSite(t, func(s *site) { s.Session.Revocation = brokenList{} })
	b := s.browser()
	b.plantSession("ada")
	if who := b.who(); who != "anonymous" {
		t.Errorf("%s is signed in", who)
	}
	b.get("/members").want(http.StatusServiceUnavailable)
	r := httptest.NewRequest("GET", s.url+"/", nil)
	r.Header.Set("Cookie", sessionCookie+"="+b.cookie(sessionCookie))
	if session, err := s.auth.Session(r); session != nil || !errors.Is(err, errBroken) {
		t.Errorf("Session returns %v, %v", session, err)
	}
	// The browser keeps its cookie, and the session goes on after the outage.
	if answer := b.get("/auth/session").want(http.StatusOK); answer.body != "null" || answer.cookies()[sessionCookie] != nil {
		t.Errorf("the session route answers %s and sets %+v", answer.body, answer.cookies())
	}
}

type brokenList struct{}

func (brokenList) Revoked(context.Context, pintle.TokenSession) (bool, error) {
	return false, errBroken
}
func (brokenList) Revoke(context.Context, pintle.TokenSession, time.Time) error { return errBroken }
func (brokenList) RevokeUser(context.Context, string, time.Time) error          { return errBroken }

// A browser that holds an ended session is signed out: an account that signs in
// there is not linked to the user of that session.
func TestAnEndedTokenSessionReceivesNoAccount(t *testing.T) {
	for name, ended := range map[string]bool{"signed out elsewhere": true, "still signed in": false} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, inDatabase(memstore.New()), func(s *site) {
				s.Session.Strategy, s.Session.Revocation = pintle.StrategyJWT, new(memstore.Revocations)
				s.Providers = append(s.Providers, s.idp.OAuth2("hub"))
			})
			b := s.browser()
			b.signInWith("acme")
			held := b.cookie(sessionCookie)
			if ended {
				b.post("/auth/signout")
				b.plant(sessionCookie, held)
			}
			s.eventNames()
			landed := b.signInWith("hub")
			if ended {
				landed.fails("/auth/signin", "OAuthAccountNotLinked")
			}
			if linked := slices.Contains(s.eventNames(), "linkAccount"); linked == ended {
				t.Errorf("the account is linked: %t", linked)
			}
		})
	}
}

// SH-41, SH-47, SH-76, ASVS-7.2.4: a session from before a sign-in is not the
// session after it.
func TestASessionThatWasPlantedDoesNotBecomeTheUsers(t *testing.T) {
	s := newSite(t)
	for _, planted := range []string{"chosen-by-an-attacker", sealed(t, sessionCookie, claimsFor("grace"))} {
		b := s.browser()
		b.plant(sessionCookie, planted)
		b.signIn("ada")
		if b.cookie(sessionCookie) == planted {
			t.Error("the cookie is the planted one still")
		}
		thief := s.browser()
		thief.plant(sessionCookie, planted)
		if who := thief.who(); who == "Ada Lovelace" {
			t.Error("the planted session is Ada's")
		}
	}
}

// A native application sends its session in a header, where the host allows it.
func TestSessionsInTheAuthorizationHeader(t *testing.T) {
	for _, tt := range []struct {
		name    string
		allowed bool
		header  string
		who     string
	}{
		{"where it is allowed", true, "Bearer ", "Ada Lovelace"},
		{"where it is not", false, "Bearer ", "anonymous"},
		{"under another scheme", true, "Basic ", "anonymous"},
		{"SH-02 with a broken escape", true, "Bearer %", "anonymous"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, func(s *site) { s.Session.AllowBearer = tt.allowed })
			token := sealed(t, sessionCookie, claimsFor("ada"))
			w, _ := ask(s.handler(), "GET", s.url+"/", nil, "Authorization", tt.header+token)
			if got := strings.TrimPrefix(w.Body.String(), "hello, "); got != tt.who {
				t.Errorf("%s is signed in, want %s", got, tt.who)
			}
			if set := w.Header()["Set-Cookie"]; len(set) > 0 {
				t.Errorf("the answer sets cookies: %q", set)
			}
			w, _ = ask(s.auth, "GET", s.url+"/auth/session", nil, "Authorization", tt.header+token)
			if w.Body.String() != "null" {
				t.Errorf("the session route answers %s", w.Body)
			}
		})
	}
}

// SA-M8: a session cookie that is not valid hides the Authorization header, so that
// one request has one user for every reader. A sign-out goes by the cookie, too.
func TestACookieThatIsNotValidHidesTheBearerToken(t *testing.T) {
	for _, custom := range []bool{false, true} {
		s := newSite(t, func(s *site) {
			s.Session.AllowBearer, s.Session.Revocation = true, &memstore.Revocations{}
			if custom {
				s.JWT.Encode, s.JWT.Decode = plainFormat(sessionCookie)
			}
		})
		b := s.browser()
		b.signIn("ada")
		token := mustUnescape(t, b.cookie(sessionCookie))
		if custom {
			token = b.cookie(sessionCookie)
		}
		w, _ := ask(s.handler(), "GET", s.url+"/", nil, "Authorization", "Bearer "+token)
		if got := w.Body.String(); got != "hello, Ada Lovelace" {
			t.Fatalf("custom format %t: without a cookie the page says %s", custom, got)
		}
		w, _ = ask(s.handler(), "GET", s.url+"/", nil, "Authorization", "Bearer "+token, "Cookie", sessionCookie+"=dead")
		if got := w.Body.String(); got != "hello, anonymous" {
			t.Errorf("SA-M8 custom format %t: beside a dead cookie the page says %s", custom, got)
		}
		r := httptest.NewRequest(http.MethodPost, s.url+"/logout", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Cookie", sessionCookie+"=dead")
		if _, err := s.auth.SignOut(httptest.NewRecorder(), r, pintle.SignOutOptions{RedirectTo: "/"}); err != nil {
			t.Fatal(err)
		}
		if b.who() != "Ada Lovelace" {
			t.Errorf("SA-M8 custom format %t: a sign-out beside a dead cookie ended the session of the header", custom)
		}
	}
}
