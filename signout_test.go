package pintle_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

// A failingList is a revocation list that can be told to fail.
type failingList struct {
	memstore.Revocations
	fails bool
}

func (l *failingList) Revoke(ctx context.Context, s pintle.TokenSession, until time.Time) error {
	if l.fails {
		return errBroken
	}
	return l.Revocations.Revoke(ctx, s, until)
}

// SH-75, W-61: a sign-out that was not recorded is not reported as done. The cookie
// stays, so that the user can try again.
func TestSignOutThatIsNotRecordedIsAnError(t *testing.T) {
	for name, keep := range map[string]func() (site func(*site), fail func(bool)){
		"a database": func() (func(*site), func(bool)) {
			store := newBrokenStore()
			return inDatabase(store), func(fails bool) { store.fails["DeleteSession"] = fails }
		},
		"a revocation list": func() (func(*site), func(bool)) {
			list := &failingList{}
			return func(s *site) { s.Session.Revocation = list }, func(fails bool) { list.fails = fails }
		},
	} {
		t.Run(name, func(t *testing.T) {
			change, fail := keep()
			s := newSite(t, change)
			b, copied := s.browser(), s.browser()
			b.signInWith("acme")
			copied.plant(sessionCookie, b.cookie(sessionCookie))
			s.eventNames()
			fail(true)

			b.post("/auth/signout").fails("/auth/error", "SignOutError")
			script := b.postForm("/auth/signout", url.Values{"csrfToken": {b.csrf()}}, "X-Auth-Return-Redirect", "1").want(http.StatusOK)
			if want := `{"url":"` + s.url + `/auth/error?error=SignOutError"}`; script.body != want || script.clears(sessionCookie) {
				t.Errorf("a script is answered %s with the cookies %q, want %s", script.body, script.header["Set-Cookie"], want)
			}
			page := b.get("/auth/error?error=SignOutError").want(http.StatusInternalServerError)
			if !strings.Contains(page.body, "still signed in") {
				t.Errorf("the page does not say that the user is still signed in: %s", page.body)
			}

			r := httptest.NewRequest(http.MethodPost, s.url+"/logout", nil)
			r.Header.Set("Cookie", sessionCookie+"="+b.cookie(sessionCookie))
			w := httptest.NewRecorder()
			if next, err := s.auth.SignOut(w, r, pintle.SignOutOptions{RedirectTo: "/"}); next != "" || !errors.Is(err, pintle.CodeSignOut) || !errors.Is(err, errBroken) || !errors.Is(err, pintle.CodeStore) {
				t.Errorf("SignOut returns %q, %v", next, err)
			}
			if lines := w.Header()["Set-Cookie"]; len(lines) > 0 {
				t.Errorf("SignOut sets %q", lines)
			}
			if events := s.eventNames(); len(events) > 0 {
				t.Errorf("there are events: %q", events)
			}
			if !s.log.has("SignOutError") || !s.log.has("AdapterError") {
				t.Error("the log does not say that the session was not ended")
			}

			fail(false)
			if who := b.who(); who != "Ada Lovelace" {
				t.Errorf("meanwhile %s is signed in", who)
			}
			if r := b.post("/auth/signout").goesTo(s.url); !r.clears(sessionCookie) {
				t.Errorf("the second attempt sets %q", r.header["Set-Cookie"])
			}
			if who := copied.who(); who != "anonymous" {
				t.Errorf("with a copy of the cookie %s is signed in", who)
			}
		})
	}
}

// A cookie that holds no session is no failure: there is nothing to end.
func TestSignOutClearsACookieThatCannotBeRead(t *testing.T) {
	s := newSite(t, func(s *site) { s.Session.Revocation = brokenList{} })
	b := s.browser()
	b.plant(sessionCookie, "garbage")
	if r := b.post("/auth/signout").goesTo(s.url); !r.clears(sessionCookie) {
		t.Errorf("the answer sets %q", r.header["Set-Cookie"])
	}
}

// A request may carry any number of other cookies, some of which look like parts
// of the session.
func TestPlantedCookiesDoNotPreventASignOut(t *testing.T) {
	var junk strings.Builder
	for i := range 64 {
		junk.WriteString(sessionCookie + ".1" + string(rune('0'+i/10)) + string(rune('0'+i%10)) + "=junk; ")
	}
	for name, before := range map[string]string{
		"SA-L3 64 numbers that are no parts": junk.String(),
		"SA-L3 66 KB of other cookies":       "x=" + strings.Repeat("y", 66<<10) + "; ",
		"SA-L3 an orphaned part":             sessionCookie + ".7=junk; ",
	} {
		for _, strategy := range []pintle.SessionStrategy{pintle.StrategyJWT, pintle.StrategyDatabase} {
			t.Run(name+" "+string(strategy), func(t *testing.T) {
				s := newSite(t, func(s *site) {
					s.Store, s.Session.Strategy, s.Session.Revocation = memstore.New(), strategy, &memstore.Revocations{}
				})
				b := s.browser()
				b.signInWith("acme")
				token := b.cookie(sessionCookie)
				csrf := b.csrf()
				header := before + sessionCookie + "=" + token + "; " + csrfCookie + "=" + url.QueryEscape(b.cookie(csrfCookie))
				if strings.Contains(b.cookie(csrfCookie), "%") {
					header = before + sessionCookie + "=" + token + "; " + csrfCookie + "=" + b.cookie(csrfCookie)
				}
				form := strings.NewReader(url.Values{"csrfToken": {csrf}}.Encode())
				w, _ := ask(s.auth, "POST", s.url+"/auth/signout", form, "Cookie", header, "Content-Type", "application/x-www-form-urlencoded")
				if w.Code != http.StatusFound || w.Header().Get("Location") != s.url {
					t.Fatalf("status %d, Location %q", w.Code, w.Header().Get("Location"))
				}
				if line := setCookies(w.Header())[sessionCookie]; !strings.HasPrefix(line, sessionCookie+"=; Max-Age=0") {
					t.Errorf("the session cookie is set as %q", line)
				}
				if part := sessionCookie + ".7"; strings.Contains(before, part+"=") && !strings.HasPrefix(setCookies(w.Header())[part], part+"=; Max-Age=0") {
					t.Errorf("the orphaned part is not cleared: %q", w.Header()["Set-Cookie"])
				}
				if n := len(w.Header()["Set-Cookie"]); n > 40 {
					t.Errorf("%d cookies are set", n)
				}
				if who := b.who(); who != "anonymous" {
					t.Errorf("with a copy of the cookie %s is signed in", who)
				}
			})
		}
	}
}

// A part that a sibling domain plants makes the session unreadable. The
// sign-out still ends it, or reports that it could not.
func TestASignOutEndsASessionAmongPlantedParts(t *testing.T) {
	size := 5000
	signOut := func(t *testing.T, planted, behind string, changes ...func(*site)) (s *site, w *httptest.ResponseRecorder, copied *browser) {
		t.Helper()
		s = newSite(t, append(changes, func(s *site) { s.Callbacks.JWT = fill(&size, pintle.NewClaim[string]("filling")) })...)
		b := s.browser()
		b.signIn("ada")
		copied = s.browser()
		var held []string
		for _, part := range []string{".0", ".1"} {
			value := b.cookie(sessionCookie + part)
			if value == "" {
				t.Fatal("the token is in one cookie")
			}
			copied.plant(sessionCookie+part, value)
			held = append(held, sessionCookie+part+"="+value)
		}
		form := strings.NewReader(url.Values{"csrfToken": {b.csrf()}}.Encode())
		header := strings.Join([]string{planted, strings.Join(held, "; "), behind, csrfCookie + "=" + b.cookie(csrfCookie)}, "; ")
		w, _ = ask(s.auth, "POST", s.url+"/auth/signout", form, "Cookie", header, "Content-Type", "application/x-www-form-urlencoded")
		return s, w, copied
	}
	revocable := func(s *site) { s.Session.Revocation = &memstore.Revocations{} }
	const c = sessionCookie
	for name, at := range map[string][2]string{
		"SA-L3 before the first":         {c + ".0=junk", ""},
		"SA-L3 before the last":          {c + ".1=junk", ""},
		"SA-L3 behind the last":          {"", c + ".2=junk"},
		"SA-L3 an empty one":             {c + ".0=", ""},
		"SA-L3 beside a planted session": {c + "=" + sealed(t, c, claimsFor("grace")) + "; " + c + ".0=junk", ""},
		"SA-L3 several of each":          {c + ".0=1; " + c + ".0=2; " + c + ".1=3; " + c + ".1=4", c + ".2=5"},
	} {
		t.Run(name, func(t *testing.T) {
			s, w, copied := signOut(t, at[0], at[1], revocable)
			if w.Code != http.StatusFound || w.Header().Get("Location") != s.url {
				t.Errorf("status %d, Location %q", w.Code, w.Header().Get("Location"))
			}
			if who := copied.who(); who != "anonymous" {
				t.Errorf("with a copy of the cookies %s is signed in", who)
			}
			if event := lastEvent[*pintle.SignOutEvent](s, "signOut"); event.Claims["name"] != "Ada Lovelace" {
				t.Errorf("the event is of %v", event.Claims["name"])
			}
		})
	}
	var many strings.Builder
	for i := range 70 {
		many.WriteString(c + ".0=" + strconv.Itoa(i) + "; ")
	}
	t.Run("SA-L3 more than are tried", func(t *testing.T) {
		s, w, copied := signOut(t, many.String(), "", revocable)
		if to := w.Header().Get("Location"); to != s.url+"/auth/error?error=SignOutError" {
			t.Errorf("it leads to %q", to)
		}
		if level := s.log.level(t, "SignOutError"); level != "WARN" {
			t.Errorf("the record is at level %s:\n%s", level, s.log)
		}
		if copied.who() != "Ada Lovelace" {
			t.Error("the session ended, and the user is told that it did not")
		}
	})
	t.Run("SA-L3 more than are tried, where the cookies are the session", func(t *testing.T) {
		s, w, _ := signOut(t, many.String(), "")
		if to := w.Header().Get("Location"); to != s.url {
			t.Errorf("it leads to %q", to)
		}
		if line := setCookies(w.Header())[c+".1"]; !strings.HasPrefix(line, c+".1=; Max-Age=0") {
			t.Errorf("the session cookie is set as %q", line)
		}
	})
	t.Run("SA-L3 more than are tried, with database sessions", func(t *testing.T) {
		k := newRecordingStore()
		s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase))
		session := k.seedSession(t, k.seedUser(t, people["ada"].user), time.Hour)
		b := s.browser()
		form := strings.NewReader(url.Values{"csrfToken": {b.csrf()}}.Encode())
		w, _ := ask(s.auth, "POST", s.url+"/auth/signout", form, "Content-Type", "application/x-www-form-urlencoded",
			"Cookie", strings.ReplaceAll(many.String(), ".0=", "=")+c+"="+session+"; "+csrfCookie+"="+b.cookie(csrfCookie))
		if to := w.Header().Get("Location"); to != s.url+"/auth/error?error=SignOutError" {
			t.Errorf("it leads to %q", to)
		}
	})
	t.Run("SA-L3 more than are tried do not prevent a sign-in", func(t *testing.T) {
		s := newSite(t, revocable)
		b := s.browser()
		form := strings.NewReader(url.Values{"csrfToken": {b.csrf()}, "username": {"ada"}, "password": {people["ada"].password}}.Encode())
		w, _ := ask(s.auth, "POST", s.url+"/auth/callback/credentials", form, "Content-Type", "application/x-www-form-urlencoded",
			"Cookie", many.String()+csrfCookie+"="+b.cookie(csrfCookie))
		if w.Header().Get("Location") != s.url || setCookies(w.Header())[c] == "" {
			t.Errorf("status %d, %v", w.Code, w.Header())
		}
	})
}

// The parts of a session that lead to nothing are cleared where Auth.js clears
// them.
func TestOrphanedPartsAreCleared(t *testing.T) {
	for _, strategy := range []pintle.SessionStrategy{pintle.StrategyJWT, pintle.StrategyDatabase} {
		t.Run(string(strategy), func(t *testing.T) {
			s := newSite(t, func(s *site) { s.Store, s.Session.Strategy = memstore.New(), strategy })
			for route, do := range map[string]func(*browser) *reply{
				"the session route": func(b *browser) *reply { return b.get("/auth/session").want(http.StatusOK) },
				"a sign-out":        func(b *browser) *reply { return b.post("/auth/signout").goesTo(s.url) },
				"a sign-in":         func(b *browser) *reply { return b.signInWith("acme") },
			} {
				b := s.browser()
				b.plant(sessionCookie+".1", "orphan")
				b.plant(sessionCookie+".40", "orphan")
				if r := do(b); !r.clears(sessionCookie+".1") || !r.clears(sessionCookie+".40") {
					t.Errorf("%s sets %q", route, r.header["Set-Cookie"])
				}
			}
		})
	}
}

// SH-41, ASVS-7.2.4: if token sessions can be revoked, a sign-in ends the one
// that the browser held, of whichever user.
func TestSignInEndsTheTokenSessionBefore(t *testing.T) {
	for _, next := range []string{"ada", "grace"} {
		t.Run("SA-L9 "+next+" signs in after ada", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, func(s *site) { s.Session.Revocation = &memstore.Revocations{} })
				b, copied, elsewhere := s.browser(), s.browser(), s.browser()
				b.signIn("ada")
				elsewhere.signIn("ada")
				copied.plant(sessionCookie, b.cookie(sessionCookie))
				b.signIn(next)
				if who := copied.who(); who != "anonymous" {
					t.Errorf("with the token of before %s is signed in", who)
				}
				if who := b.who(); who != people[next].user.Name {
					t.Errorf("%s is signed in", who)
				}
				if who := elsewhere.who(); who != "Ada Lovelace" {
					t.Errorf("in another browser %s is signed in", who)
				}
			})
		})
	}
	t.Run("SA-L9 where the callback wants no session", func(t *testing.T) {
		none := false
		s := newSite(t, func(s *site) {
			s.Session.Revocation = &memstore.Revocations{}
			s.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
				if none {
					return nil, nil
				}
				return c.Claims, nil
			}
		})
		b, copied := s.browser(), s.browser()
		b.signIn("ada")
		copied.plant(sessionCookie, b.cookie(sessionCookie))
		none = true
		b.post("/auth/callback/credentials", "username", "grace", "password", people["grace"].password).goesTo(s.url)
		none = false
		if who := copied.who(); who != "anonymous" {
			t.Errorf("with the token of before %s is signed in", who)
		}
	})
	t.Run("SA-L9 not when the list does not answer", func(t *testing.T) {
		list := &failingList{}
		s := newSite(t, func(s *site) { s.Session.Revocation = list })
		b := s.browser()
		b.signIn("ada")
		list.fails = true
		b.post("/auth/callback/credentials", "username", "grace", "password", people["grace"].password).fails("/auth/error", "Configuration")
		list.fails = false
		if who := b.who(); who != "Ada Lovelace" {
			t.Errorf("%s is signed in", who)
		}
	})
}

// A planted cookie in front of the session does not keep a sign-in from ending what
// it ends without one.
func TestASignInEndsTheSessionsBehindPlantedCookies(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*site)
		signIn func(b *browser) (method, target string, form url.Values)
	}{
		"SA-L9 a password": {func(*site) {}, func(b *browser) (string, string, url.Values) {
			return "POST", "/auth/callback/credentials", url.Values{"csrfToken": {b.csrf()}, "username": {"ada"}, "password": {people["ada"].password}}
		}},
		"SA-L9 a mail link": {func(*site) {}, func(b *browser) (string, string, url.Values) {
			return "GET", mustParse(b.t, b.mailTo("grace@example.com").URL).RequestURI(), nil
		}},
		"SA-L9 a provider, where sessions rotate": {func(s *site) { s.Session.RotateAtSignIn = true }, func(b *browser) (string, string, url.Values) {
			return "GET", mustParse(b.t, b.consent(b.leave("acme"))).RequestURI(), nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			k := newRecordingStore()
			s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase), tt.change, func(s *site) {
				s.Providers = append(s.Providers, s.mailProvider())
				s.idp.SignInAs(adaElsewhere)
			})
			ada := k.seedUser(t, people["ada"].user)
			k.seedAccount(t, ada, "acme", adaElsewhere.Subject)
			grace := people["grace"].user
			grace.EmailVerified = time.Now()
			k.seedUser(t, grace)
			held := k.seedSession(t, ada, time.Hour)
			planted := k.seedSession(t, k.seedUser(t, pintle.User{Name: "Mallory"}), time.Hour)
			b := s.browser()
			method, target, form := tt.signIn(b)
			pairs := []string{sessionCookie + "=" + planted, sessionCookie + "=" + held}
			for _, c := range b.client.Jar.Cookies(b.address()) {
				pairs = append(pairs, c.Name+"="+c.Value)
			}
			w, _ := ask(s.auth, method, s.url+target, strings.NewReader(form.Encode()), "Content-Type", "application/x-www-form-urlencoded", "Cookie", strings.Join(pairs, "; "))
			if w.Code != http.StatusFound || setCookies(w.Header())[sessionCookie] == "" {
				t.Fatalf("status %d, %v", w.Code, w.Header())
			}
			for whose, session := range map[string]string{"the user": held, "the attacker": planted} {
				if _, _, err := k.Store.SessionAndUser(t.Context(), session); !errors.Is(err, pintle.ErrNotFound) {
					t.Errorf("the session of %s that the request carried goes on: %v", whose, err)
				}
			}
		})
	}
}

// A database session is found in the numbered part even if a planted cookie in
// front of it holds no session.
func TestASessionBehindAPlantedCookieIsRotated(t *testing.T) {
	s := newSite(t, inDatabase(memstore.New()), func(s *site) { s.Session.RotateAtSignIn = true })
	b, thief := s.browser(), s.browser()
	b.signInWith("acme")
	held := b.cookie(sessionCookie)
	thief.plant(sessionCookie, held)
	back := b.consent(b.leave("acme"))
	b.plant(sessionCookie, "junk")
	b.plant(sessionCookie+".0", held)
	if b.who() != "Ada Lovelace" {
		t.Fatal("the session is not found")
	}
	b.get(back).goesTo(s.url)
	if who := thief.who(); who != "anonymous" {
		t.Errorf("SA-L9 with the old token %s is signed in", who)
	}
	if who := b.who(); who != "Ada Lovelace" {
		t.Errorf("SA-L9 with the new one %s is signed in", who)
	}
}
