package pintle_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/connection"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/store/memstore"
)

const initiateAcme = "/auth/initiate/acme?iss=https%3A%2F%2Fidp.example"

// initiable is a site whose provider "acme" may begin sign-ins. Its provider "other" may not.
func initiable(t *testing.T, strategy pintle.SessionStrategy, changes ...func(*site)) *site {
	t.Helper()
	return newSite(t, append([]func(*site){func(s *site) {
		acme := s.idp.OIDC("acme")
		acme.AllowInitiated = true
		s.Providers = []pintle.Provider{acme, s.idp.OIDC("other"), s.newIdentityProvider("https://second.example").OIDC("second")}
		s.Store, s.Session.Strategy = memstore.New(), strategy
		s.Session.Revocation = &memstore.Revocations{}
	}}, changes...)...)
}

// isInitiated follows a browser to the provider and back.
func (b *browser) isInitiated(path string) *reply {
	b.t.Helper()
	to, err := url.Parse(b.get(path).want(http.StatusFound).location())
	if err != nil {
		b.t.Fatal(err)
	}
	return b.get(b.consent(to))
}

// RP-18, RPX-115, RPX-117. A provider begins an ordinary sign-in. In the suite of the OpenID
// Foundation this is oidcc-client-test-3rd-party-init-login.
func TestAProviderBeginsASignIn(t *testing.T) {
	inBothStrategies(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := initiable(t, strategy)
		b := s.browser()
		r := b.get(initiateAcme + "&login_hint=ada&target_link_uri=%2Forders&prompt=none&scope=openid+admin&client_id=evil").want(http.StatusFound)
		q := mustParse(t, r.location()).Query()
		if q.Get("login_hint") != "ada" || q.Get("prompt") != "" || strings.Contains(q.Get("scope"), "admin") || q.Get("client_id") != "acme" || q.Get("nonce") == "" && q.Get("state") == "" {
			t.Errorf("the browser is sent on with %v", q)
		}
		for name := range r.cookies() {
			if name != stateCookie && name != pkceCookie && name != nonceCookie {
				t.Errorf("RPX-117 the answer sets the cookie %s", name)
			}
		}
		if got := r.header.Get("Cache-Control"); !strings.Contains(got, "no-store") {
			t.Errorf("RPX-117 Cache-Control is %q", got)
		}
		b.get(b.consent(mustParse(t, r.location()))).goesTo(s.url + "/orders")
		if b.who() != "Ada Lovelace" {
			t.Errorf("signed in as %s", b.who())
		}
		// The same user again: the session goes on without a question.
		before := b.sub()
		b.isInitiated(initiateAcme).goesTo(s.url)
		if b.sub() != before {
			t.Errorf("signed in as %q, before as %q", b.sub(), before)
		}
	})
}

// A form of another site brings no cookies along, so that the flow begins with a second
// request.
func TestAProviderBeginsASignInByAForm(t *testing.T) {
	s := initiable(t, pintle.StrategyJWT)
	b := s.browser()
	form := url.Values{"iss": {"https://idp.example"}, "login_hint": {"ada"}, "target_link_uri": {"/orders"}, "csrfToken": {"x"}, "scope": {"admin"}}
	r := b.postForm("/auth/initiate/acme", form, "Origin", "https://idp.example", "Sec-Fetch-Site", "cross-site").want(http.StatusFound)
	if len(r.cookies()) != 0 || r.location() != s.url+initiateAcme+"&login_hint=ada&target_link_uri=%2Forders" {
		t.Errorf("sent to %s with the cookies %v", r.location(), r.cookies())
	}
	b.isInitiated(r.location()).goesTo(s.url + "/orders")
}

// RPT-72, RPX-115. What does not name the provider, or names it twice, begins nothing. The
// target is one of this site.
func TestAnInitiationIsChecked(t *testing.T) {
	s := initiable(t, pintle.StrategyJWT)
	b := s.browser()
	for _, query := range []string{
		"", "?iss=", "?iss=https%3A%2F%2Fevil.example", "?iss=https%3A%2F%2Fidp.example%2F", "?iss=https%3A%2F%2FIDP.example",
		"?iss=https%3A%2F%2Fidp.example&iss=https%3A%2F%2Fidp.example", "?iss=https%3A%2F%2Fidp.example&iss=https%3A%2F%2Fevil.example",
	} {
		b.get("/auth/initiate/acme" + query).want(http.StatusBadRequest)
		b.postForm("/auth/initiate/acme", mustParse(t, "http://x/"+query).Query()).want(http.StatusBadRequest)
	}
	for _, path := range []string{"/auth/initiate", "/auth/initiate/", "/auth/initiate/other?iss=https%3A%2F%2Fidp.example", "/auth/initiate/nowhere?iss=x", "/auth/initiate/%61cme?iss=https%3A%2F%2Fidp.example"} {
		b.get(path).want(http.StatusBadRequest)
	}
	for _, target := range []string{"//evil.example", "https://evil.example/x", `/\evil.example`, "https://idp.example@evil.example", "/auth/callback/acme?code=x&state=y", "javascript:alert(1)", "/" + strings.Repeat("a", 3000)} {
		r := b.get(initiateAcme + "&target_link_uri=" + url.QueryEscape(target))
		if r.status == http.StatusBadRequest {
			continue
		}
		b.get(b.consent(mustParse(t, r.location()))).goesTo(s.url)
	}
	if hint := mustParse(t, b.get(initiateAcme+"&login_hint="+strings.Repeat("a", 257)).location()).Query().Get("login_hint"); hint != "" {
		t.Errorf("a hint of 257 bytes is passed on: %q", hint)
	}
}

// RPT-72, RPX-116. Any site can have a browser begin such a flow, with an account of an
// attacker at the end of it. It links nothing, and takes no user's place without a question.
func TestAnInitiatedSignInLinksNothing(t *testing.T) {
	inBothStrategies(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		for _, known := range []bool{false, true} {
			s := initiable(t, strategy)
			mallory := authtest.Person{Subject: "666", Name: "Mallory", Email: "mallory@evil.example"}
			s.idp.SignInAs(mallory)
			attacker := ""
			if known {
				b := s.browser()
				b.signInWith("acme").goesTo(s.url)
				attacker = b.sub()
			}
			victim := s.browser()
			victim.signInWith("second").goesTo(s.url)
			before := victim.sub()
			r := victim.isInitiated(initiateAcme + "&target_link_uri=%2Forders").want(http.StatusOK)
			if !strings.Contains(r.body, "Sign in as another user?") || !strings.Contains(r.body, "Ada Lovelace") || !strings.Contains(r.header.Get("Cache-Control"), "no-store") {
				t.Fatalf("RPT-72 no question is asked: %s", r.body)
			}
			accounts, err := s.Store.UserAccounts(t.Context(), before)
			if err != nil || len(accounts) != 1 || victim.sub() != before {
				t.Errorf("RPT-72 known %t: the user has the accounts %v, %v, and is signed in as %q", known, accounts, err, victim.sub())
			}
			// Another site cannot answer, with or without the words of the form.
			fields := r.hidden()
			for name, form := range map[string]url.Values{"no token": {"replace": {"1"}}, "another token": {"replace": {"1"}, "csrfToken": {"x"}}, "from elsewhere": fields} {
				sender := "https://evil.example"
				if to := victim.postForm("/auth/initiate/acme", form, "Origin", sender, "Sec-Fetch-Site", "cross-site"); to.errorCode() != "MissingCSRF" {
					t.Errorf("RPT-72 %s: status %d, to %s", name, to.status, to.location())
				}
			}
			again := victim.postForm("/auth/initiate/acme", fields, "Origin", s.url).want(http.StatusFound)
			back := victim.consent(mustParse(t, again.location()))
			elsewhere := s.browser()
			elsewhere.get(back)
			if elsewhere.sub() != "" {
				t.Error("the flow ends in another browser")
			}
			victim.get(back).goesTo(s.url + "/orders")
			if now := victim.sub(); now == before || now == "" || known && now != attacker {
				t.Errorf("after the answer the browser is signed in as %q, before as %q", now, before)
			}
			if accounts, err := s.Store.UserAccounts(t.Context(), before); err != nil || len(accounts) != 1 {
				t.Errorf("RPT-72 the first user now has the accounts %v, %v", accounts, err)
			}
		}
	})
}

// RPX-116. The answer of a user is good for that user's session only.
func TestTheAnswerIsForOneUser(t *testing.T) {
	s := initiable(t, pintle.StrategyJWT)
	s.idp.SignInAs(authtest.Person{Subject: "666", Name: "Mallory"})
	b := s.browser()
	b.signInWith("second").goesTo(s.url)
	r := b.isInitiated(initiateAcme)
	back := b.consent(mustParse(t, b.postForm("/auth/initiate/acme", r.hidden(), "Origin", s.url).location()))
	second := s.net["second.example"].(*authtest.IdentityProvider)
	second.SignInAs(authtest.Person{Subject: "3", Name: "Alan"})
	other := s.browser()
	other.signInWith("second").goesTo(s.url)
	b.plant(sessionCookie, other.cookie(sessionCookie))
	if r := b.get(back).want(http.StatusOK); !strings.Contains(r.body, "Alan") {
		t.Error("the session of another user is replaced without a question")
	}
}

// RPX-116. An initiated flow is no second proof of an address: another site begins it.
func TestAnInitiatedSignInProvesNoAddress(t *testing.T) {
	s, k := hijackSite(t, pintle.StrategyDatabase, func(s *site) { s.Providers[0].(*pintle.OAuth).AllowInitiated = true })
	s.browser().signInWith("acme").goesTo(s.url) // the attacker's user has the address of the victim
	victim := s.browser()
	victim.isAsked(victim.get(victim.mailTo(victimAddress).URL))
	victim.isInitiated(initiateAcme).goesTo(s.url)
	if user := k.owner(t, "acme", attackerElsewhere.Subject); user == nil || !user.EmailVerified.IsZero() {
		t.Errorf("the address of the attacker's user counts as proven: %+v", user)
	}
}

// RPX-115. Connections begin sign-ins, too, if they are allowed to.
func TestAConnectionBeginsASignIn(t *testing.T) {
	s, source := connectedSite(t)
	b := s.browser()
	path := "/auth/initiate/sso-corp?iss=https%3A%2F%2Fidp.corp.example"
	b.get(path).want(http.StatusBadRequest)
	b.get("/auth/initiate/sso-nowhere?iss=x").want(http.StatusBadRequest)
	source.change("corp", func(c *connection.Connection) { c.AllowInitiated = true })
	s.again(t, func(*pintle.Config) {})
	b.get("/auth/initiate/sso-corp?iss=https%3A%2F%2Fidp.rival.example").want(http.StatusBadRequest)
	b.isInitiated(path).goesTo(s.url)
	if b.who() != "Ada of corp" {
		t.Errorf("signed in as %s", b.who())
	}
	source.mu.Lock()
	source.connection = func(context.Context, string) (*connection.Connection, error) { return nil, errBroken }
	source.mu.Unlock()
	s.again(t, func(*pintle.Config) {})
	b.get(path).fails("/auth/error", operator)
}

// RPX-115. A provider of many tenants begins a sign-in for one of them.
func TestATenantBeginsASignIn(t *testing.T) {
	const template = "https://idp.example/{tenantid}/v2.0"
	s := newSite(t, func(s *site) {
		entra := s.idp.OIDC("entra")
		entra.AllowInitiated, entra.Quirks.TenantIssuer = true, true
		entra.Issuer, entra.WellKnown = "https://idp.example/common/v2.0", "https://idp.example/.well-known/openid-configuration"
		entra.Quirks.Metadata = func(document map[string]any) error { document["issuer"] = template; return nil }
		s.Providers = []pintle.Provider{entra}
	})
	for issuer, want := range map[string]int{
		"https://idp.example/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0":  http.StatusFound,
		"https://idp.example/72F988BF-86F1-41AF-91AB-2D7CD011DB47/v2.0":  http.StatusBadRequest,
		"https://idp.example/{tenantid}/v2.0":                            http.StatusBadRequest,
		"https://idp.example//v2.0":                                      http.StatusBadRequest,
		"https://idp.example/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0/": http.StatusBadRequest,
		"https://idp.example":                                            http.StatusBadRequest,
	} {
		if r := s.browser().get("/auth/initiate/entra?iss=" + url.QueryEscape(issuer)); r.status != want {
			t.Errorf("%s: status %d, want %d", issuer, r.status, want)
		}
	}
}

// New refuses providers that cannot begin a sign-in.
func TestWhatCannotBeginASignIn(t *testing.T) {
	s := newSite(t)
	plain := s.idp.OAuth2("acme")
	anyone := s.idp.OIDC("acme")
	anyone.Issuer, anyone.WellKnown = "", "https://idp.example/.well-known/openid-configuration"
	for _, p := range []*pintle.OAuth{plain, anyone} {
		p.AllowInitiated = true
		cfg := s.Config
		cfg.Providers = []pintle.Provider{p}
		if _, err := pintle.New(cfg); !errors.Is(err, pintle.CodeConfiguration) || !strings.Contains(err.Error(), "AllowInitiated") {
			t.Errorf("protocol %v: New: %v", p.Protocol == oauth.OIDC, err)
		}
	}
}
