package pintle_test

import (
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/store/memstore"
)

var checkCookies = []string{stateCookie, pkceCookie, nonceCookie}

// nothingCameOf fails the test when a callback signed a user in or had a code
// redeemed.
func nothingCameOf(t *testing.T, s *site, b *browser, r *reply) {
	t.Helper()
	r.fails("/auth/error", operator)
	if who := b.who(); who != "anonymous" {
		t.Errorf("%s is signed in", who)
	}
	if sent := s.idp.Requests(authtest.TokenEndpoint); len(sent) > 0 {
		t.Error("the code was sent to the token endpoint")
	}
	if !s.log.has("InvalidCheck") {
		t.Errorf("the log does not say InvalidCheck: %s", s.log)
	}
}

// SH-03, SH-05, SH-06, SH-79, SH-85, BCP-3, BCP-5, BCP-6, ASVS-10.1.2,
// ASVS-10.2.1: each of the three cookies has to be there, be ours, and belong to
// this flow.
func TestACallbackNeedsEveryCheckOfItsOwnFlow(t *testing.T) {
	spoil := map[string]func(t *testing.T, b *browser, name string) string{
		"missing": func(*testing.T, *browser, string) string { return "" },
		"that cannot be opened": func(_ *testing.T, b *browser, name string) string {
			return b.cookie(name)[:40]
		},
		"sealed with another secret": func(t *testing.T, b *browser, name string) string {
			other := newSite(t, func(s *site) { s.Secrets = []string{"another secret of 32 characters or more"} }).browser()
			other.leave("acme")
			return other.cookie(name)
		},
		"SH-05 holding a session": func(t *testing.T, _ *browser, _ string) string {
			return sealed(t, sessionCookie, claimsFor("ada"))
		},
		"holding the value of another check": func(_ *testing.T, b *browser, name string) string {
			return b.cookie(checkCookies[(slices.Index(checkCookies, name)+1)%3])
		},
		"of another provider": func(t *testing.T, b *browser, name string) string {
			return resealed(t, b, name, func(c map[string]any) { c["provider"] = "other" })
		},
		"of no provider": func(t *testing.T, b *browser, name string) string {
			return resealed(t, b, name, func(c map[string]any) { delete(c, "provider") })
		},
		"that is empty": func(t *testing.T, b *browser, name string) string {
			return resealed(t, b, name, func(c map[string]any) { c["value"] = "" })
		},
		"that is no text": func(t *testing.T, b *browser, name string) string {
			return resealed(t, b, name, func(c map[string]any) { c["value"] = 7 })
		},
		"that has expired": func(t *testing.T, b *browser, name string) string {
			return resealed(t, b, name, func(c map[string]any) { c["exp"] = time.Now().Add(-16 * time.Second).Unix() })
		},
		"SA-L6 that expires after its use is forgotten": func(t *testing.T, b *browser, name string) string {
			return resealed(t, b, name, func(c map[string]any) { c["exp"] = time.Now().Add(16 * time.Minute).Unix() })
		},
		"that never expires": func(t *testing.T, b *browser, name string) string {
			return resealed(t, b, name, func(c map[string]any) { delete(c, "exp") })
		},
	}
	for how, value := range spoil {
		for _, name := range checkCookies {
			t.Run(name+" "+how, func(t *testing.T) {
				s := newSite(t)
				b := s.browser()
				back := b.consent(b.leave("acme"))
				b.plant(name, value(t, b, name))
				nothingCameOf(t, s, b, b.get(back))
			})
		}
	}
}

// resealed is what a check cookie holds after a change.
func resealed(t *testing.T, b *browser, name string, change func(map[string]any)) string {
	t.Helper()
	claims := unsealed(t, name, b.cookie(name))
	change(claims)
	return sealed(t, name, claims)
}

// SH-03, BCP-8, ASVS-10.2.2: an answer of one provider does not complete the flow of another.
func TestAnAnswerAtTheCallbackOfAnotherProviderIsRefused(t *testing.T) {
	var other *authtest.IdentityProvider
	s := newSite(t, func(s *site) {
		other = s.newIdentityProvider("https://other.example")
		s.Providers = append(s.Providers, other.OIDC("other"))
	})
	b := s.browser()
	back := strings.Replace(b.consent(b.leave("acme")), "/callback/acme", "/callback/other", 1)
	nothingCameOf(t, s, b, b.get(back))
	if sent := other.Requests(authtest.TokenEndpoint); len(sent) > 0 {
		t.Error("the code was sent to the other provider")
	}
}

// SH-06, BCP-7, ASVS-10.1.2: what begins in one browser does not end in another.
func TestAFlowEndsInTheBrowserItBeganIn(t *testing.T) {
	s := newSite(t)
	ada, eve := s.browser(), s.browser()
	back := eve.consent(eve.leave("acme"))
	nothingCameOf(t, s, ada, ada.get(back))

	// BCP-7: nor does a code that was issued to another browser, in a flow of
	// this one.
	mine := mustParse(t, ada.consent(ada.leave("acme")))
	q := mine.Query()
	q.Set("code", mustParse(t, back).Query().Get("code"))
	mine.RawQuery = q.Encode()
	ada.get(mine.String()).fails("/auth/error", operator)
	if who := ada.who(); who != "anonymous" {
		t.Errorf("%s is signed in with the code of another browser", who)
	}
}

// W-14, Q8, SH-77, BCP-17, ASVS-6.5.1: the checks of a flow serve once, whether it
// succeeds or fails.
func TestAFlowCanBeCompletedOnce(t *testing.T) {
	t.Run("after a success", func(t *testing.T) {
		s := newSite(t)
		s.idp.Break(authtest.CodeReplayAllowed)
		b := s.browser()
		back := b.consent(b.leave("acme"))
		r := b.get(back).goesTo(s.url)
		for _, name := range checkCookies {
			if !r.clears(name) || b.cookie(name) != "" {
				t.Errorf("%s is left", name)
			}
		}
		s.idp.ForgetRequests()
		b.plant(sessionCookie, "")
		nothingCameOf(t, s, b, b.get(back))
	})
	t.Run("after a failure", func(t *testing.T) {
		s := newSite(t)
		b := s.browser()
		back := b.consent(b.leave("acme"))
		s.idp.Break(authtest.At(authtest.TokenEndpoint, authtest.ServerError))
		r := b.get(back).fails("/auth/error", operator)
		b.get(r.location()).want(http.StatusInternalServerError)
		for _, name := range checkCookies {
			if b.cookie(name) != "" {
				t.Errorf("%s is left", name)
			}
		}
		s.idp.Repair()
		s.idp.ForgetRequests()
		nothingCameOf(t, s, b, b.get(back))
	})
	t.Run("but a page without an error leaves a flow alone", func(t *testing.T) {
		s := newSite(t)
		b := s.browser()
		back := b.consent(b.leave("acme"))
		b.get("/auth/signin").want(http.StatusOK)
		b.get("/auth/error").want(http.StatusOK)
		b.get(back).goesTo(s.url)
	})
}

// SH-17: of two callbacks that come at once, one signs in.
func TestTwoCallbacksAtOnceMakeOneSession(t *testing.T) {
	for range 10 {
		s := newSite(t, inDatabase(memstore.New()))
		b := s.browser()
		back := b.consent(b.leave("acme"))
		var group sync.WaitGroup
		var mu sync.Mutex
		sessions := 0
		cookies := b.client.Jar.Cookies(b.address())
		for range 2 {
			group.Go(func() {
				r, err := http.NewRequestWithContext(t.Context(), "GET", back, nil)
				if err != nil {
					return
				}
				for _, c := range cookies {
					r.AddCookie(c)
				}
				resp, err := s.net.RoundTrip(r)
				if err != nil {
					t.Error(err)
					return
				}
				defer resp.Body.Close()
				for _, c := range resp.Cookies() {
					if c.Name == sessionCookie && c.Value != "" {
						mu.Lock()
						sessions++
						mu.Unlock()
					}
				}
			})
		}
		group.Wait()
		if sessions != 1 {
			t.Fatalf("there are %d sessions", sessions)
		}
	}
}

// BCP-17, WA-1: who takes more than a quarter of an hour begins again.
func TestAFlowHasFifteenMinutes(t *testing.T) {
	for _, tt := range []struct {
		wait time.Duration
		ok   bool
	}{{14*time.Minute + 59*time.Second, true}, {15*time.Minute + 16*time.Second, false}} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t)
			b := s.browser()
			to := b.leave("acme")
			kept := map[string]string{}
			for _, name := range checkCookies {
				kept[name] = b.cookie(name)
			}
			time.Sleep(tt.wait)
			for name, value := range kept {
				b.plant(name, value) // also where the browser would have dropped it
			}
			r := b.get(b.consent(to))
			if ok := r.location() == s.url; ok != tt.ok {
				t.Errorf("after %v the browser is sent to %s", tt.wait, r.location())
			}
		})
	}
}

// RP-1, BCP-1, BCP-4, BCP-9, SH-80: the request to the provider.
func TestTheProviderIsAskedForACodeWithEveryProtection(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	seen := map[string]bool{}
	for range 3 {
		q := b.leave("acme").Query()
		want := map[string]string{
			"response_type": "code", "client_id": "acme", "redirect_uri": s.url + "/auth/callback/acme",
			"scope": "openid profile email", "code_challenge_method": "S256",
		}
		for name, value := range want {
			if got := q[name]; !slices.Equal(got, []string{value}) {
				t.Errorf("%s is %q, want %q", name, got, value)
			}
		}
		for _, name := range []string{"state", "nonce", "code_challenge"} {
			if value := q.Get(name); len(value) < 43 || seen[value] {
				t.Errorf("SH-80 %s is %q: too short, or used before", name, value)
			} else {
				seen[value] = true
			}
		}
	}
}

// W-15, Q19, BCP-19, RP-18: no parameter that a link adds to a sign-in changes
// its user, and the rest is passed on (RP-2).
func TestTheQueryOfASignInDoesNotChangeWhoseItIs(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	hostile := url.Values{}
	for _, name := range []string{
		"client_id", "redirect_uri", "response_type", "response_mode", "state", "nonce", "code_challenge", "code_challenge_method",
		"request", "request_uri", "iss", "registration",
	} {
		hostile.Set(name, "evil")
	}
	friendly := url.Values{"prompt": {"login"}, "login_hint": {"ada@example.com"}, "ui_locales": {"de"}, "scope": {"openid email"}}
	asked := maps.Clone(hostile)
	maps.Copy(asked, friendly)
	q := mustParse(t, b.post("/auth/signin/acme?"+asked.Encode()).want(http.StatusFound).location()).Query()
	for name := range hostile {
		if name != "iss" && name != "registration" && slices.Contains(q[name], "evil") {
			t.Errorf("the provider is sent %s=%q", name, q[name])
		}
	}
	for name, want := range friendly {
		if !slices.Equal(q[name], want) {
			t.Errorf("the provider is sent %s=%q, want %q", name, q[name], want)
		}
	}
	// What the form itself holds stays here.
	q = mustParse(t, b.post("/auth/signin/acme", "prompt", "none", "password", "x").want(http.StatusFound).location()).Query()
	if q.Has("prompt") || q.Has("password") || q.Has("csrfToken") {
		t.Errorf("the provider is sent fields of the form: %v", q)
	}
}

// W-18, Q24, BCP-3: a list of checks replaces the default, as a whole. A state is
// always there: W-50.
func TestTheHostChoosesTheChecks(t *testing.T) {
	for _, tt := range []struct {
		name    string
		checks  []oauth.Check
		cookies []string
	}{
		{"by default", nil, []string{pkceCookie, stateCookie}},
		{"state alone", []oauth.Check{oauth.CheckState}, []string{stateCookie}},
		{"all", []oauth.Check{oauth.CheckState, oauth.CheckPKCE, oauth.CheckNonce}, checkCookies},
		{"nonce alone", []oauth.Check{oauth.CheckNonce}, []string{nonceCookie, stateCookie}},
		{"an empty list", []oauth.Check{}, []string{stateCookie}},
		{"none", []oauth.Check{oauth.CheckNone}, []string{stateCookie}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, func(s *site) {
				s.idp = authtest.NewIdentityProvider(authtest.Options{AutoConsent: true, Algorithm: authtest.ES256})
				s.idp.Issuer = "https://idp.example"
				s.net["idp.example"] = s.idp
				p := s.idp.OIDC("acme")
				p.Checks = tt.checks
				s.Providers = []pintle.Provider{p}
			})
			b := s.browser()
			back := b.consent(b.leave("acme"))
			for _, name := range checkCookies {
				if has, want := b.cookie(name) != "", slices.Contains(tt.cookies, name); has != want {
					t.Errorf("%s is set: %t, want %t", name, has, want)
				}
			}
			b.get(back).goesTo(s.url)
		})
	}
}

// W-16, CK-4, oidcc-client-formpost-basic-certification-test-plan: an answer by
// a form comes from another site, and finds its checks.
func TestAProviderMayAnswerWithAForm(t *testing.T) {
	newFormSite := func(t *testing.T) *site {
		return newSite(t, func(s *site) {
			s.url = "https://app.localhost"
			p := s.idp.OIDC("acme")
			p.Authorization.Params = map[string]string{"response_mode": "form_post"}
			s.Providers = []pintle.Provider{p}
		})
	}
	answer := func(t *testing.T, b *browser, to string) *reply {
		page := b.get(to).want(http.StatusOK)
		action := regexp.MustCompile(`action="([^"]*)"`).FindStringSubmatch(page.body)
		if action == nil {
			t.Fatalf("the provider shows no form: %s", page.body)
		}
		fields := page.hidden()
		if len(fields) == 0 {
			t.Fatalf("the form has no fields: %s", page.body)
		}
		return b.postForm(html.UnescapeString(action[1]), fields)
	}
	t.Run("with a code", func(t *testing.T) {
		s := newFormSite(t)
		b := s.browser()
		r := b.post("/auth/signin/acme")
		for _, name := range checkCookies {
			c := r.cookies()["__Secure-"+name]
			if c == nil || c.SameSite != http.SameSiteNoneMode || !c.Secure {
				t.Errorf("%s is set as %v, and would not be sent with the form", name, c)
			}
		}
		answer(t, b, r.location()).goesTo(s.url)
		if who := b.who(); who != "Ada Lovelace" {
			t.Errorf("%s is signed in; log: %s", who, s.log)
		}
	})
	t.Run("oidcc-client-test-form-post-error", func(t *testing.T) {
		s := newFormSite(t)
		s.idp.Break(authtest.ResponseLoginRequired)
		b := s.browser()
		answer(t, b, b.post("/auth/signin/acme?prompt=none&max_age=0").location()).fails("/auth/signin", retry)
		if who := b.who(); who != "anonymous" {
			t.Errorf("%s is signed in", who)
		}
	})
	t.Run("and by nothing else", func(t *testing.T) {
		s := newFormSite(t)
		b := s.browser()
		page := b.get(b.post("/auth/signin/acme").location())
		b.get("/auth/callback/acme?"+page.hidden().Encode()).fails("/auth/error", operator)
	})
}

// RP-4, SH-29, SH-74, BCP-16: the client authenticates as configured.
func TestTheClientAuthenticatesAsConfigured(t *testing.T) {
	for _, method := range []string{authtest.ClientSecretBasic, authtest.ClientSecretPost, authtest.ClientSecretJWT} {
		t.Run(method, func(t *testing.T) {
			s := newSite(t, func(s *site) {
				s.idp.Register(authtest.Client{
					ID: "acme", Secret: "a secret: with + % / and spaces in it", AuthMethod: method, RedirectURIs: []string{s.url + "/auth/callback/acme"},
				})
				s.Providers = []pintle.Provider{s.idp.OIDC("acme")}
			})
			b := s.browser()
			b.signInWith("acme").goesTo(s.url)
			if r, ok := s.idp.LastRequest(authtest.TokenEndpoint); !ok || r.ClientAuth != method {
				t.Errorf("the client authenticates by %q", r.ClientAuth)
			}
		})
	}
}

// SH-84, SH-88, BCP-10, BCP-12: no address holds a token, and no redirect sends a
// form again.
func TestNoTokenIsInAnAddress(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.idp.Tamper(authtest.Tamper{Token: func(body map[string]any) {
			body["access_token"], body["refresh_token"] = "canary-access", "canary-refresh"
		}})
	})
	b := s.browser()
	replies := []*reply{b.post("/auth/signin/acme")}
	back := b.consent(mustParse(t, replies[0].location()))
	replies = append(replies, b.get(back), b.get("/auth/session"), b.post("/auth/signout"))
	for _, r := range replies {
		if text := r.location() + r.body; strings.Contains(text, "canary") || strings.Contains(text, "code_verifier") {
			t.Errorf("an answer tells a token: %s", text)
		}
		if r.status == http.StatusTemporaryRedirect || r.status == http.StatusPermanentRedirect {
			t.Errorf("an answer has status %d", r.status)
		}
	}
}
