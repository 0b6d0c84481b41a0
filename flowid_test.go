package pintle_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

// withHostPrefix puts a site on https whose session cookie no other host can set.
func withHostPrefix(s *site) {
	s.url = "https://app.example.com"
	s.URL = s.url
	s.Cookies.SessionToken.Name = "__Host-session"
	s.idp.Register(authtest.Client{ID: "acme", Secret: "x", RedirectURIs: []string{s.url + "/auth/callback/acme"}})
}

// plantedBy gives the browser the cookies of another one that a neighbour on a
// sibling domain can set: all without the prefix __Host- in their name.
func (b *browser) plantedBy(other *browser) {
	for _, c := range other.client.Jar.Cookies(other.address()) {
		if !strings.HasPrefix(c.Name, "__Host-") {
			b.client.Jar.SetCookies(b.address(), []*http.Cookie{{Name: c.Name, Value: c.Value, Path: "/", Domain: "example.com", Secure: true}})
		}
	}
}

// SA-M8: A neighbour plants the cookies of the attacker's flow or ceremony and opens
// its callback. The browser must not be signed in as the attacker.
func TestAFlowEndsInTheBrowserInWhichItBegan(t *testing.T) {
	for _, way := range []string{"redirect", "form from a sibling", "form from another site", "server code", "an id without the mark", "passkey", "new passkey"} {
		for _, strategy := range strategies {
			t.Run(way+" "+string(strategy), func(t *testing.T) {
				s, k := hijackSite(t, strategy, withHostPrefix, func(s *site) {
					p := s.idp.OIDC("acme")
					if strings.HasPrefix(way, "form") {
						p.Authorization.Params = map[string]string{"response_mode": "form_post"}
					}
					s.Providers[0] = p
				})
				s.idp.SignInAs(authtest.Person{Subject: "666", Name: "Mallory", Email: attackersOwn})
				trap := k.seedUser(t, pintle.User{Name: "Mallory", Email: attackersOwn})
				k.seedAccount(t, trap, "acme", "666")
				if err := errors.Join(
					k.Store.LinkAccount(t.Context(), &pintle.Account{UserID: trap.ID, Type: pintle.TypeWebAuthn, Provider: "passkey", ProviderAccountID: "AAAA"}),
					k.CreatePasskey(t.Context(), &pintle.Passkey{CredentialID: "AAAA", ProviderAccountID: "AAAA", UserID: trap.ID}),
				); err != nil {
					t.Fatal(err)
				}
				mallory, victim := s.browser(), s.browser()
				victim.csrf()
				sibling := []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "navigate", "Origin", "https://blog.example.com"}
				switch way {
				case "redirect", "an id without the mark":
					back := mallory.consent(mallory.leave("acme"))
					for _, name := range checkCookies {
						if name = "__Secure-" + name; way == "an id without the mark" && mallory.cookie(name) != "" {
							mallory.plant(name, resealed(t, mallory, name, func(c map[string]any) {
								c["jti"] = strings.Join(strings.SplitN(c["jti"].(string), ".", 4)[:2], ".")
							}))
						}
					}
					victim.plantedBy(mallory)
					victim.get(back, sibling...)
				case "form from a sibling", "form from another site":
					action, fields := mallory.leaveFor("/")
					victim.plantedBy(mallory)
					answer := victim.postFromElsewhere
					if way == "form from a sibling" {
						answer = func(action string, fields url.Values) *reply { return victim.postForm(action, fields, sibling...) }
					}
					if page := answer(action, fields); page.status == http.StatusOK {
						victim.postForm(page.action(), page.hidden())
					}
				case "server code":
					w := httptest.NewRecorder()
					next, err := s.auth.SignIn(w, httptest.NewRequest("POST", s.url+"/login", nil), "acme", pintle.SignInOptions{})
					if err != nil {
						t.Fatal(err)
					}
					mallory.client.Jar.SetCookies(mallory.address(), w.Result().Cookies())
					back := mallory.get(next).want(http.StatusFound).location()
					victim.plantedBy(mallory)
					victim.get(back, sibling...)
				case "passkey":
					mallory.get("/auth/webauthn-options/passkey?action=authenticate").want(http.StatusOK)
					victim.plantedBy(mallory)
					victim.postForm("/auth/callback/passkey", url.Values{"action": {"authenticate"}, "data": {`{"id":"AAAA"}`}}, sibling...)
				case "new passkey":
					mallory.get("/auth/webauthn-options/passkey?action=register&email=new@evil.example").want(http.StatusOK)
					victim.plantedBy(mallory)
					victim.postForm("/auth/callback/passkey", url.Values{"action": {"register"}, "data": {`{"id":"BBBB"}`}}, sibling...)
				}
				if victim.cookie("__Host-session") != "" {
					t.Errorf("the victim's browser is signed in as %s", victim.who())
				}
				if !strings.Contains(s.log.String(), "the sign-in began in another browser") {
					t.Errorf("refused for another reason: %s", s.log)
				}
			})
		}
	}
}

// The browser in which a flow began ends it, however it began and however the
// response comes.
func TestABoundFlowEndsWhereItBegan(t *testing.T) {
	formPost := func(s *site) {
		p := s.idp.OIDC("acme")
		p.Authorization.Params = map[string]string{"response_mode": "form_post"}
		s.Providers = []pintle.Provider{p}
	}
	for name, tt := range map[string]struct {
		change func(*site)
		signIn func(*site, *browser)
	}{
		"by a redirect": {func(*site) {}, func(_ *site, b *browser) { b.signInWith("acme") }},
		"by a form, which is posted once more": {formPost, func(_ *site, b *browser) {
			action, fields := b.leaveFor("/")
			page := b.postFromElsewhere(action, fields).want(http.StatusOK)
			b.postForm(page.action(), page.hidden())
		}},
		"begun by server code, without a form token": {func(*site) {}, func(s *site, b *browser) {
			w := httptest.NewRecorder()
			next, err := s.auth.SignIn(w, httptest.NewRequest("POST", s.url+"/login", nil), "acme", pintle.SignInOptions{})
			if err != nil {
				t.Fatal(err)
			}
			b.client.Jar.SetCookies(b.address(), w.Result().Cookies())
			b.get(b.get(next).want(http.StatusFound).location())
		}},
		"begun by server code, with one": {func(*site) {}, func(s *site, b *browser) {
			token := b.csrf()
			r := httptest.NewRequest("POST", s.url+"/login", nil)
			for _, c := range b.client.Jar.Cookies(b.address()) {
				r.AddCookie(c)
			}
			w := httptest.NewRecorder()
			next, err := s.auth.SignIn(w, r, "acme", pintle.SignInOptions{})
			if err != nil {
				t.Fatal(err)
			}
			b.client.Jar.SetCookies(b.address(), w.Result().Cookies())
			b.get(b.get(next).want(http.StatusFound).location())
			if b.csrf() != token {
				t.Error("the form token of the browser was replaced: forms that are open fail")
			}
		}},
		"begun at Auth.js": {func(*site) {}, func(_ *site, b *browser) {
			back := b.consent(b.leave("acme"))
			for _, name := range checkCookies {
				if name = "__Secure-" + name; b.cookie(name) != "" {
					b.plant(name, resealed(t, b, name, func(c map[string]any) { c["jti"], _, _ = strings.Cut(c["jti"].(string), ".") }))
				}
			}
			b.get(back)
		}},
		"on another host of the domain, if the check cookies say so": {func(s *site) {
			for _, c := range []*pintle.Cookie{&s.Cookies.State, &s.Cookies.PKCECodeVerifier} {
				c.Domain = "example.com"
			}
		}, func(_ *site, b *browser) {
			back := b.consent(b.leave("acme"))
			b.plant("__Host-"+csrfCookie, "")
			b.get(back)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, withHostPrefix, func(s *site) { s.Providers = []pintle.Provider{s.idp.OIDC("acme")} }, tt.change)
			b := s.browser()
			tt.signIn(s, b)
			if who := b.who(); who != "Ada Lovelace" {
				t.Errorf("%s is signed in; log: %s", who, s.log)
			}
		})
	}
}
