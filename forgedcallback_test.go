package pintle_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/oauth"
)

// mallory is the attacker's own account at the provider.
var mallory = authtest.Person{Subject: "6666", Name: "Mallory"}

// withoutPKCE gives a site the provider "acme", which accepts any code verifier, as
// a service does that does not know PKCE.
func withoutPKCE(protocol oauth.Protocol, checks []oauth.Check) func(*site) {
	return func(s *site) {
		s.idp = authtest.NewIdentityProvider(authtest.Options{AutoConsent: true, Algorithm: authtest.ES256})
		s.idp.Issuer = "https://idp.example"
		s.idp.Break(authtest.PKCEIgnored)
		s.net["idp.example"] = s.idp
		p := s.idp.OAuth2("acme")
		if protocol == oauth.OIDC {
			p = s.idp.OIDC("acme")
		}
		p.Checks = checks
		s.Providers = []pintle.Provider{p}
	}
}

// withOAuth1 gives a site the provider "old", which speaks OAuth 1.0a.
func withOAuth1(s *site) {
	s.idp.Register(authtest.Client{ID: "old", Secret: "x", RedirectURIs: []string{s.url + "/auth/callback/old"}})
	s.Providers = []pintle.Provider{s.idp.OAuth1("old")}
}

// stolenVisit returns the callback URL that Mallory's own sign-in would end at,
// without the parameters that are left out.
func stolenVisit(t *testing.T, s *site, provider string, without ...string) string {
	t.Helper()
	s.idp.SignInAs(mallory)
	m := s.browser()
	back := mustParse(t, m.consent(m.leave(provider)))
	s.idp.SignInAs(adaElsewhere)
	q := back.Query()
	for _, name := range without {
		q.Del(name)
	}
	back.RawQuery = q.Encode()
	s.idp.ForgetRequests()
	return back.String()
}

// The browser of a victim is sent to the callback URL of an attacker's flow,
// also while the victim has a flow under way: RFC 6749 section 10.12, RFC 9700
// section 4.7.
func TestACallbackOfAnotherFlowIsRefusedWhateverTheChecks(t *testing.T) {
	lists := map[string][]oauth.Check{
		"the default checks": nil,
		"PKCE alone":         {oauth.CheckPKCE},
		"nonce alone":        {oauth.CheckNonce},
		"state alone":        {oauth.CheckState},
		"an empty list":      {},
		"NoChecks":           {oauth.CheckNone},
	}
	for name, checks := range lists {
		for protocol, title := range map[oauth.Protocol]string{oauth.OAuth2: "OAuth 2", oauth.OIDC: "OpenID Connect"} {
			if protocol == oauth.OAuth2 && slices.Contains(checks, oauth.CheckNonce) {
				continue // a nonce needs an ID token
			}
			for _, without := range [][]string{nil, {"state"}} {
				for _, begun := range []bool{true, false} {
					for _, signedIn := range []bool{false, true} {
						id := "SA-H2"
						if slices.Contains(checks, oauth.CheckNone) && !begun {
							id = "SA-M4"
						}
						at := "state of the attacker"
						if without != nil {
							at = "no state"
						}
						run := strings.Join([]string{id, "BCP-3", "ASVS-10.2.1", title, name, at, "flow begun:", yes(begun), "signed in:", yes(signedIn)}, " ")
						t.Run(run, func(t *testing.T) {
							refuseForgedCallback(t, withoutPKCE(protocol, checks), "acme", without, begun, signedIn)
						})
					}
				}
			}
		}
	}
}

// The older protocols, which have no state parameter, are bound in another way.
func TestACallbackOfAnotherFlowIsRefusedByOlderProtocols(t *testing.T) {
	confirm := true
	for provider, change := range map[string]func(*site){
		"old":   withOAuth1,
		"steam": withSteam("6666", &confirm),
	} {
		for _, begun := range []bool{true, false} {
			for _, signedIn := range []bool{false, true} {
				t.Run("SA-H2 "+provider+" flow begun: "+yes(begun)+" signed in: "+yes(signedIn), func(t *testing.T) {
					refuseForgedCallback(t, change, provider, nil, begun, signedIn)
				})
			}
		}
	}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// refuseForgedCallback sends a victim to the callback of an attacker's flow, and
// fails if that signs the victim in or links the attacker's account.
func refuseForgedCallback(t *testing.T, change func(*site), provider string, without []string, begun, signedIn bool) {
	t.Helper()
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase), change)
	forged := stolenVisit(t, s, provider, without...)
	victim := s.browser()
	held := ""
	if signedIn {
		held = victim.signInAs(k, k.seedUser(t, people["ada"].user), pintle.StrategyDatabase)
	}
	if begun {
		victim.leave(provider)
		s.idp.ForgetRequests()
	}
	victim.get(forged).fails("/auth/error", operator)
	if victim.cookie(sessionCookie) != held {
		t.Error("the victim's session changed")
	}
	if owner := k.owner(t, provider, mallory.Subject); owner != nil {
		t.Errorf("the attacker's account belongs to %s", owner.Name)
	}
	for _, endpoint := range []authtest.Endpoint{authtest.TokenEndpoint, authtest.OAuth1AccessTokenEndpoint} {
		if sent := s.idp.Requests(endpoint); len(sent) > 0 {
			t.Errorf("%d requests reached %s", len(sent), endpoint)
		}
	}
}

// asAuthJS makes the check cookies of a browser those that Auth.js would have set
// for a provider with the listed checks: without a state that is not listed, and
// without the mark of who began the flow.
func asAuthJS(t *testing.T, b *browser, names ...string) {
	t.Helper()
	for _, name := range checkCookies {
		if !slices.Contains(names, name) {
			b.plant(name, "")
			continue
		}
		b.plant(name, resealed(t, b, name, func(c map[string]any) { c["jti"], _, _ = strings.Cut(c["jti"].(string), ".") }))
	}
}

// Both servers of a site that moves from Auth.js may answer any request.
func TestAFlowBegunAtAuthJSEndsHere(t *testing.T) {
	for name, tt := range map[string]struct {
		checks []oauth.Check
		kept   []string
	}{
		"the default checks": {nil, []string{pkceCookie}},
		"nonce alone":        {[]oauth.Check{oauth.CheckNonce}, []string{nonceCookie}},
		"state alone":        {[]oauth.Check{oauth.CheckState}, []string{stateCookie}},
		"every check":        {[]oauth.Check{oauth.CheckPKCE, oauth.CheckState, oauth.CheckNonce}, checkCookies},
	} {
		t.Run("W-50 "+name, func(t *testing.T) {
			s := newSite(t, withoutPKCE(oauth.OIDC, tt.checks))
			b := s.browser()
			back := mustParse(t, b.consent(b.leave("acme")))
			asAuthJS(t, b, tt.kept...)
			if !slices.Contains(tt.kept, stateCookie) {
				q := back.Query()
				q.Del("state")
				back.RawQuery = q.Encode()
			}
			b.get(back.String()).goesTo(s.url)
		})
	}
	t.Run("W-50 beside a state that a flow begun here left behind", func(t *testing.T) {
		// Auth.js does not clear the cookie of a check that it does not know of.
		s := newSite(t, withoutPKCE(oauth.OIDC, nil))
		b := s.browser()
		back := b.consent(b.leave("acme"))
		b.plant(pkceCookie, resealed(t, b, pkceCookie, func(c map[string]any) { c["jti"], _, _ = strings.Cut(c["jti"].(string), ".") }))
		r := b.get(strings.Replace(back, "state=", "other=", 1)).goesTo(s.url)
		if !r.clears(stateCookie) {
			t.Error("the stale state is left")
		}
	})
	t.Run("W-50 but not without any check, of which no cookie tells", func(t *testing.T) {
		s := newSite(t, withoutPKCE(oauth.OAuth2, []oauth.Check{oauth.CheckNone}))
		b := s.browser()
		back := b.consent(b.leave("acme"))
		asAuthJS(t, b)
		nothingCameOf(t, s, b, b.get(back))
	})
}

// An attacker who controls a neighbouring host can plant cookies. Those of the
// attacker's own flow must not replace some of the victim's.
func TestTheCheckCookiesOfTwoFlowsDoNotMix(t *testing.T) {
	every := []oauth.Check{oauth.CheckPKCE, oauth.CheckState, oauth.CheckNonce}
	for _, checks := range [][]oauth.Check{nil, {oauth.CheckPKCE, oauth.CheckState}, every} {
		for _, name := range []string{stateCookie, pkceCookie} {
			for _, signedIn := range []bool{false, true} {
				t.Run("W-51 SA-L4 "+name+" planted, signed in: "+yes(signedIn), func(t *testing.T) {
					k := newRecordingStore()
					s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase), withoutPKCE(oauth.OAuth2, checks))
					s.idp.SignInAs(mallory)
					m := s.browser()
					forged := m.consent(m.leave("acme"))
					planted := m.cookie(name)
					s.idp.SignInAs(adaElsewhere)

					victim := s.browser()
					held := ""
					if signedIn {
						held = victim.signInAs(k, k.seedUser(t, people["ada"].user), pintle.StrategyDatabase)
					}
					victim.leave("acme")
					victim.plant(name, planted)
					s.idp.ForgetRequests()
					victim.get(forged).fails("/auth/error", operator)
					if victim.cookie(sessionCookie) != held || k.owner(t, "acme", mallory.Subject) != nil {
						t.Error("the attacker's account was signed in or linked")
					}
					if sent := s.idp.Requests(authtest.TokenEndpoint); len(sent) > 0 {
						t.Error("the code was redeemed")
					}
				})
			}
		}
	}
	t.Run("W-51 SA-L4 a cookie with the mark and one without", func(t *testing.T) {
		s := newSite(t)
		b := s.browser()
		back := b.consent(b.leave("acme"))
		b.plant(nonceCookie, resealed(t, b, nonceCookie, func(c map[string]any) { c["jti"] = "4f3c4e0b-2d65-4a49-8e4e-0a1f9a3c1a2b" }))
		nothingCameOf(t, s, b, b.get(back))
	})
}

// copies sends one callback many times at once with copies of a browser's
// cookies, and returns how many of them signed in.
func copies(t *testing.T, s *site, b *browser, back string, n int) int {
	t.Helper()
	cookies := b.client.Jar.Cookies(b.address())
	var group sync.WaitGroup
	var mu sync.Mutex
	signedIn := 0
	for range n {
		group.Go(func() {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, back, nil)
			if err != nil {
				t.Error(err)
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
					signedIn++
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	return signedIn
}

// A response serves once at the server, too, and not only in a browser that
// forgets its cookies: SH-17, SH-77, BCP-17.
func TestAResponseIsTakenOnce(t *testing.T) {
	for name, checks := range map[string][]oauth.Check{
		"the default checks": nil,
		"NoChecks":           {oauth.CheckNone},
		"every check":        {oauth.CheckPKCE, oauth.CheckState, oauth.CheckNonce},
	} {
		t.Run("SA-L6 SH-17 of parallel callbacks one makes a token request, with "+name, func(t *testing.T) {
			s := newSite(t, withoutPKCE(oauth.OIDC, checks))
			s.idp.Break(authtest.PKCEIgnored, authtest.CodeReplayAllowed)
			b := s.browser()
			back := b.consent(b.leave("acme"))
			n := copies(t, s, b, back, 8)
			if requests := len(s.idp.Requests(authtest.TokenEndpoint)); n != 1 || requests != 1 {
				t.Errorf("%d token requests made %d sessions, want one each", requests, n)
			}
			if again := copies(t, s, b, back, 1); again != 0 || len(s.idp.Requests(authtest.TokenEndpoint)) != 1 {
				t.Error("SH-77 BCP-17 a copy of the callback works later")
			}
		})
	}
	t.Run("SA-L6 a flow begun at Auth.js without a state", func(t *testing.T) {
		s := newSite(t, withoutPKCE(oauth.OIDC, nil))
		s.idp.Break(authtest.PKCEIgnored, authtest.CodeReplayAllowed)
		b := s.browser()
		back := b.consent(b.leave("acme"))
		asAuthJS(t, b, pkceCookie)
		if n := copies(t, s, b, back, 8); n != 1 || len(s.idp.Requests(authtest.TokenEndpoint)) != 1 {
			t.Errorf("%d token requests made %d sessions, want one each", len(s.idp.Requests(authtest.TokenEndpoint)), n)
		}
	})
	t.Run("SA-L6 SH-17 OAuth 1.0a", func(t *testing.T) {
		s := newSite(t, withOAuth1)
		b := s.browser()
		back := b.consent(b.leave("old"))
		copies(t, s, b, back, 8)
		if requests := len(s.idp.Requests(authtest.OAuth1AccessTokenEndpoint)); requests != 1 {
			t.Errorf("there were %d token requests", requests)
		}
	})
	t.Run("SA-L6 SH-17 OpenID 2.0", func(t *testing.T) {
		confirm := true
		asked := 0
		var mu sync.Mutex
		s := newSite(t, withSteam("1", &confirm), func(s *site) {
			steam := s.net["steam.example"]
			s.net["steam.example"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					mu.Lock()
					asked++
					mu.Unlock()
				}
				steam.ServeHTTP(w, r)
			})
		})
		b := s.browser()
		back := b.consent(b.leave("steam"))
		if n := copies(t, s, b, back, 8); n != 1 || asked != 1 {
			t.Errorf("%d questions to the provider made %d sessions, want one each", asked, n)
		}
	})
	t.Run("SA-L6 after a token request that failed", func(t *testing.T) {
		s := newSite(t, withoutPKCE(oauth.OIDC, nil))
		b := s.browser()
		back := b.consent(b.leave("acme"))
		s.idp.Break(authtest.At(authtest.TokenEndpoint, authtest.ServerError))
		if n := copies(t, s, b, back, 1); n != 0 {
			t.Fatal("a failed token request signs in")
		}
		s.idp.Repair()
		s.idp.ForgetRequests()
		if n := copies(t, s, b, back, 1); n != 0 || len(s.idp.Requests(authtest.TokenEndpoint)) != 0 {
			t.Error("the state of a failed flow works again")
		}
	})
	t.Run("SA-L6 after the provider answered with an error", func(t *testing.T) {
		s := newSite(t, withoutPKCE(oauth.OIDC, nil))
		b := s.browser()
		back := b.consent(b.leave("acme"))
		refusal := mustParse(t, back)
		q := refusal.Query()
		q.Del("code")
		q.Set("error", "access_denied")
		refusal.RawQuery = q.Encode()
		copies(t, s, b, refusal.String(), 1)
		if n := copies(t, s, b, back, 1); n != 0 || len(s.idp.Requests(authtest.TokenEndpoint)) != 0 {
			t.Error("the state of a refused flow works again")
		}
	})
	t.Run("SA-L6 and what does not belong to the flow leaves it alone", func(t *testing.T) {
		s := newSite(t, withoutPKCE(oauth.OIDC, nil))
		b := s.browser()
		back := mustParse(t, b.consent(b.leave("acme")))
		for _, change := range []url.Values{{"state": {"x"}}, {"code": {""}}, {"iss": {"https://evil.example"}}} {
			other := *back
			q := other.Query()
			maps.Copy(q, change)
			other.RawQuery = q.Encode()
			copies(t, s, b, other.String(), 1)
		}
		if n := copies(t, s, b, back.String(), 1); n != 1 {
			t.Errorf("the flow cannot be completed; log: %s", s.log)
		}
	})
}
