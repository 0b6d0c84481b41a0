package pintle_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/store/memstore"
)

// endsAtProvider is a site whose sessions end at the providers "acme" and "other", and not
// at "plain".
func endsAtProvider(strategy pintle.SessionStrategy, changes ...func(*site, *pintle.OAuth)) func(*site) {
	return func(s *site) {
		acme, plain := s.idp.OIDC("acme"), s.idp.OIDC("plain")
		other := s.newIdentityProvider("https://other.example").OIDC("other")
		acme.EndSessionAtProvider, other.EndSessionAtProvider = true, true
		for _, change := range changes {
			change(s, acme)
		}
		s.Providers = []pintle.Provider{acme, plain, other, &pintle.Credentials{Authorize: checkPassword}}
		if s.Session.Strategy = strategy; strategy == pintle.StrategyDatabase {
			s.Store = memstore.New()
			s.Providers = s.Providers[:3]
		}
	}
}

// arrivesBy signs in with a provider.
func (b *browser) arrivesBy(provider string) *reply {
	b.t.Helper()
	r := b.signInWith(provider)
	if code := r.errorCode(); r.status != http.StatusFound || code != "" {
		b.t.Fatalf("%s does not sign in: status %d, error %q; log:\n%s", provider, r.status, code, b.site.log)
	}
	return r
}

// signOut posts the form of the sign-out page, and returns where the browser goes.
func (b *browser) signOut(fields ...string) *url.URL {
	b.t.Helper()
	to := mustParse(b.t, b.post("/auth/signout", fields...).want(http.StatusFound).location())
	if who := b.who(); who != "anonymous" {
		b.t.Errorf("%s is still signed in", who)
	}
	return to
}

// atEndSession fails the test unless a URL is that of the end session endpoint of a
// provider.
func atEndSession(t *testing.T, u *url.URL, host string) url.Values {
	t.Helper()
	if u.Host != host || u.Path != string(authtest.EndSessionEndpoint) {
		t.Fatalf("the browser is sent to %s", u.Redacted())
	}
	return u.Query()
}

func inBothStrategies(t *testing.T, test func(t *testing.T, strategy pintle.SessionStrategy)) {
	t.Helper()
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) { test(t, strategy) })
	}
}

// RP-19: the whole way, with a provider that checks the request: the session ends here, the
// browser goes to the provider with the ID token of the session, and comes back to where
// the user wanted to go.
func TestASignOutEndsTheSessionAtTheProvider(t *testing.T) {
	inBothStrategies(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		var event *pintle.SignOutEvent
		s := newSite(t, endsAtProvider(strategy), func(s *site) {
			s.Events.SignOut = func(_ context.Context, e *pintle.SignOutEvent) error { event = e; return nil }
		})
		b := s.browser()
		b.arrivesBy("acme")
		to := b.signOut("callbackUrl", "/bye?from=here")
		q := atEndSession(t, to, "idp.example")
		if q.Get("id_token_hint") == "" || q.Get("client_id") != "acme" || q.Get("post_logout_redirect_uri") != s.url+"/auth/signout/acme" || q.Get("state") == "" {
			t.Errorf("the request has %q", slices.Sorted(maps.Keys(q)))
		}
		if event == nil || event.Provider != "acme" || !event.AtProvider {
			t.Errorf("the event is %+v", event)
		}
		back := b.get(to.String()).want(http.StatusFound)
		r := b.get(back.location()).goesTo(s.url + "/bye?from=here")
		if r.header.Get("Cache-Control") != "private, no-cache, no-store" {
			t.Errorf("the answer may be stored: %q", r.header.Get("Cache-Control"))
		}
		// Nothing is left, so that it works once more.
		b.get(back.location()).goesTo(s.url)
		b.arrivesBy("acme")
		atEndSession(t, b.signOut(), "idp.example")
	})
}

// RPX-47: the hint is the newest ID token of the session at the provider. One that names
// another session, user or client, or that is too long for a URL, leaves it as it was.
func TestTheHintIsTheIDTokenOfTheLastRefresh(t *testing.T) {
	for name, tt := range map[string]struct {
		changes map[string]any // of the ID token of the refresh
		store   func(idToken string) string
		newer   bool
	}{
		"of the session":            {newer: true},
		"of another session":        {changes: map[string]any{"sid": "sid-2"}},
		"of no session":             {changes: map[string]any{"sid": nil}},
		"issued before":             {changes: map[string]any{"iat": time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC).Unix()}},
		"of a list of one audience": {changes: map[string]any{"aud": []string{"acme"}}},
		"too long":                  {changes: map[string]any{"groups": strings.Repeat("x", 1500)}},
		"not stored":                {store: func(string) string { return "" }},
		"stored as something else":  {store: func(string) string { return "eyJ.x.y" }},
		"of another issuer":         {store: withOther("iss")},
		"of another user":           {store: withOther("sub")},
	} {
		t.Run(name, func(t *testing.T) {
			inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
				sid := map[string]any{"sid": "sid-1"}
				s := newSite(t, endsAtProvider(strategy), func(s *site) {
					s.Store = memstore.New()
					acme := s.Providers[0].(*pintle.OAuth)
					acme.Authorization.Params = map[string]string{"scope": "openid profile email offline_access"}
					began := time.Now()
					acme.StoreAccount = func(a *pintle.Account) *pintle.Account {
						if tt.store != nil && time.Since(began) > time.Hour {
							a.IDToken = tt.store(a.IDToken)
						}
						return a
					}
					s.idp.Tamper(authtest.Tamper{IDToken: func(header, claims map[string]any) { claiming(sid)(header, claims) }})
				})
				b := s.browser()
				b.arrivesBy("acme")
				time.Sleep(2 * time.Hour)
				maps.Copy(sid, tt.changes)
				renewed, err := s.auth.Refresh(t.Context(), &pintle.Account{Provider: "acme", ProviderAccountID: authtest.DefaultPeople()[0].Subject})
				if err != nil {
					t.Fatal(err)
				}
				hint := atEndSession(t, b.signOut(), "idp.example").Get("id_token_hint")
				want := lastEvent[*pintle.SignInEvent](s, "signIn").Account.IDToken
				if tt.newer {
					want = renewed.IDToken
				}
				if hint == "" || hint != want {
					t.Errorf("the hint is %q, want %q", hint, want)
				}
			})
		})
	}
}

// withOther gives an ID token another value of a claim, and no signature.
func withOther(claim string) func(idToken string) string {
	return func(idToken string) string {
		parts := strings.Split(idToken, ".")
		payload, _ := base64.RawURLEncoding.DecodeString(parts[1])
		var claims map[string]any
		_ = json.Unmarshal(payload, &claims)
		claims[claim] = "https://other.example"
		payload, _ = json.Marshal(claims)
		return parts[0] + "." + base64.RawURLEncoding.EncodeToString(payload) + "."
	}
}

// RPT-88: the browser client of Auth.js posts with a script, and goes to the URL in the answer.
func TestAScriptThatSignsOutIsToldTheAddressOfTheProvider(t *testing.T) {
	s := newSite(t, endsAtProvider(pintle.StrategyJWT))
	b := s.browser()
	b.arrivesBy("acme")
	var answer struct{ URL string }
	b.postForm("/auth/signout", url.Values{"csrfToken": {b.csrf()}, "callbackUrl": {s.url + "/bye"}}, "X-Auth-Return-Redirect", "1").
		want(http.StatusOK).json(&answer)
	to := mustParse(t, answer.URL)
	atEndSession(t, to, "idp.example")
	b.get(b.get(to.String()).want(http.StatusFound).location()).goesTo(s.url + "/bye")
}

// RPT-6
func TestAProviderThatCannotEndASessionDelaysNobody(t *testing.T) {
	for name, spoil := range map[string]func(s *site, p *pintle.OAuth){
		"is down": func(s *site, _ *pintle.OAuth) { delete(s.net, "idp.example") },
		"fails": func(s *site, _ *pintle.OAuth) {
			s.idp.Break(authtest.At(authtest.DiscoveryEndpoint, authtest.ServerError))
		},
		"hangs":                 func(s *site, _ *pintle.OAuth) { s.net["idp.example"] = hanging{} },
		"has no endpoint":       withEndSession(""),
		"has it without TLS":    withEndSession("http://idp.example/logout"),
		"has a script there":    withEndSession("javascript:alert(1)"),
		"has a user name there": withEndSession("https://user@idp.example/logout"),
		"has no URL there":      withEndSession("/logout"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				// The endpoints of the sign-in are configured, so that nothing was discovered
				// before.
				s := newSite(t, endsAtProvider(pintle.StrategyJWT, func(s *site, p *pintle.OAuth) {
					p.Authorization.URL, p.Token.URL = s.idp.URL(authtest.AuthorizationEndpoint), s.idp.URL(authtest.TokenEndpoint)
					p.Quirks.JWKS, p.SigningAlg = s.idp.URL(authtest.JWKSEndpoint), "ES256"
				}))
				b := s.browser()
				b.arrivesBy("acme")
				spoil(s, nil)
				began := time.Now()
				if to := b.signOut("callbackUrl", "/bye"); to.String() != s.url+"/bye" {
					t.Errorf("the browser is sent to %s", to)
				}
				if took := time.Since(began); took > 3*time.Second {
					t.Errorf("it took %v", took)
				}
				if !strings.Contains(s.log.String(), "the session ended here, and not at the provider") {
					t.Errorf("the log has: %s", s.log)
				}
				time.Sleep(time.Minute) // until the last request has given up
			})
		})
	}
}

func withEndSession(address string) func(*site, *pintle.OAuth) {
	return func(s *site, _ *pintle.OAuth) {
		s.idp.Tamper(authtest.Tamper{Discovery: func(document map[string]any) { document["end_session_endpoint"] = address }})
	}
}

// hanging never answers.
type hanging struct{}

func (hanging) ServeHTTP(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// RPT-7: the cookie alone decides where the browser goes. Another site can send it to the route,
// with any parameters.
func TestTheReturnFromTheProviderIsNotBelieved(t *testing.T) {
	s := newSite(t, endsAtProvider(pintle.StrategyJWT))
	begun := func() (*browser, string) {
		b := s.browser()
		b.arrivesBy("acme")
		return b, b.get(b.signOut("callbackUrl", "/bye").String()).want(http.StatusFound).location()
	}
	_, ofAnother := begun()
	for name, query := range map[string]string{
		"no state":                "",
		"the state of another":    ofAnother[strings.Index(ofAnother, "?"):],
		"an invented state":       "?state=x",
		"8 KiB of state":          "?state=" + strings.Repeat("x", 8192),
		"the continuation":        "?continue",
		"another site":            "?callbackUrl=https://evil.example&redirect=https://evil.example&url=https://evil.example",
		"another site, no scheme": "?callbackUrl=//evil.example",
		"what is no URL":          "?callbackUrl=javascript:alert(1)",
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := begun()
			b.get("/auth/signout/acme" + query).goesTo(s.url)
			if name == "the continuation" {
				return
			}
			fresh := s.browser()
			r := fresh.get("/auth/signout/acme" + query).goesTo(s.url)
			for name, c := range r.cookies() {
				if c.Value != "" && strings.Contains(c.Value, "evil") {
					t.Errorf("the cookie %s is %s", name, c.Value)
				}
			}
		})
	}
	b, back := begun()
	b.get(strings.Replace(back, "/acme?", "/other?", 1)).goesTo(s.url) // the provider of another session
	b, back = begun()
	b.get(back).goesTo(s.url + "/bye")
	b.get(back).goesTo(s.url) // once
}

// RPT-8
func TestASignOutThroughAProviderKeepsTheRedirectRules(t *testing.T) {
	s := newSite(t, endsAtProvider(pintle.StrategyJWT))
	for _, target := range []string{"https://evil.example/", "//evil.example", `/\evil.example`, "https://evil.example@app/", `\\evil.example`} {
		b := s.browser()
		b.arrivesBy("acme")
		r := b.post("/auth/signout", "callbackUrl", target)
		if !strings.HasPrefix(r.location(), "https://idp.example/") {
			if !staysOn(s.url, r.location()) {
				t.Errorf("with %s the browser is sent to %s", target, r.location())
			}
			continue
		}
		if r = b.get(b.get(r.location()).want(http.StatusFound).location()); !staysOn(s.url, r.location()) {
			t.Errorf("with %s the browser comes back to %s", target, r.location())
		}
	}
}

// RPT-9: only a sign-out of this browser goes on.
func TestALinkOfAnotherSiteSignsNobodyOut(t *testing.T) {
	s := newSite(t, endsAtProvider(pintle.StrategyJWT))
	b := s.browser()
	b.arrivesBy("acme")
	b.get("/auth/signout/acme?continue", "Sec-Fetch-Site", "cross-site").goesTo(s.url)
	if who := b.who(); who != "Ada Lovelace" {
		t.Fatalf("%s is signed in", who)
	}
	atEndSession(t, b.signOut(), "idp.example")
}

// RPT-10
func TestASessionEndsAtTheProviderItBeganWith(t *testing.T) {
	inBothStrategies(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := newSite(t, endsAtProvider(strategy), func(s *site) { s.Store = memstore.New() })
		b := s.browser()
		b.arrivesBy("acme")
		b.arrivesBy("other") // linked to the same user
		atEndSession(t, b.signOut(), "idp.example")
	})
}

// A session of a provider that is not asked, or of a password, ends here alone, and so does
// one that began after a session of a provider.
func TestOtherSessionsEndHereAlone(t *testing.T) {
	s := newSite(t, endsAtProvider(pintle.StrategyJWT))
	b := s.browser()
	for range 2 {
		b.arrivesBy("plain")
		if to := b.signOut("callbackUrl", "/bye"); to.String() != s.url+"/bye" {
			t.Errorf("the browser is sent to %s", to)
		}
		b.signIn("ada")
		if to := b.signOut("callbackUrl", "/bye"); to.String() != s.url+"/bye" {
			t.Errorf("the browser is sent to %s", to)
		}
		b.arrivesBy("acme") // and signs in with a password over it
	}
	b.signIn("ada")
	if to := b.signOut("callbackUrl", "/bye"); to.String() != s.url+"/bye" {
		t.Errorf("the browser is sent to %s", to)
	}
}

// A provider that sessions no longer end at may still be in the cookies of browsers.
func TestAProviderIsNoLongerAskedOnceTheFieldIsGone(t *testing.T) {
	s := newSite(t, endsAtProvider(pintle.StrategyJWT))
	b := s.browser()
	b.arrivesBy("acme")
	s.again(t, func(c *pintle.Config) {
		acme := *c.Providers[0].(*pintle.OAuth)
		acme.EndSessionAtProvider = false
		c.Providers = append([]pintle.Provider{&acme}, c.Providers[1:]...)
	})
	if to := b.signOut("callbackUrl", "/bye"); to.String() != s.url+"/bye" {
		t.Errorf("the browser is sent to %s", to)
	}
}

// A host may name its users otherwise than the provider does.
func TestACallbackThatNamesTheUserOtherwiseKeepsTheHint(t *testing.T) {
	for _, sub := range []any{"user-of-the-host", 42} {
		s := newSite(t, endsAtProvider(pintle.StrategyJWT), func(s *site) {
			s.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
				c.Claims["sub"] = sub
				return c.Claims, nil
			}
		})
		b := s.browser()
		b.arrivesBy("acme")
		if q := atEndSession(t, b.signOut(), "idp.example"); !q.Has("id_token_hint") {
			t.Errorf("with the subject %v the request has %q", sub, slices.Sorted(maps.Keys(q)))
		}
	}
}

// A sign-in that waits for a second factor has the tokens of the provider when it begins, and
// not when it is completed.
func TestASignInThatWaitedKeepsTheHint(t *testing.T) {
	inBothStrategies(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := newSite(t, endsAtProvider(strategy), func(s *site) {
			s.Store = memstore.New()
			s.Callbacks.Hold = func(_ context.Context, p *pintle.PendingSignIn) (string, error) {
				if slices.Contains(p.Authentication.Methods, "otp") {
					return "", nil
				}
				return "/second", nil
			}
		})
		b := s.browser()
		b.arrivesBy("acme")
		if _, err := b.complete("otp"); err != nil {
			t.Fatal(err)
		}
		if q := atEndSession(t, b.signOut(), "idp.example"); !q.Has("id_token_hint") {
			t.Errorf("the request has %q", slices.Sorted(maps.Keys(q)))
		}
	})
}

// A neighbouring host can plant cookies of any name.
func TestAPlantedHintKeepsNoSessionAtTheProvider(t *testing.T) {
	s := newSite(t, endsAtProvider(pintle.StrategyJWT))
	b := s.browser()
	b.arrivesBy("acme")
	kept := b.copiedHint()
	b.client.Jar.SetCookies(b.hintAddress(), []*http.Cookie{{Name: kept[0].Name, Value: "planted", Path: "/auth/signout/"}, {Name: kept[0].Name, Value: "planted", Path: "/auth"}})
	r := b.post("/auth/signout").want(http.StatusFound)
	atEndSession(t, mustParse(t, r.location()), "idp.example")
}

// A neighbouring host can also plant a session of its own, which browsers send first.
func TestAPlantedSessionKeepsNoSessionAtTheProvider(t *testing.T) {
	inBothStrategies(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		for name, leave := range map[string]func(*site, *browser) *url.URL{
			"by the page": func(_ *site, b *browser) *url.URL {
				return mustParse(t, b.post("/auth/signout").want(http.StatusFound).location())
			},
			"by a handler": func(s *site, b *browser) *url.URL {
				w := httptest.NewRecorder()
				next, err := s.auth.SignOut(w, b.request(), pintle.SignOutOptions{})
				if err != nil {
					t.Fatal(err)
				}
				b.takes(w)
				return mustParse(t, b.get(next).want(http.StatusFound).location())
			},
		} {
			t.Run(name, func(t *testing.T) {
				s := newSite(t, endsAtProvider(strategy))
				b, attacker := s.browser(), s.browser()
				b.arrivesBy("acme")
				s.idp.SignInAs(authtest.Person{Subject: "mallory", Name: "Mallory", Email: "mallory@example.net"})
				attacker.arrivesBy("acme")
				at := b.address()
				at.Path = "/auth/signout"
				b.client.Jar.SetCookies(at, []*http.Cookie{{Name: sessionCookie, Value: attacker.cookie(sessionCookie), Path: "/auth"}})
				atEndSession(t, leave(s, b), "idp.example")
			})
		}
	})
}

// A sign-in that is held and given up leaves the session of before with what it has.
func TestASignInThatIsGivenUpLeavesTheHintOfTheSession(t *testing.T) {
	s := newSite(t, endsAtProvider(pintle.StrategyJWT), func(s *site) {
		s.Store = memstore.New()
		s.Callbacks.Hold = func(_ context.Context, p *pintle.PendingSignIn) (string, error) {
			if p.Account.Provider == "credentials" {
				return "/second", nil
			}
			return "", nil
		}
	})
	b := s.browser()
	b.arrivesBy("acme")
	b.post("/auth/callback/credentials", "username", "grace", "password", people["grace"].password).goesTo(s.url + "/second")
	atEndSession(t, b.signOut(), "idp.example")
}

// One that is completed has no hint of the session of before.
func TestASignInThatIsCompletedHasNoHintOfAnother(t *testing.T) {
	s := newSite(t, endsAtProvider(pintle.StrategyJWT), func(s *site) {
		s.Store = memstore.New()
		s.Callbacks.Hold = func(_ context.Context, p *pintle.PendingSignIn) (string, error) {
			if p.Account.Provider == "credentials" && len(p.Authentication.Methods) < 2 {
				return "/second", nil
			}
			return "", nil
		}
	})
	b := s.browser()
	b.arrivesBy("acme")
	b.post("/auth/callback/credentials", "username", "grace", "password", people["grace"].password).goesTo(s.url + "/second")
	if _, err := b.complete("otp"); err != nil {
		t.Fatal(err)
	}
	for _, c := range b.client.Jar.Cookies(b.hintAddress()) {
		if strings.Contains(c.Name, "hint") {
			t.Errorf("the browser keeps %s", c.Name)
		}
	}
	if to := b.signOut("callbackUrl", "/bye"); to.String() != s.url+"/bye" {
		t.Errorf("the browser is sent to %s", to.Redacted())
	}
}

// The browser of a user who leaves from a page with a long address comes back to the home page.
func TestALongTargetKeepsNoSessionAtTheProvider(t *testing.T) {
	s := newSite(t, endsAtProvider(pintle.StrategyJWT))
	b := s.browser()
	b.arrivesBy("acme")
	to := b.signOut("callbackUrl", "/search?q="+strings.Repeat("x", 3000))
	atEndSession(t, to, "idp.example")
	b.get(b.get(to.String()).want(http.StatusFound).location()).goesTo(s.url)
}

// A sign-out that a handler began, and whose browser did not go on, ends no later session.
func TestAnUnfinishedSignOutEndsNoLaterSession(t *testing.T) {
	s := newSite(t, endsAtProvider(pintle.StrategyJWT), func(s *site) { s.Store = memstore.New() })
	b := s.browser()
	b.arrivesBy("acme")
	w := httptest.NewRecorder()
	if _, err := s.auth.SignOut(w, b.request(), pintle.SignOutOptions{}); err != nil {
		t.Fatal(err)
	}
	b.takes(w)
	b.arrivesBy("acme")
	b.get("/auth/signout/acme?continue", "Sec-Fetch-Site", "cross-site").goesTo(s.url)
	atEndSession(t, b.signOut(), "idp.example")
}

// An ID token goes to the issuer that has made it.
func TestAHintIsNotSentToAnotherIssuer(t *testing.T) {
	s := newSite(t, endsAtProvider(pintle.StrategyJWT))
	b := s.browser()
	b.arrivesBy("acme")
	s.again(t, func(c *pintle.Config) {
		acme := s.newIdentityProvider("https://new.example").OIDC("acme")
		acme.EndSessionAtProvider = true
		c.Providers = append([]pintle.Provider{acme}, c.Providers[1:]...)
	})
	if to := b.signOut("callbackUrl", "/bye"); to.String() != s.url+"/bye" {
		t.Errorf("the browser is sent to %s", to.Redacted())
	}
}

// RPT-11: the ID token makes no other request longer, and the address does not become too
// long for servers.
func TestALargeIDTokenMakesNoOtherRequestLonger(t *testing.T) {
	for _, size := range []int{1 << 10, 4 << 10, 5 << 10, 8 << 10, 20 << 10} {
		inBothStrategies(t, func(t *testing.T, strategy pintle.SessionStrategy) {
			s := newSite(t, endsAtProvider(strategy))
			s.idp.SignInAs(authtest.Person{Subject: "1", Name: "Ada Lovelace", Claims: map[string]any{"groups": strings.Repeat("x", size*3/4)}})
			b := s.browser()
			in := b.arrivesBy("acme")
			headers := 0
			for name, values := range in.header {
				headers += len(name) + len(strings.Join(values, name)) + 4
			}
			if headers > 4096 {
				t.Errorf("with an ID token of %d bytes, the answer to the sign-in has %d bytes of headers", size, headers)
			}
			elsewhere := len(b.cookiesAt("/"))
			plain := s.browser()
			plain.arrivesBy("plain")
			if usual := len(plain.cookiesAt("/")); elsewhere != usual {
				t.Errorf("with an ID token of %d bytes, requests have cookies of %d bytes instead of %d", size, elsewhere, usual)
			}
			to := b.signOut()
			q := atEndSession(t, to, "idp.example")
			if len(to.String()) > 7000 {
				t.Errorf("with an ID token of %d bytes, the address has %d", size, len(to.String()))
			}
			if hinted := q.Has("id_token_hint"); hinted != (size <= 1<<10) {
				t.Errorf("with an ID token of %d bytes, the hint is sent: %v", size, hinted)
			}
			if q.Get("client_id") != "acme" || !q.Has("post_logout_redirect_uri") {
				t.Errorf("the request has %q", slices.Sorted(maps.Keys(q)))
			}
		})
	}
}

// cookiesAt returns the cookies that a browser sends to a path.
func (b *browser) cookiesAt(path string) string {
	var names []string
	u := b.address()
	u.Path = path
	for _, c := range b.client.Jar.Cookies(u) {
		value := c.Value
		if c.Name != sessionCookie {
			value = "" // random
		}
		names = append(names, c.Name+"="+strings.Repeat("x", len(value)))
	}
	return strings.Join(names, "; ")
}

// RPT-12
func TestTheIDTokenOfASignOutIsInNoLogAndNoOtherAnswer(t *testing.T) {
	s := newSite(t, endsAtProvider(pintle.StrategyJWT))
	b := s.browser()
	in := b.arrivesBy("acme")
	r := b.post("/auth/signout", "callbackUrl", "/bye").want(http.StatusFound)
	hint := mustParse(t, r.location()).Query().Get("id_token_hint")
	if hint == "" {
		t.Fatal("there is no hint")
	}
	if policy := r.header.Get("Referrer-Policy"); policy != "no-referrer" {
		t.Errorf("the provider's pages could send the address on: Referrer-Policy is %q", policy)
	}
	back := b.get(b.get(r.location()).want(http.StatusFound).location())
	for where, text := range map[string]string{
		"the log": s.log.String(), "the sign-in": in.body + in.location(), "the return": back.body + back.location(),
		"the session route": b.get("/auth/session").body, "the cookies": b.cookiesAt("/"),
	} {
		if strings.Contains(text, hint) || strings.Contains(text, strings.Split(hint, ".")[1]) {
			t.Errorf("%s has the ID token", where)
		}
	}
}

// RPT-13
func TestTheHintIsThatOfTheLastUser(t *testing.T) {
	inBothStrategies(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := newSite(t, endsAtProvider(strategy), func(s *site) { s.Store = memstore.New() })
		b := s.browser()
		b.arrivesBy("acme")
		first := b.copiedHint()
		b.client.Jar = s.browser().client.Jar
		s.idp.SignInAs(authtest.Person{Subject: "2", Name: "Grace Hopper"})
		b.arrivesBy("acme")
		if who := b.who(); who != "Grace Hopper" {
			t.Fatalf("%s is signed in", who)
		}
		second := b.copiedHint()
		// What the session of another user has left is not sent.
		b.plantHint(first)
		if to := b.signOut("callbackUrl", "/bye"); to.String() != s.url+"/bye" {
			t.Errorf("with the cookie of the first user, the browser is sent to %s", to.Redacted())
		}
		b.arrivesBy("acme")
		b.plantHint(second)
		atEndSession(t, b.signOut(), "idp.example")
	})
}

func (b *browser) hintAddress() *url.URL {
	u := b.address()
	u.Path = "/auth/signout"
	return u
}

// copiedHint returns the cookies that only the sign-out receives.
func (b *browser) copiedHint() (kept []*http.Cookie) {
	for _, c := range b.client.Jar.Cookies(b.hintAddress()) {
		if strings.Contains(c.Name, "pintle.hint") {
			kept = append(kept, &http.Cookie{Name: c.Name, Value: c.Value, Path: "/auth/signout"})
		}
	}
	if len(kept) == 0 {
		b.t.Fatal("the browser keeps no hint")
	}
	return kept
}

func (b *browser) plantHint(kept []*http.Cookie) {
	b.client.Jar.SetCookies(b.hintAddress(), kept)
}

// RPT-14
func TestASignOutWithoutASessionGoesToNoProvider(t *testing.T) {
	inBothStrategies(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, endsAtProvider(strategy), func(s *site) { s.Session.MaxAge = time.Hour })
			for name, spoil := range map[string]func(b *browser){
				"expired": func(b *browser) { time.Sleep(2 * time.Hour) },
				"unknown": func(b *browser) { b.plant(sessionCookie, "unknown") },
				"none":    func(b *browser) { b.plant(sessionCookie, "") },
			} {
				b := s.browser()
				b.arrivesBy("acme")
				held := b.cookie(sessionCookie)
				spoil(b)
				if name == "expired" {
					b.plant(sessionCookie, held) // the browser has removed it
				}
				if to := b.signOut("callbackUrl", "/bye"); to.String() != s.url+"/bye" {
					t.Errorf("with a session that is %s, the browser is sent to %s", name, to.Redacted())
				}
			}
		})
	})
}

// A handler of the host signs out at another path, to which the browser does not send the
// hint. It is sent through a route that receives it.
func TestAHandlerOfTheHostSignsOutAtTheProvider(t *testing.T) {
	inBothStrategies(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := newSite(t, endsAtProvider(strategy))
		b := s.browser()
		b.arrivesBy("other")
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/leave", nil)
		for _, c := range b.client.Jar.Cookies(b.address()) {
			r.AddCookie(c)
		}
		next, err := s.auth.SignOut(w, r, pintle.SignOutOptions{RedirectTo: "/bye"})
		if err != nil {
			t.Fatal(err)
		}
		b.client.Jar.SetCookies(b.address(), w.Result().Cookies())
		if who := b.who(); who != "anonymous" {
			t.Fatalf("%s is signed in", who)
		}
		to := mustParse(t, b.get(next).want(http.StatusFound).location())
		if q := atEndSession(t, to, "other.example"); !q.Has("id_token_hint") {
			t.Errorf("the request has %q", slices.Sorted(maps.Keys(q)))
		}
		b.get(b.get(to.String()).want(http.StatusFound).location()).goesTo(s.url + "/bye")

		// With nothing kept, the browser goes to its target.
		b = s.browser()
		s.idp.SignInAs(authtest.Person{Subject: "2", Name: "Grace Hopper"})
		b.arrivesBy("plain")
		w = httptest.NewRecorder()
		r.Header.Del("Cookie")
		for _, c := range b.client.Jar.Cookies(b.address()) {
			r.AddCookie(c)
		}
		if next, err = s.auth.SignOut(w, r, pintle.SignOutOptions{RedirectTo: "/bye"}); err != nil {
			t.Fatal(err)
		}
		b.client.Jar.SetCookies(b.address(), w.Result().Cookies())
		b.get(next).goesTo(s.url + "/bye")
	})
}

// The parameters of services that have other names for them, and the URL that is registered.
func TestAProviderMayNameTheParametersDifferently(t *testing.T) {
	s := newSite(t, endsAtProvider(pintle.StrategyJWT, func(_ *site, p *pintle.OAuth) {
		p.EndSession.URL = "https://idp.example/v2/logout?tenant=1"
		p.EndSession.Params = map[string]string{"id_token_hint": "", "federated": "yes"}
		p.PostLogoutRedirectURL = "https://www.app.example/auth/signout/acme"
		p.Quirks.EndSession = func(u *url.URL) error {
			q := u.Query()
			q.Set("returnTo", q.Get("post_logout_redirect_uri"))
			q.Del("post_logout_redirect_uri")
			u.RawQuery = q.Encode()
			return nil
		}
	}))
	b := s.browser()
	b.arrivesBy("acme")
	to := b.signOut()
	q := to.Query()
	state := q.Get("state")
	q.Del("state")
	want := "client_id=acme&federated=yes&returnTo=https%3A%2F%2Fwww.app.example%2Fauth%2Fsignout%2Facme&tenant=1"
	if to.Path != "/v2/logout" || q.Encode() != want || state == "" {
		t.Errorf("the request is %s", to)
	}
}

// A deployment under a changing name has one registered URL at the provider, as for
// sign-ins.
func TestARedirectProxyPassesSignOutsOn(t *testing.T) {
	s := newPreview(t, "*.preview.example")
	b := s.browser()
	b.get(b.get(b.consent(b.leave("acme"))).want(http.StatusFound).location()).goesTo(s.url)
	to := b.signOut("callbackUrl", "/bye")
	if got := to.Query().Get("post_logout_redirect_uri"); got != "https://app.example/auth/signout/acme" {
		t.Fatalf("the browser comes back to %s", got)
	}
	atProxy := b.get(to.String()).want(http.StatusFound).location()
	b.get(b.get(atProxy).want(http.StatusFound).location()).goesTo(s.url + "/bye")
	forged := "https://app.example/auth/signout/acme?state=" + sealed(t, "encodedState", map[string]any{
		"origin": "https://evil.example/", "random": "x", "iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix(),
	})
	if r := b.get(forged); !staysOn("https://app.example", r.location()) {
		t.Errorf("the proxy sends the browser to %s", r.location())
	}
}

// RPT-5: without the field there is no route, no cookie and no other answer.
func TestWithoutTheFieldASignOutIsAsBefore(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	r := b.arrivesBy("acme")
	for name := range r.cookies() {
		if strings.Contains(name, "pintle.") {
			t.Errorf("the sign-in sets %s", name)
		}
	}
	for _, path := range []string{"/auth/signout/acme", "/auth/signout/acme?continue", "/auth/signout/unknown"} {
		b.get(path).want(http.StatusBadRequest)
	}
	if to := b.signOut("callbackUrl", "/bye"); to.String() != s.url+"/bye" {
		t.Errorf("the browser is sent to %s", to)
	}
}

func TestAProviderThatCouldNeverEndASessionIsRejected(t *testing.T) {
	for name, p := range map[string]*pintle.OAuth{
		"no address": {
			ID: "acme", ClientID: "app", ClientSecret: "secret", EndSessionAtProvider: true,
			Authorization: endpointAt("https://idp.example/a"), Token: endpointAt("https://idp.example/t"), UserInfo: endpointAt("https://idp.example/u"),
		},
		"a bad address": {
			ID: "acme", ClientID: "app", ClientSecret: "secret", EndSessionAtProvider: true, EndSession: endpointAt("http://idp.example/out"),
			Authorization: endpointAt("https://idp.example/a"), Token: endpointAt("https://idp.example/t"), UserInfo: endpointAt("https://idp.example/u"),
		},
	} {
		_, err := pintle.New(pintle.Config{
			Providers: []pintle.Provider{p}, Secrets: []string{secret}, Getenv: func(string) string { return "" },
		})
		if err == nil || !strings.Contains(err.Error(), "EndSession") {
			t.Errorf("with %s, New returns %v", name, err)
		}
	}
}

func endpointAt(address string) oauth.Endpoint { return oauth.Endpoint{URL: address} }
