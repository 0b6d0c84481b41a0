package pintle_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/token"
)

// sendCookies asks the site with a Cookie header of the test's own.
func (s *site) sendCookies(method, path, header string) *httptest.ResponseRecorder {
	s.t.Helper()
	w, _ := ask(s.handler(), method, s.url+path, nil, "Cookie", header)
	return w
}

// W-60: a site on a sibling domain can plant cookies beside the user's. All readers
// give one answer, which is never the session of the attacker while the user has
// one.
func TestPlantedSessionCookies(t *testing.T) {
	for _, custom := range []bool{false, true} {
		name := "our format"
		if custom {
			name = "a format of the host"
		}
		t.Run(name, func(t *testing.T) {
			s := newSite(t, func(s *site) {
				if custom {
					s.JWT.Encode, s.JWT.Decode = plainFormat(sessionCookie)
				}
			})
			ada, mallory := sealed(t, sessionCookie, claimsFor("ada")), sealed(t, sessionCookie, claimsFor("grace"))
			if custom {
				ada, mallory = encodePlain(claimsFor("ada")), encodePlain(claimsFor("grace"))
			}
			half := len(ada) / 2
			const c = sessionCookie
			for _, tt := range []struct{ name, header, who string }{
				{"SA-M8 a planted part that is junk", c + ".0=junk; " + c + "=" + ada, "Ada Lovelace"},
				{"SA-M8 a planted part of another user", c + ".0=" + mallory + "; " + c + "=" + ada, "anonymous"},
				{"SA-M8 a planted part after the cookie", c + "=" + ada + "; " + c + ".0=" + mallory, "anonymous"},
				{"SA-M8 a planted cookie beside the parts", c + "=" + mallory + "; " + c + ".0=" + ada[:half] + "; " + c + ".1=" + ada[half:], "anonymous"},
				{"SA-M8 the name twice, of two users", c + "=" + mallory + "; " + c + "=" + ada, "anonymous"},
				{"SA-M8 the name twice, of two users, the other way round", c + "=" + ada + "; " + c + "=" + mallory, "anonymous"},
				{"SA-M8 the name twice, of one user", c + "=" + ada + "; " + c + "=" + ada, "Ada Lovelace"},
				{"SA-M8 the cookie before junk of the name", c + "=" + ada + "; " + c + "=junk", "Ada Lovelace"},
				{"left-over junk beside the parts", c + "=junk; " + c + ".0=" + ada[:half] + "; " + c + ".1=" + ada[half:], "Ada Lovelace"},
			} {
				t.Run(tt.name, func(t *testing.T) {
					page := s.sendCookies("GET", "/", tt.header)
					if got := strings.TrimPrefix(page.Body.String(), "hello, "); got != tt.who {
						t.Errorf("on a page %s is signed in, want %s", got, tt.who)
					}
					route := s.sendCookies("GET", "/auth/session", tt.header)
					if signedIn := route.Body.String() != "null"; signedIn != (tt.who != "anonymous") || signedIn && !strings.Contains(route.Body.String(), tt.who) {
						t.Errorf("the session route answers %s", route.Body)
					}
					r := httptest.NewRequest("GET", s.url+"/", nil)
					r.Header.Set("Cookie", tt.header)
					if session, err := s.auth.Session(r); err != nil || (session != nil) != (tt.who != "anonymous") {
						t.Errorf("Session returns %v, %v", session, err)
					}
					if !custom {
						codec, err := token.New(c, secret)
						if err != nil {
							t.Fatal(err)
						}
						if tok, err := codec.FromRequest(r); tok.Name() != strings.Replace(tt.who, "anonymous", "", 1) {
							t.Errorf("package token reads %v, %v", tok, err)
						}
					}
					if tt.who == "anonymous" {
						if lines := route.Header()["Set-Cookie"]; strings.Contains(strings.Join(lines, " "), sessionCookie) {
							t.Errorf("clearing the user's cookie leaves the planted one: %q", lines)
						}
						if !strings.Contains(s.log.String(), `"level":"WARN"`) || !strings.Contains(s.log.String(), "__Host-") {
							t.Errorf("the log does not warn: %s", s.log)
						}
					}
				})
			}
		})
	}
}

// plainFormat is a token format of the host's: JSON under no seal.
func plainFormat(salt string) (encode func(context.Context, pintle.Claims, string, time.Duration) (string, error), decode func(context.Context, string, string) (pintle.Claims, error)) {
	encode = func(_ context.Context, claims pintle.Claims, given string, _ time.Duration) (string, error) {
		if given != salt {
			return "", errors.New("another salt: " + given)
		}
		return encodePlain(claims), nil
	}
	decode = func(_ context.Context, text, _ string) (pintle.Claims, error) {
		var claims pintle.Claims
		return claims, json.Unmarshal([]byte(text), &claims)
	}
	return encode, decode
}

func encodePlain(claims map[string]any) string {
	text, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// With database sessions the same rules hold.
func TestPlantedDatabaseSessions(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase))
	adas, mallorys := k.seedUser(t, people["ada"].user), k.seedUser(t, people["grace"].user)
	ada, mallory, again := k.seedSession(t, adas, time.Hour), k.seedSession(t, mallorys, time.Hour), "another session of Ada"
	if err := k.Store.CreateSession(t.Context(), &pintle.StoredSession{Token: again, UserID: adas.ID, Expires: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	const c = sessionCookie
	for _, tt := range []struct{ name, header, who string }{
		{"SA-M8 a planted part that is junk", c + ".0=junk; " + c + "=" + ada, "Ada Lovelace"},
		{"SA-M8 a planted part of another user", c + ".0=" + mallory + "; " + c + "=" + ada, "anonymous"},
		{"SA-M8 the name twice, of two users", c + "=" + mallory + "; " + c + "=" + ada, "anonymous"},
		{"SA-M8 the name twice, of one user", c + "=" + ada + "; " + c + "=" + again, "Ada Lovelace"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.TrimPrefix(s.sendCookies("GET", "/", tt.header).Body.String(), "hello, "); got != tt.who {
				t.Errorf("on a page %s is signed in, want %s", got, tt.who)
			}
			route := s.sendCookies("GET", "/auth/session", tt.header)
			if signedIn := route.Body.String() != "null"; signedIn != (tt.who != "anonymous") {
				t.Errorf("the session route answers %s", route.Body)
			}
			if tt.who == "anonymous" && strings.Contains(strings.Join(route.Header()["Set-Cookie"], " "), c) {
				t.Errorf("clearing the user's cookie leaves the planted one: %q", route.Header()["Set-Cookie"])
			}
		})
	}
	t.Run("SA-M8 a database that fails for the second", func(t *testing.T) {
		failing := &secondLookupFails{recordingTxStore: k}
		s := newSite(t, with(failing, k.callLog, pintle.StrategyDatabase))
		r := httptest.NewRequest("GET", s.url+"/", nil)
		r.Header.Set("Cookie", c+"="+ada+"; "+c+"="+mallory)
		if session, err := s.auth.Session(r); session != nil || !errors.Is(err, errBroken) {
			t.Errorf("Session returns %v, %v", session, err)
		}
	})
}

// secondLookupFails is a store that answers once.
type secondLookupFails struct {
	*recordingTxStore
	asked bool
}

func (s *secondLookupFails) SessionAndUser(ctx context.Context, token string) (*pintle.StoredSession, *pintle.User, error) {
	if s.asked {
		return nil, nil, errBroken
	}
	s.asked = true
	return s.recordingTxStore.SessionAndUser(ctx, token)
}

// SA-M8: tokens without a subject may be of different users.
func TestTokensWithoutASubjectAreNotOfOneUser(t *testing.T) {
	for name, custom := range map[string]bool{"our format": false, "a format of the host": true} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, func(s *site) {
				if custom {
					s.JWT.Encode, s.JWT.Decode = plainFormat(sessionCookie)
				}
			})
			header := sessionCookie + "=" + s.withoutSubject("grace", custom) + "; " + sessionCookie + "=" + s.withoutSubject("ada", custom)
			w := s.sendCookies("GET", "/", header)
			if got := strings.TrimPrefix(w.Body.String(), "hello, "); got != "anonymous" {
				t.Errorf("SA-M8 %s is signed in", got)
			}
			if !strings.Contains(s.log.String(), "different users") {
				t.Errorf("SA-M8 the log says nothing of the conflict:\n%s", s.log)
			}
			w = s.sendCookies("GET", "/", sessionCookie+"="+s.withoutSubject("ada", custom))
			if got := strings.TrimPrefix(w.Body.String(), "hello, "); got != "Ada Lovelace" {
				t.Errorf("with one of them alone %s is signed in", got)
			}
		})
	}
}

// withoutSubject returns a session token without a subject.
func (s *site) withoutSubject(username string, custom bool) string {
	claims := claimsFor(username)
	delete(claims, "sub")
	if custom {
		return encodePlain(claims)
	}
	return sealed(s.t, sessionCookie, claims)
}

// A sign-out ends every session of the request: the next one would be read by
// the cookies that are left.
func TestSignOutEndsPlantedSessionsToo(t *testing.T) {
	for _, strategy := range []pintle.SessionStrategy{pintle.StrategyJWT, pintle.StrategyDatabase} {
		t.Run("SA-M8 "+string(strategy), func(t *testing.T) {
			s := newSite(t, func(s *site) {
				s.Store, s.Session.Strategy, s.Session.Revocation = memstore.New(), strategy, &memstore.Revocations{}
			})
			ada, mallory := s.browser(), s.browser()
			ada.signInWith("acme")
			s.idp.SignInAs(graceElsewhere)
			mallory.signInWith("acme")
			held := ada.cookie(sessionCookie)
			ada.plant(sessionCookie+".0", mallory.cookie(sessionCookie))
			if who := ada.who(); who != "anonymous" {
				t.Fatalf("%s is signed in", who)
			}
			r := ada.post("/auth/signout").goesTo(s.url)
			if !r.clears(sessionCookie) || !r.clears(sessionCookie+".0") {
				t.Errorf("the sign-out sets %q", r.header["Set-Cookie"])
			}
			if names := s.eventNames(); names[len(names)-2] != "signOut" || names[len(names)-1] != "signOut" {
				t.Errorf("the events are %q", names)
			}
			ada.plant(sessionCookie, held)
			if ada.who() != "anonymous" || mallory.who() != "anonymous" {
				t.Error("a session of the request did not end")
			}
		})
	}
}

// A cookie with the prefix __Host- cannot be planted by another host. It works
// for a whole token, for one in parts, and for clearing both.
func TestHostPrefixForTheSession(t *testing.T) {
	const name = "__Host-authjs.session-token"
	for _, strategy := range []pintle.SessionStrategy{pintle.StrategyJWT, pintle.StrategyDatabase} {
		t.Run("SA-M8 "+string(strategy), func(t *testing.T) {
			size := 0
			s := newSite(t, func(s *site) {
				s.url = "https://app.localhost"
				s.Cookies.SessionToken.Name = name
				s.Store, s.Session.Strategy = memstore.New(), strategy
				s.Callbacks.JWT = fill(&size, pintle.NewClaim[string]("filling"))
			})
			b := s.browser()
			sizes := []int{0}
			if strategy == pintle.StrategyJWT {
				sizes = []int{0, 9000, 0, 9000}
			}
			for _, size = range sizes {
				r := b.signInWith("acme")
				for cookie, line := range setCookies(r.header) {
					if strings.HasPrefix(cookie, name) && (!strings.Contains(line, "; Path=/;") || !strings.Contains(line, "; Secure") || strings.Contains(line, "Domain")) {
						t.Errorf("a browser refuses %s", line)
					}
				}
				if who := b.who(); who != "Ada Lovelace" {
					t.Errorf("with %d bytes of data %s is signed in", size, who)
				}
			}
			r := b.post("/auth/signout").goesTo(s.url)
			for cookie, line := range setCookies(r.header) {
				if strings.HasPrefix(cookie, name) && (!strings.HasPrefix(line, cookie+"=; Max-Age=0; Path=/; HttpOnly; Secure;") || strings.Contains(line, "Domain")) {
					t.Errorf("a browser ignores %s", line)
				}
			}
			for _, c := range b.client.Jar.Cookies(b.address()) {
				if strings.HasPrefix(c.Name, name) {
					t.Errorf("after a sign-out the browser holds %s", c.Name)
				}
			}
		})
	}
}

// W-62: a format of the host's is held to the times in its claims.
func TestTimesOfAFormatOfTheHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, func(s *site) {
			s.JWT.Encode, s.JWT.Decode = plainFormat(sessionCookie)
			s.Session.MaxAge = time.Hour
		})
		now := func(d time.Duration) float64 { return float64(time.Now().Add(d).Unix()) }
		for _, tt := range []struct {
			name   string
			claims pintle.Claims
			who    string
		}{
			{"SA-L12 not expired", pintle.Claims{"exp": now(time.Minute)}, "Ada Lovelace"},
			{"SA-L12 expired within the tolerance", pintle.Claims{"exp": now(-14 * time.Second)}, "Ada Lovelace"},
			{"SA-L12 expired", pintle.Claims{"exp": now(-15 * time.Second)}, "anonymous"},
			{"SA-L12 not valid yet", pintle.Claims{"nbf": now(time.Minute)}, "anonymous"},
			{"SA-L12 valid", pintle.Claims{"nbf": now(-time.Minute)}, "Ada Lovelace"},
			{"SA-L12 an exp that is no number", pintle.Claims{"exp": "never"}, "anonymous"},
			{"SA-L12 an exp that is null", pintle.Claims{"exp": nil}, "anonymous"},
			{"no times at all", pintle.Claims{}, "Ada Lovelace"},
		} {
			tt.claims["sub"], tt.claims["name"] = "user-ada", "Ada Lovelace"
			w := s.sendCookies("GET", "/", sessionCookie+"="+encodePlain(tt.claims))
			if got := strings.TrimPrefix(w.Body.String(), "hello, "); got != tt.who {
				t.Errorf("%s: %s is signed in, want %s", tt.name, got, tt.who)
			}
		}
		b := s.browser()
		b.signIn("ada")
		var claims map[string]any
		if err := json.Unmarshal([]byte(mustUnescape(t, b.cookie(sessionCookie))), &claims); err != nil {
			t.Fatal(err)
		}
		if claims["exp"] != now(time.Hour) || claims["iat"] != now(0) || claims["jti"] == nil {
			t.Errorf("SA-L12 Encode is given %v", claims)
		}
		if r := b.get("/"); len(r.header["Set-Cookie"]) > 0 {
			t.Errorf("a page renews a token that was just issued: %q", r.header["Set-Cookie"])
		}
		held := b.cookie(sessionCookie)
		time.Sleep(time.Hour + 15*time.Second)
		b.plant(sessionCookie, held)
		if who := b.who(); who != "anonymous" {
			t.Errorf("SA-L12 after its end %s is signed in", who)
		}
	})
}

func mustUnescape(t *testing.T, value string) string {
	t.Helper()
	plain, err := url.PathUnescape(value)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// SA-L3: cookies that a sibling domain plants, whose longer path puts them first, do
// not keep the session from being ended.
func TestASignOutEndsTheSessionBehindPlantedCookies(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s, k := hijackSite(t, strategy)
			user := k.seedUser(t, pintle.User{Name: "Ada", Email: "ada@example.com"})
			victim := s.browser()
			victim.signInAs(k, user, strategy)
			held := victim.cookie(sessionCookie)
			csrf := victim.csrf()
			var pairs []string
			for _, n := range []string{"1", "2", "3", "4"} {
				pairs = append(pairs, sessionCookie+"=junk"+n)
			}
			for _, c := range victim.client.Jar.Cookies(victim.address()) {
				pairs = append(pairs, c.Name+"="+c.Value)
			}
			r := httptest.NewRequest(http.MethodPost, s.url+"/auth/signout", strings.NewReader(url.Values{"csrfToken": {csrf}}.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Cookie", strings.Join(pairs, "; "))
			w := httptest.NewRecorder()
			s.auth.ServeHTTP(w, r)
			copied := s.browser()
			copied.plant(sessionCookie, held)
			if copied.sub() == user.ID {
				t.Error("a copy of the session is good after the sign-out")
			}
		})
	}
}
