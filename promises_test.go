package pintle_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/store/memstore"
)

func TestNoSecretIsEverLogged(t *testing.T) {
	// SH-88, W-44 and ASVS-16.2.5: whole flows, good and bad, with Debug on.
	store := memstore.New()
	s := newSite(t, func(s *site) {
		s.Store = store
		p := s.idp.OIDC("acme")
		p.Checks = []oauth.Check{oauth.CheckPKCE, oauth.CheckState, oauth.CheckNonce}
		p.ClientSecret = "the secret the client has at the provider"
		s.Config.Providers = []pintle.Provider{p, s.mailProvider(), &pintle.Credentials{Authorize: checkPassword}}
		s.Session.Strategy = pintle.StrategyJWT
	})
	b := s.browser()
	var secrets []string
	keep := func(name string) {
		if value := b.cookie(name); value != "" {
			secrets = append(secrets, value)
		}
	}
	back := b.consent(b.leave("acme"))
	for _, name := range []string{pkceCookie, stateCookie, nonceCookie, csrfCookie} {
		keep(name)
	}
	secrets = append(secrets, mustParse(t, back).Query().Get("code"), mustParse(t, back).Query().Get("state"))
	secrets = append(secrets, unsealed(t, pkceCookie, b.cookie(pkceCookie))["value"].(string), unsealed(t, nonceCookie, b.cookie(nonceCookie))["value"].(string))
	b.get(back).want(http.StatusFound)
	b.get(back).want(http.StatusFound) // a second time, which fails
	keep(sessionCookie)
	account := lastEvent[*pintle.SignInEvent](s, "signIn").Account
	secrets = append(secrets, account.AccessToken, account.IDToken)
	b.post("/auth/signin/email", "email", "ada@example.com")
	secrets = append(secrets, s.lastMail().Token, s.lastMail().URL)
	b.get(s.lastMail().URL)
	b.get(s.lastMail().URL) // a second time, which fails
	b.post("/auth/callback/credentials", "username", "ada", "password", "a wrong password")
	b.signIn("ada")
	keep(sessionCookie)
	b.plant(sessionCookie, "a made-up token")
	b.session()
	secrets = append(secrets, people["ada"].password, "a wrong password", "a made-up token", secret, "the secret the client has at the provider")

	log := s.log.String()
	if !strings.Contains(log, "signed in") {
		t.Fatal("Debug logs nothing")
	}
	for _, hidden := range secrets {
		if hidden == "" {
			t.Error("a secret was not found, so it is not looked for")
		} else if strings.Contains(log, hidden) {
			t.Errorf("the log holds %q", hidden)
		}
	}
}

func TestFailuresAreLoggedForTheOperator(t *testing.T) {
	// ASVS-16.3.1, ASVS-16.3.2, ASVS-16.3.3, ASVS-16.3.4, and the codes of S-5.
	s := newSite(t)
	b := s.browser()
	b.post("/auth/callback/credentials", "username", "ada", "password", "wrong")
	b.postForm("/auth/signout", nil)
	b.get("/auth/callback/acme?code=x")
	b.get("/auth/nothing")
	for _, code := range []string{"CredentialsSignin", "MissingCSRF", "InvalidCheck", "UnknownAction"} {
		if !s.log.has(code) {
			t.Errorf("S-5 no record has the code %s", code)
		}
	}
	b.signIn("ada")
	if got := s.eventNames(); !slices.Contains(got, "signIn") {
		t.Errorf("ASVS-6.3.5 the host hears of %v", got)
	}
}

func TestTheFormTokenIsAskedForWhereItMatters(t *testing.T) {
	// S-16
	s := newSite(t)
	b := s.browser()
	for _, path := range []string{"/auth/signin/acme", "/auth/signout", "/auth/callback/credentials"} {
		b.postForm(path, nil).fails("/auth/signin", "MissingCSRF")
	}
	b.postJSON("/auth/session", map[string]any{}).want(http.StatusBadRequest)
}

func TestASignInReplacesWhatWasThereBefore(t *testing.T) {
	t.Run("SH-69 a password sign-in ends the session the browser came with", func(t *testing.T) {
		store := memstore.New()
		s := newSite(t, func(s *site) {
			s.Store = store
			s.Config.Providers = append(s.Config.Providers, &pintle.Credentials{ID: "stored", Authorize: func(ctx context.Context, c *pintle.Submission) (*pintle.User, error) {
				return store.UserByEmail(ctx, c.Text("username"))
			}})
		})
		b := s.browser()
		b.signInWith("acme")
		before := b.cookie(sessionCookie)
		email := lastEvent[*pintle.SignInEvent](s, "signIn").User.Email
		b.post("/auth/callback/stored", "username", email).want(http.StatusFound)
		if now := b.cookie(sessionCookie); now == before || now == "" {
			t.Error("the token is the same")
		}
		old := s.browser()
		old.plant(sessionCookie, before)
		if who := old.who(); who != "anonymous" {
			t.Errorf("the old token still is %s", who)
		}
	})
	t.Run("ASVS-7.4.3 every other session can be ended", func(t *testing.T) {
		s := newSite(t, func(s *site) { s.Store = memstore.New() })
		here, there := s.browser(), s.browser()
		here.signInWith("acme")
		there.signInWith("acme")
		if err := s.auth.SignOutEverywhere(t.Context(), lastEvent[*pintle.SignInEvent](s, "signIn").User.ID); err != nil {
			t.Fatal(err)
		}
		if a, b := here.who(), there.who(); a != "anonymous" || b != "anonymous" {
			t.Errorf("%s and %s are signed in", a, b)
		}
	})
}

func TestFlowsAreNotMixedUp(t *testing.T) {
	t.Run("BCP-5 every flow has another verifier", func(t *testing.T) {
		b := newSite(t).browser()
		if a, c := b.leave("acme").Query().Get("code_challenge"), b.leave("acme").Query().Get("code_challenge"); a == c {
			t.Error("two flows have one challenge")
		}
	})
	t.Run("BCP-7 and ASVS-10.1.2 the code of another browser is refused", func(t *testing.T) {
		s := newSite(t)
		victim, attacker := s.browser(), s.browser()
		stolen := mustParse(t, victim.consent(victim.leave("acme"))).Query().Get("code")
		own := mustParse(t, attacker.consent(attacker.leave("acme")))
		query := own.Query()
		query.Set("code", stolen)
		own.RawQuery = query.Encode()
		attacker.get(own.String()).fails("/auth/error", "Configuration")
	})
	t.Run("BCP-17 a state is good once", func(t *testing.T) {
		b := newSite(t).browser()
		back := b.consent(b.leave("acme"))
		if r := b.get(back).want(http.StatusFound); !r.clears(stateCookie) {
			t.Error("the state stays in the browser")
		}
		b.get(back).fails("/auth/error", "Configuration")
	})
	t.Run("SH-03 the checks of one provider do not serve another", func(t *testing.T) {
		s := newSite(t, func(s *site) { s.Config.Providers = append(s.Config.Providers, s.idp.OIDC("other")) })
		b := s.browser()
		back := b.consent(b.leave("acme"))
		b.get(strings.Replace(back, "/callback/acme", "/callback/other", 1)).fails("/auth/error", "Configuration")
	})
	t.Run("SH-27 the redirect URI is the one that is registered", func(t *testing.T) {
		b := newSite(t).browser()
		if to := b.leave("acme").Query().Get("redirect_uri"); to != "http://localhost:3000/auth/callback/acme" {
			t.Errorf("redirect_uri is %s", to)
		}
	})
	t.Run("SH-62 a host that ends like ours is not ours", func(t *testing.T) {
		b := newSite(t).browser()
		b.post("/auth/signout", "callbackUrl", "http://evillocalhost:3000/x").goesTo("http://localhost:3000")
	})
	t.Run("SH-84 and BCP-10 no token is in an address", func(t *testing.T) {
		s := newSite(t)
		r := s.browser().signInWith("acme").want(http.StatusFound)
		a := lastEvent[*pintle.SignInEvent](s, "signIn").Account
		for _, token := range []string{a.AccessToken, a.IDToken, r.cookies()[sessionCookie].Value} {
			if strings.Contains(r.location(), token) {
				t.Errorf("%s holds a token", r.location())
			}
		}
	})
	t.Run("SH-71 and S-11 tenants do not share what was discovered", func(t *testing.T) {
		s := newSite(t)
		other := s.newIdentityProvider("https://idp.other.example")
		other.SignInAs(authtest.Person{Subject: "sub-of-other", Name: "Other Person", Email: "else@example.com"})
		s.serve(pintle.NewFunc(func(r *http.Request) string { return r.URL.Query().Get("tenant") },
			func(_ context.Context, tenant string) (pintle.Config, error) {
				cfg := s.Config
				if tenant == "other" {
					cfg.Providers = []pintle.Provider{other.OIDC("acme")}
				}
				return cfg, nil
			}))
		b := s.browser()
		if to := b.leave("acme"); to.Host != "idp.example" {
			t.Errorf("a browser of the first tenant is sent to %s", to.Host)
		}
		if to := mustParse(t, b.post("/auth/signin/acme?tenant=other").location()); to.Host != "idp.other.example" {
			t.Errorf("a browser of the other tenant is sent to %s", to.Host)
		}
	})
}

func TestSignOutNeedsNoProvider(t *testing.T) {
	// RP-20
	s := newSite(t)
	b := s.browser()
	b.signInWith("acme")
	delete(s.net, "idp.example")
	b.post("/auth/signout").want(http.StatusFound)
	if who := b.who(); who != "anonymous" {
		t.Errorf("%s is signed in", who)
	}
}

func TestLittleIsAskedOfProviders(t *testing.T) {
	// ASVS-10.2.3
	b := newSite(t).browser()
	if scope := b.leave("acme").Query().Get("scope"); scope != "openid profile email" {
		t.Errorf("scope is %q", scope)
	}
}

func TestEveryWayInIsListed(t *testing.T) {
	// ASVS-6.1.3
	s := newSite(t)
	var list map[string]struct{ Type string }
	s.browser().get("/auth/providers").json(&list)
	if len(list) != len(s.Config.Providers) || list["acme"].Type != "oidc" || list["credentials"].Type != "credentials" {
		t.Errorf("the list is %v", list)
	}
}

func TestALinkIsBoundToItsRequest(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.Store = memstore.New()
		s.Config.Providers = []pintle.Provider{s.mailProvider()}
	})
	b := s.browser()
	b.post("/auth/signin/email", "email", "ada@example.com")
	link := s.lastMail()
	t.Run("ASVS-6.6.2 it is of no use for another address", func(t *testing.T) {
		b.get(strings.Replace(link.URL, "ada%40example.com", "grace%40example.com", 1)).fails("/auth/error", "Verification")
	})
	t.Run("ASVS-6.5.2 the store has its hash only", func(t *testing.T) {
		store := s.Store.(*memstore.Store)
		if _, err := store.UseVerification(t.Context(), "ada@example.com", link.Token); err == nil {
			t.Error("the store knows the token")
		}
	})
}

func TestSetCookieLines(t *testing.T) {
	t.Run("CK-11 each cookie is one line, in the order of the reference", func(t *testing.T) {
		lines := newSite(t).browser().get("/auth/csrf").header["Set-Cookie"]
		if len(lines) != 2 || !strings.HasPrefix(lines[0], csrfCookie) || !strings.HasPrefix(lines[1], callbackURLCookie) {
			t.Errorf("the lines are %q", lines)
		}
	})
	t.Run("CK-6 a secure cookie is cleared as one", func(t *testing.T) {
		s := newSite(t, func(s *site) { s.URL, s.url = "https://localhost:3000", "https://localhost:3000" })
		b := s.browser()
		b.signIn("ada")
		gone := b.post("/auth/signout").cookies()["__Secure-"+sessionCookie]
		if gone == nil || !gone.Secure || gone.MaxAge >= 0 {
			t.Errorf("the cookie is %v", gone)
		}
	})
	t.Run("CK-3 a lifetime that browsers do not keep is pointed out", func(t *testing.T) {
		s := newSite(t, func(s *site) { s.Session.MaxAge = 500 * 24 * time.Hour })
		if !s.log.has("cookie-lifetime") {
			t.Error("the log says nothing")
		}
	})
}

func TestBodiesHeadersAndQueriesAreBounded(t *testing.T) {
	// S-43
	s := newSite(t)
	for name, r := range map[string]*http.Request{
		"a body":     httptest.NewRequest(http.MethodPost, s.url+"/auth/session", strings.NewReader(`{"data":"`+strings.Repeat("x", 1<<20)+`"}`)),
		"a query":    httptest.NewRequest(http.MethodGet, s.url+"/auth/signin?x="+strings.Repeat("x", 1<<20), nil),
		"many pairs": httptest.NewRequest(http.MethodGet, s.url+"/auth/signin?"+strings.Repeat("x&", 100_000), nil),
	} {
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.auth.ServeHTTP(w, r)
		if w.Code != http.StatusBadRequest && w.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("%s is answered with status %d", name, w.Code)
		}
	}
}

func TestTheHostsLoggerDecides(t *testing.T) {
	t.Run("S-27 records are those of log/slog, with the code as an attribute", func(t *testing.T) {
		s := newSite(t)
		s.browser().get("/auth/callback/acme?code=x")
		if !s.log.has("InvalidCheck") {
			t.Errorf("the log is %s", s.log)
		}
	})
}

func TestTheHostsClientMakesEveryRequest(t *testing.T) {
	// Q18, oidcc-client-test-discovery-openid-config,
	// oidcc-client-test-discovery-jwks-uri-keys,
	// oidcc-client-test-client-secret-basic and
	// oidcc-client-test-scope-userinfo-claims: the network of the test is
	// reachable through the host's client only.
	s := newSite(t, func(s *site) {
		p := s.idp.OIDC("acme")
		p.ProfileFromUserInfo = true
		s.Config.Providers = []pintle.Provider{p}
	})
	s.browser().signInWith("acme").want(http.StatusFound)
	for _, endpoint := range []authtest.Endpoint{authtest.DiscoveryEndpoint, authtest.JWKSEndpoint, authtest.TokenEndpoint, authtest.UserInfoEndpoint} {
		if _, asked := s.idp.LastRequest(endpoint); !asked {
			t.Errorf("%v received no request", endpoint)
		}
	}
	if u := lastEvent[*pintle.SignInEvent](s, "signIn").User; u.Email == "" || u.Name == "" {
		t.Errorf("the user is %+v", u)
	}
}
