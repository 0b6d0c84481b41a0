package pintle_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/connection"
	"github.com/pintleauth/pintle/internal/testsite"
	"github.com/pintleauth/pintle/store/memstore"
)

// A testSource is a source of connections in memory, which can fail.
type testSource struct {
	mu    sync.Mutex
	byID  map[string]connection.Connection
	asked map[string]int // how often, by id or domain

	// connection answers in the place of the source if it is not nil. ids does, too.
	connection func(ctx context.Context, id string) (*connection.Connection, error)
	ids        func(ctx context.Context, domain string) ([]string, error)
}

func (s *testSource) Connection(ctx context.Context, id string) (*connection.Connection, error) {
	s.mu.Lock()
	s.asked[id]++
	c, known := s.byID[id]
	answer := s.connection
	s.mu.Unlock()
	switch {
	case answer != nil:
		return answer(ctx, id)
	case !known:
		return nil, connection.ErrNotFound
	}
	return &c, nil
}

func (s *testSource) IDs(ctx context.Context, domain string) (ids []string, err error) {
	s.mu.Lock()
	s.asked[domain]++
	for id := range maps.Keys(s.byID) {
		if c := s.byID[id]; c.Verifies(domain) {
			ids = append(ids, id)
		}
	}
	answer := s.ids
	s.mu.Unlock()
	if answer != nil {
		return answer(ctx, domain)
	}
	return ids, nil
}

// change replaces a connection by what f makes of it, with the next version.
func (s *testSource) change(id string, f func(*connection.Connection)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.byID[id]
	c.ID = id
	c.Version++
	f(&c)
	s.byID[id] = c
}

func (s *testSource) calls(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[name]
}

// connectedSite is a site with the connections "corp" and "rival", of customers who have
// proven corp.example and rival.example. Its users are in a store, and their sessions too.
// The providers of the connections are s.net["idp.corp.example"] and s.net["idp.rival.example"].
func connectedSite(t *testing.T, changes ...func(*site)) (*site, *testSource) {
	t.Helper()
	source := &testSource{byID: map[string]connection.Connection{}, asked: map[string]int{}}
	s := newSite(t, append([]func(*site){func(s *site) {
		for _, id := range []string{"corp", "rival"} {
			idp := s.newIdentityProvider("https://idp." + id + ".example")
			idp.SignInAs(authtest.Person{Subject: "1", Name: "Ada of " + id, Email: "ada@" + id + ".example", EmailVerified: true})
			source.change(id, func(c *connection.Connection) {
				c.Issuer, c.ClientID, c.ClientSecret = idp.Issuer, "client", "any secret will do"
				c.Domains = []string{id + ".example"}
			})
		}
		s.Providers[1] = &pintle.Credentials{Authorize: checkPassword, CanSignIn: knowsNoUser}
		s.Store, s.Session.Strategy = memstore.New(), pintle.StrategyJWT
		s.Connections = connection.Config{Source: source, Client: s.HTTPClient}
	}}, changes...)...)
	return s, source
}

// op is the provider of a connection.
func (s *site) op(id string) *authtest.IdentityProvider {
	return s.net["idp."+id+".example"].(*authtest.IdentityProvider)
}

// seed stores a user.
func (s *site) seed(u pintle.User) *pintle.User {
	s.t.Helper()
	stored, err := s.Store.CreateUser(s.t.Context(), &u)
	if err != nil {
		s.t.Fatal(err)
	}
	return stored
}

// searches posts an address to the route that finds connections.
func (b *browser) searches(email string) *reply {
	b.t.Helper()
	return b.post("/auth/signin/sso", "email", email)
}

// A user signs in with the provider of their organisation, by the address or by its URL.
func TestSignInWithAConnection(t *testing.T) {
	s, _ := connectedSite(t)
	s.op("corp").SignInAs(authtest.Person{Subject: "1", Name: "Ada", Email: "Ada@corp.example", EmailVerified: true})
	b := s.browser()
	to := b.searches("ada@CORP.example").want(http.StatusFound).location()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if u.Host != "idp.corp.example" || q.Get("login_hint") != "ada@corp.example" || q.Get("redirect_uri") != s.url+"/auth/callback/sso-corp" {
		t.Errorf("the browser is sent to %s", to)
	}
	b.get(b.consent(u)).goesTo(s.url)
	first := b.sub()
	user, err := s.Store.User(t.Context(), first)
	if err != nil || user.Email != "ada@corp.example" {
		t.Fatalf("the user is %+v, %v", user, err)
	}
	again := s.browser()
	again.signInWith("sso-corp").goesTo(s.url)
	if first == "" || again.sub() != first {
		t.Errorf("signed in as %q, and then as %q", first, again.sub())
	}
	accounts, err := s.Store.UserAccounts(t.Context(), first)
	if err != nil || len(accounts) != 1 || accounts[0].Provider != "sso-corp" || !strings.HasSuffix(accounts[0].ProviderAccountID, ":1") ||
		len(accounts[0].ProviderAccountID) != 18 || accounts[0].VerifiedEmail != "ada@corp.example" {
		t.Errorf("the accounts are %+v, %v", accounts, err)
	}
}

// RPX-106: what a client can request signed out does not tell which organisations are customers.
func TestNoPageListsConnections(t *testing.T) {
	s, _ := connectedSite(t)
	b := s.browser()
	b.signInWith("sso-corp").goesTo(s.url)
	other := s.browser()
	for _, path := range []string{"/auth/providers", "/auth/signin"} {
		if body := other.get(path).want(http.StatusOK).body; strings.Contains(body, "corp") || strings.Contains(body, "rival") {
			t.Errorf("%s shows %s", path, body)
		}
	}
	page := other.get("/auth/signin").body
	if !strings.Contains(page, `action="/auth/signin/sso"`) || !strings.Contains(page, "Sign in with SSO") {
		t.Error("the sign-in page has no field for an address")
	}
	hidden, _ := connectedSite(t, func(s *site) { s.Connections.HideAddressField = true })
	if strings.Contains(hidden.browser().get("/auth/signin").body, "SSO") {
		t.Error("the sign-in page has the field that HideAddressField leaves out")
	}
	other.get("/auth/callback/sso").fails("/auth/error", operator)
}

// RPT-65, RPX-108, RPX-109. The operator of one connection decides what its tokens say. No
// claim makes its user one of another customer.
func TestAConnectionCannotBeAnother(t *testing.T) {
	const admin = "admin@corp.example"
	for _, verifies := range []bool{false, true} {
		s, source := connectedSite(t)
		source.change("rival", func(c *connection.Connection) { c.LinkVerifiedDomain = verifies })
		s.op("corp").SignInAs(authtest.Person{Subject: "1", Name: "Admin", Email: admin, EmailVerified: true})
		victim := s.browser()
		victim.signInWith("sso-corp").goesTo(s.url)
		owner := victim.sub()
		for i, claims := range []map[string]any{
			{},
			{"email_verified": true},
			{"email_verified": true, "oid": "1", "tid": "corp", "preferred_username": admin, "upn": admin},
			{"email": "ADMIN@CORP.EXAMPLE", "email_verified": "true"},
			{"email": "admin@corp.example@rival.example"},
			{"email": []string{admin}},
			{"id": owner},
		} {
			s.op("rival").SignInAs(authtest.Person{Subject: fmt.Sprint(min(i, 2)/2 + 1), Name: "Mallory", Email: admin, Claims: claims})
			b := s.browser()
			b.signInWith("sso-rival").goesTo(s.url)
			user, err := s.Store.User(t.Context(), b.sub())
			if err != nil || user.ID == owner || user.Email != "" {
				t.Errorf("RPT-65 %v: signed in as %+v, %v", claims, user, err)
			}
		}
		if user, err := s.Store.User(t.Context(), owner); err != nil || user.Email != admin {
			t.Errorf("RPT-65 the admin is now %+v, %v", user, err)
		}
	}
}

// RPX-109. What a provider itself does not vouch for is no address, in the customer's own
// domain either, and a public mail service is no customer's domain.
func TestOnlyAVerifiedDomainGivesAnAddress(t *testing.T) {
	tests := []struct {
		name   string
		email  string
		claims map[string]any
		want   string
	}{
		{"in the domain", "bob@corp.example", nil, "bob@corp.example"},
		{"in capitals", "Bob@CORP.example", nil, "bob@corp.example"},
		{"denied by the provider", "bob@corp.example", map[string]any{"email_verified": false}, ""},
		{"without a claim", "bob@corp.example", map[string]any{"email_verified": nil}, "bob@corp.example"},
		{"in a subdomain", "bob@mail.corp.example", nil, ""},
		{"in a parent", "bob@example", nil, ""},
		{"with a dot at the end", "bob@corp.example.", nil, ""},
		{"in full-width letters", "bob@\uff43orp.example", nil, ""},
		{"with the Kelvin sign", "bo\u212a@corp.example", nil, ""},
		{"two", "bob@corp.example,eve@evil.example", nil, ""},
		{"quoted", `"bob@evil.example"@corp.example`, nil, ""},
		{"of a public service", "bob@gmail.com", nil, ""},
		{"of one that the host names", "bob@post.example", nil, ""},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, source := connectedSite(t, func(s *site) { s.Connections.PublicDomains = []string{"post.example"} })
			source.change("corp", func(c *connection.Connection) { c.Domains = append(c.Domains, "gmail.com", "post.example") })
			var attempt *pintle.SignInAttempt
			s.again(t, func(cfg *pintle.Config) {
				cfg.Callbacks.SignIn = func(_ context.Context, a *pintle.SignInAttempt) (string, error) { attempt = a; return "", nil }
			})
			s.op("corp").SignInAs(authtest.Person{Subject: fmt.Sprint(i), Name: "Bob", Email: tt.email, EmailVerified: true, Claims: tt.claims})
			b := s.browser()
			b.signInWith("sso-corp").goesTo(s.url)
			user, err := s.Store.User(t.Context(), b.sub())
			if err != nil || user.Email != tt.want {
				t.Errorf("the user is %+v, %v, want the address %q", user, err, tt.want)
			}
			if attempt.Connection != "corp" || attempt.VerifiedDomain != (tt.want != "") || attempt.Profile["email"] != tt.email {
				t.Errorf("RPX-111 the attempt has connection %q, verified %t, address %v", attempt.Connection, attempt.VerifiedDomain, attempt.Profile["email"])
			}
		})
	}
}

// RPT-66, RPX-108. A connection can be given another issuer, whose subjects are its own.
func TestAnotherIssuerHasOtherAccounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, source := connectedSite(t)
		b := s.browser()
		b.signInWith("sso-corp").goesTo(s.url)
		evil := s.newIdentityProvider("https://evil.example")
		evil.SignInAs(authtest.Person{Subject: "1", Name: "Mallory", Email: "ada@evil.example", EmailVerified: true})
		source.change("corp", func(c *connection.Connection) { c.Issuer = evil.Issuer })
		time.Sleep(31 * time.Second)
		other := s.browser()
		other.signInWith("sso-corp").goesTo(s.url)
		if other.sub() == "" || other.sub() == b.sub() {
			t.Errorf("RPT-66 signed in as %q, the user of the other issuer is %q", other.sub(), b.sub())
		}
	})
}

// RPT-66, RPX-108. The tokens of an account go to the issuer that has issued them, and not to
// the one that the connection has now.
func TestTokensDoNotGoToAnotherIssuer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, source := connectedSite(t)
		source.change("corp", func(c *connection.Connection) { c.Scopes = []string{"openid", "offline_access"} })
		b := s.browser()
		b.signInWith("sso-corp").goesTo(s.url)
		accounts, err := s.Store.UserAccounts(t.Context(), b.sub())
		if err != nil || len(accounts) != 1 || accounts[0].RefreshToken == "" {
			t.Fatalf("the accounts are %v, %v", accounts, err)
		}
		id := &pintle.Account{Provider: "sso-corp", ProviderAccountID: accounts[0].ProviderAccountID}
		time.Sleep(time.Hour)
		if _, err := s.auth.Refresh(t.Context(), id); err != nil {
			t.Fatalf("the issuer has not changed, and Refresh returns %v", err)
		}
		evil := s.newIdentityProvider("https://evil.example")
		source.change("corp", func(c *connection.Connection) { c.Issuer = evil.Issuer })
		time.Sleep(time.Hour)
		if _, err := s.auth.Refresh(t.Context(), id); !errors.Is(err, pintle.ErrNoRefresh) {
			t.Errorf("RPT-66 Refresh returns %v, want ErrNoRefresh", err)
		}
		if err := s.auth.RevokeTokens(t.Context(), id); !errors.Is(err, notRevoked) {
			t.Errorf("RPT-66 RevokeTokens returns %v, want NotRevoked", err)
		}
		if n := len(evil.Requests()); n != 0 {
			t.Errorf("RPT-66 the other issuer had %d requests", n)
		}
	})
}

// The id of the account has the issuer, and 255 bytes in tables that Auth.js shares.
func TestTheLongestSubjectFitsTheTables(t *testing.T) {
	for length, fits := range map[int]bool{238: true, 239: false} {
		s, _ := connectedSite(t)
		s.op("corp").SignInAs(authtest.Person{Subject: strings.Repeat("1", length), Name: "Ada", Email: "ada@corp.example"})
		b := s.browser()
		b.signInWith("sso-corp")
		if b.sub() != "" != fits {
			t.Errorf("a subject of %d bytes signs in as %q", length, b.sub())
		}
		if !fits {
			continue
		}
		accounts, err := s.Store.UserAccounts(t.Context(), b.sub())
		if err != nil || len(accounts) != 1 || len(accounts[0].ProviderAccountID) != 255 {
			t.Errorf("the accounts are %v, %v", accounts, err)
		}
	}
}

// RPT-67, RPX-103, RPX-105. What belongs to one connection completes no flow of another, and
// a flow ends at the issuer and the client with which it began.
func TestAFlowEndsAtItsConnection(t *testing.T) {
	s, _ := connectedSite(t)
	swapped := func(back string) string { return strings.Replace(back, "/sso-rival", "/sso-corp", 1) }
	b := s.browser()
	back := b.consent(b.leave("sso-rival"))
	if code := b.get(swapped(back)).errorCode(); code != operator {
		t.Errorf("RPT-67 the answer of another connection has the error %q", code)
	}
	if n := len(s.op("corp").Requests(authtest.TokenEndpoint)); n != 0 || !s.log.has("InvalidCheck") {
		t.Errorf("RPT-67 the provider had %d requests for tokens; log: %s", n, s.log)
	}
	mixed := s.browser()
	mixed.leave("sso-corp")
	back = mixed.consent(mixed.leave("sso-rival"))
	if mixed.get(swapped(back)).errorCode() != operator || mixed.sub() != "" {
		t.Error("RPT-67 a flow of another connection signs in")
	}
}

// RPX-105, RPX-127. A flow ends at the issuer and for the client with which it began. The
// code of one provider goes to no other.
func TestAFlowDoesNotOutliveItsIssuer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, source := connectedSite(t)
		evil := s.newIdentityProvider("https://evil.example")
		for _, op := range []*authtest.IdentityProvider{s.op("corp"), evil} {
			op.Break(authtest.DiscoveryWithoutIssuerParameter) // many providers send none
		}
		at, later := s.browser(), s.browser()
		answers := []string{at.consent(at.leave("sso-corp")), later.consent(later.leave("sso-corp"))}
		source.change("corp", func(c *connection.Connection) { c.Issuer = evil.Issuer })
		at.get(answers[0])
		time.Sleep(31 * time.Second)
		later.get(answers[1])
		if at.sub() != "" || later.sub() != "" {
			t.Errorf("signed in as %q at once, and as %q later", at.sub(), later.sub())
		}
		for name, op := range map[string]*authtest.IdentityProvider{"old": s.op("corp"), "new": evil} {
			if n := len(op.Requests(authtest.TokenEndpoint)); n != 0 {
				t.Errorf("the %s issuer had %d codes", name, n)
			}
		}
	})
}

// RPT-68, RPX-103. Ids have one form, in URLs and in the configuration.
func TestIDsOfConnections(t *testing.T) {
	s, source := connectedSite(t)
	b := s.browser()
	for _, id := range []string{
		"sso-..", "SSO-corp", "Sso-1", "sso-%2e", "sso-", "sso-" + strings.Repeat("a", 65), "sso-%00", "sso-corp%00", "sso-co_rp", "sso-Corp", "sso-c.rp",
	} {
		for _, path := range []string{"/auth/signin/", "/auth/callback/", "/auth/initiate/", "/auth/backchannel-logout/", "/auth/signout/"} {
			if r := b.get(path + id); r.status != http.StatusBadRequest {
				t.Errorf("RPT-68 GET %s%s: status %d", path, id, r.status)
			}
		}
		if r := b.post("/auth/signin/" + id); r.status != http.StatusBadRequest {
			t.Errorf("RPT-68 POST %s: status %d", id, r.status)
		}
	}
	if calls := len(source.asked); calls != 0 {
		t.Errorf("RPT-68 the source was asked for %v", source.asked)
	}
	b.post("/auth/signin/sso-"+strings.Repeat("a", 64)).fails("/auth/error", operator)
	for _, id := range []string{"sso-corp", "SSO-x", "sso-", "sso"} {
		cfg := s.Config
		cfg.Providers = []pintle.Provider{s.idp.OIDC(id)}
		if _, err := pintle.New(cfg); !errors.Is(err, pintle.CodeConfiguration) || !strings.Contains(err.Error(), "Connections") {
			t.Errorf("RPT-68 a provider %q: New: %v", id, err)
		}
	}
	for _, prefix := range []string{"corp", "Corp-", "a/", "-/"} {
		cfg := s.Config
		cfg.Connections.Prefix = prefix
		if _, err := pintle.New(cfg); !errors.Is(err, pintle.CodeConfiguration) {
			t.Errorf("the prefix %q: New: %v", prefix, err)
		}
	}
	cfg := s.Config
	cfg.Connections.Source = (*testSource)(nil)
	if _, err := pintle.New(cfg); !errors.Is(err, pintle.CodeConfiguration) {
		t.Errorf("a nil source: New: %v", err)
	}
	cfg = s.Config
	cfg.Providers = nil
	if _, err := pintle.New(cfg); err != nil {
		t.Errorf("connections alone: New: %v", err)
	}
}

// failsToFind are the reasons why an address leads to no connection.
var failsToFind = map[string]func(s *site, source *testSource){
	"unknown": func(_ *site, source *testSource) { delete(source.byID, "corp") },
	"hidden": func(_ *site, source *testSource) {
		source.change("corp", func(c *connection.Connection) { c.Hidden = true })
	},
	"disabled": func(_ *site, source *testSource) {
		source.change("corp", func(c *connection.Connection) { c.Disabled = true })
	},
	"of two": func(_ *site, source *testSource) {
		source.change("rival", func(c *connection.Connection) { c.Domains = []string{"corp.example"} })
	},
	"no domain of it": func(_ *site, source *testSource) {
		source.ids = func(context.Context, string) ([]string, error) { return []string{"rival"}, nil }
	},
	"an id in capitals": func(_ *site, source *testSource) {
		source.ids = func(context.Context, string) ([]string, error) { return []string{"CORP"}, nil }
	},
	"without an issuer": func(_ *site, source *testSource) {
		source.change("corp", func(c *connection.Connection) { c.Issuer = "" })
	},
	"an inner issuer": func(_ *site, source *testSource) {
		source.change("corp", func(c *connection.Connection) { c.Issuer = "https://10.0.0.1" })
	},
	"without a secret": func(_ *site, source *testSource) {
		source.change("corp", func(c *connection.Connection) { c.ClientSecret = "" })
	},
	"provider down":   func(s *site, _ *testSource) { delete(s.net, "idp.corp.example") },
	"provider broken": func(s *site, _ *testSource) { s.op("corp").Break(authtest.DiscoveryForeignIssuer) },
	"provider hangs": func(s *site, _ *testSource) {
		s.net["idp.corp.example"] = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	},
	"source fails": func(_ *site, source *testSource) {
		source.connection = func(context.Context, string) (*connection.Connection, error) { return nil, errBroken }
	},
	"source fails for the domain": func(_ *site, source *testSource) {
		source.ids = func(context.Context, string) ([]string, error) { return nil, errBroken }
	},
	"source panics": func(_ *site, source *testSource) {
		source.ids = func(context.Context, string) ([]string, error) { panic("crash") }
	},
	"source hangs": func(_ *site, source *testSource) {
		source.connection = func(ctx context.Context, _ string) (*connection.Connection, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
	},
}

// RPT-70, RPX-107, RPX-113. The answer to an address that leads nowhere does not tell why, by
// its text, its cookies or its time.
func TestAnAddressThatLeadsNowhere(t *testing.T) {
	type outcome struct {
		status     int
		page, body string
		took       time.Duration
	}
	want := outcome{}
	for _, name := range slices.Sorted(maps.Keys(failsToFind)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, source := connectedSite(t)
				failsToFind[name](s, source)
				b := s.browser()
				token := b.csrf()
				began := time.Now()
				r := b.postForm("/auth/signin/sso", url.Values{"csrfToken": {token}, "email": {"ada@corp.example"}})
				got := outcome{took: time.Since(began)}
				r.fails("/auth/signin", "ConnectionNotFound")
				got.status, got.page = r.status, r.location()
				got.body = strings.ReplaceAll(b.get(r.location()).want(http.StatusOK).body, token, "")
				if want.page == "" {
					want = got
				}
				if got != want {
					t.Errorf("RPT-70 %+v, want %+v", got, want)
				}
				if got.took != 2*time.Second {
					t.Errorf("RPT-70 it took %v", got.took)
				}
				if !s.log.has("ConnectionNotFound") {
					t.Errorf("the log does not have it: %s", s.log)
				}
				time.Sleep(time.Minute) // requests to providers end by then
			})
		})
	}
}

// RPT-70, RPX-113. A signed-in user of a site with an account page is sent to the same page
// for every reason.
func TestASignedInUserWhoseAddressLeadsNowhere(t *testing.T) {
	for _, name := range []string{"unknown", "provider down"} {
		synctest.Test(t, func(t *testing.T) {
			s, source := connectedSite(t, func(s *site) { s.Pages.Account = "/account" })
			failsToFind[name](s, source)
			b := s.browser()
			b.signInWith("acme").goesTo(s.url)
			b.searches("ada@corp.example").fails("/auth/signin", "ConnectionNotFound")
		})
	}
}

// RPT-69, RPX-113. Only the exact domain leads to a connection.
func TestOnlyTheExactDomainIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, source := connectedSite(t)
		source.change("corp", func(c *connection.Connection) { c.Domains = append(c.Domains, "xn--bcher-kva.example") })
		source.change("rival", func(c *connection.Connection) { c.Domains = append(c.Domains, "gmail.com") })
		for _, email := range []string{"ada@corp.example", "ada@CORP.EXAMPLE", " ada@corp.example ", "ada@corp\uff0eexample", "ada@b\u00fccher.example", "ada@xn--bcher-kva.example"} {
			if to := s.browser().searches(email).location(); !strings.HasPrefix(to, "https://idp.corp.example/") {
				t.Errorf("RPT-69 %q leads to %q", email, to)
			}
		}
		for _, email := range []string{
			"", "ada", "@corp.example", "a@b@corp.example", "a@corp.example.", "a@sub.corp.example", "a@example", "a@corp.example\x00",
			"a@corp\u3002example", "a@gmail.com", "corp.example", "a@" + strings.Repeat("a", 10<<10), strings.Repeat("a", 10<<10) + "@corp.example",
			"a@xn--corp-.example", "a@corp.example@", "a@corp.example,b",
		} {
			if strings.HasPrefix(email, "a@corp.example,") {
				continue // the first address counts, as for mails
			}
			r := s.browser().searches(email)
			if r.errorCode() != "ConnectionNotFound" || r.status != http.StatusFound {
				t.Errorf("RPT-69 %.40q: status %d, sent to %.100q", email, r.status, r.location())
			}
		}
		s.browser().postForm("/auth/signin/sso", url.Values{"email": {"ada@corp.example"}}).fails("/auth/signin", "MissingCSRF")
	})
}

// RPX-113. A host can limit the search, and its limit tells nothing about the domain.
func TestTheSearchIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var looked []connection.Lookup
		s, source := connectedSite(t, func(s *site) {
			s.Connections.Allow = func(_ context.Context, l *connection.Lookup) error {
				looked = append(looked, *l)
				return errors.New("too many")
			}
		})
		for _, email := range []string{"ada@corp.example", "ada@nowhere.example", "ada"} {
			s.browser().searches(email).fails("/auth/signin", "ConnectionNotFound")
		}
		if source.calls("corp.example") != 0 {
			t.Error("the source was asked all the same")
		}
		if len(looked) != 3 || looked[0].Domain != "corp.example" || looked[2].Domain != "" || !looked[0].Client.IsValid() || looked[0].Request == nil {
			t.Errorf("Allow was called with %+v", looked)
		}
	})
}

// RPT-71, RPX-102, RPX-104, RPX-107. Faults of the source end sign-ins, and no other
// provider takes the place of a connection.
func TestFaultsOfTheSource(t *testing.T) {
	other := connection.Connection{ID: "rival", Issuer: "https://idp.rival.example", ClientID: "client", ClientSecret: "x"}
	for name, answer := range map[string]func(ctx context.Context, id string) (*connection.Connection, error){
		"error":   func(context.Context, string) (*connection.Connection, error) { return nil, errBroken },
		"panic":   func(context.Context, string) (*connection.Connection, error) { panic("crash") },
		"nothing": func(context.Context, string) (*connection.Connection, error) { return nil, nil },
		"another": func(context.Context, string) (*connection.Connection, error) { return &other, nil },
		"slow": func(ctx context.Context, _ string) (*connection.Connection, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, source := connectedSite(t)
				source.connection = answer
				began := time.Now()
				s.browser().post("/auth/signin/sso-corp").fails("/auth/error", operator)
				if took := time.Since(began); took > 6*time.Second {
					t.Errorf("RPT-71 it took %v", took)
				}
				if got := s.log.level(t, "Configuration"); got != "ERROR" {
					t.Errorf("RPT-71 the log has the level %q", got)
				}
				synctest.Wait() // the call that timed out ends at the same moment
				source.mu.Lock()
				source.connection = nil
				source.mu.Unlock()
				s.browser().signInWith("sso-corp").goesTo(s.url) // a fault is not kept
				time.Sleep(time.Minute)
			})
		})
	}
}

// RPT-71, RPX-104. A connection is kept for 30 seconds, with its metadata and keys as long as
// it does not change. An older version does not take its place.
func TestConnectionsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, source := connectedSite(t)
		discovered := func() int { return len(s.op("corp").Requests(authtest.DiscoveryEndpoint)) }
		for range 5 {
			s.browser().leave("sso-corp")
		}
		if source.calls("corp") != 1 || discovered() != 1 {
			t.Errorf("the source had %d calls, the provider %d requests", source.calls("corp"), discovered())
		}
		time.Sleep(29 * time.Second)
		s.browser().leave("sso-corp")
		if source.calls("corp") != 1 {
			t.Errorf("after 29 seconds the source had %d calls", source.calls("corp"))
		}
		time.Sleep(2 * time.Second)
		s.browser().leave("sso-corp")
		if source.calls("corp") != 2 || discovered() != 1 {
			t.Errorf("after 31 seconds the source had %d calls, the provider %d requests", source.calls("corp"), discovered())
		}
		source.change("corp", func(c *connection.Connection) { c.ClientID = "second" })
		time.Sleep(31 * time.Second)
		if id := s.browser().leave("sso-corp").Query().Get("client_id"); id != "second" {
			t.Errorf("RPT-71 the client is %q after a change", id)
		}
		source.change("corp", func(c *connection.Connection) { c.ClientID, c.Version = "first", 1 })
		time.Sleep(31 * time.Second)
		if id := s.browser().leave("sso-corp").Query().Get("client_id"); id != "second" {
			t.Errorf("RPT-71 the client is %q after an older version came", id)
		}
		if !strings.Contains(s.log.String(), "older version") {
			t.Error("RPT-71 the log does not tell")
		}
	})
}

// RPT-71, RPX-103. A connection that was deleted does not come back by a replica that lags
// behind.
func TestADeletedConnectionDoesNotComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, source := connectedSite(t)
		older := source.byID["corp"]
		source.change("corp", func(*connection.Connection) {})
		s.browser().leave("sso-corp")
		delete(source.byID, "corp")
		time.Sleep(31 * time.Second)
		s.browser().post("/auth/signin/sso-corp").fails("/auth/error", operator)
		latest := older
		latest.Version++
		for _, lagging := range []connection.Connection{older, latest} {
			source.byID["corp"] = lagging
			for range 2 {
				s.browser().post("/auth/signin/sso-corp").fails("/auth/error", operator)
			}
		}
		source.change("corp", func(*connection.Connection) {}) // the host brings it back
		s.browser().signInWith("sso-corp").goesTo(s.url)

		// A replica did not have it yet.
		lagging := source.byID["corp"]
		delete(source.byID, "corp")
		time.Sleep(31 * time.Second)
		s.browser().post("/auth/signin/sso-corp").fails("/auth/error", operator)
		source.byID["corp"] = lagging
		time.Sleep(10 * time.Minute)
		s.browser().signInWith("sso-corp").goesTo(s.url)
	})
}

// RPT-71, RPX-104. Requests at one moment ask the source once.
func TestOneRequestAsksTheSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, source := connectedSite(t)
		c := source.byID["corp"]
		source.connection = func(context.Context, string) (*connection.Connection, error) { time.Sleep(time.Second); return &c, nil }
		var wait sync.WaitGroup
		for range 20 {
			b := s.browser()
			b.csrf()
			wait.Go(func() { b.post("/auth/signin/sso-corp") })
		}
		wait.Wait()
		if source.calls("corp") != 1 {
			t.Errorf("the source had %d calls", source.calls("corp"))
		}
	})
}

// RPT-73, RPX-102. A browser that comes back is refused if the connection was disabled or
// deleted meanwhile, or cannot be read, before its provider receives the code.
func TestAConnectionDisabledDuringTheSignIn(t *testing.T) {
	for name, change := range map[string]func(*testSource){
		"disabled": func(source *testSource) { source.change("corp", func(c *connection.Connection) { c.Disabled = true }) },
		"deleted":  func(source *testSource) { delete(source.byID, "corp") },
		"unread": func(source *testSource) {
			source.connection = func(context.Context, string) (*connection.Connection, error) { return nil, errBroken }
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, source := connectedSite(t)
			b := s.browser()
			back := b.consent(b.leave("sso-corp"))
			before := len(s.op("corp").Requests())
			change(source)
			b.get(back).fails("/auth/error", operator)
			if b.sub() != "" || len(s.op("corp").Requests()) != before {
				t.Errorf("RPT-73 signed in as %q, with %d requests", b.sub(), len(s.op("corp").Requests())-before)
			}
			if name != "unread" { // what was read is used for 30 seconds
				s.browser().post("/auth/signin/sso-corp").fails("/auth/error", operator)
			}
		})
	}
}

// RPX-110. A connection takes no user over. With LinkVerifiedDomain it gets those of its
// domain who have no other way in that it would get past.
func TestLinkingByAVerifiedDomain(t *testing.T) {
	link := func(c *connection.Connection) { c.LinkVerifiedDomain = true }
	now := time.Now()
	tests := []struct {
		name     string
		change   func(*connection.Connection)
		password bool
		accounts []string
		links    bool
	}{
		{"not asked for", func(*connection.Connection) {}, false, nil, false},
		{"a proven address", link, false, nil, true},
		{"a proven address and an account elsewhere", link, false, []string{"acme"}, true},
		{"a password", link, true, nil, false},
		{"an account at another connection", link, false, []string{"sso-rival"}, false},
		{"an account at this connection", link, false, []string{"sso-corp"}, false},
		{"another domain", func(c *connection.Connection) { c.LinkVerifiedDomain, c.Domains = true, []string{"other.example"} }, false, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, source := connectedSite(t, func(s *site) {
				s.Callbacks.HasPassword = func(context.Context, *pintle.User) (bool, error) { return tt.password, nil }
			})
			source.change("corp", tt.change)
			user := s.seed(pintle.User{ID: "before", Email: "ada@corp.example", EmailVerified: now})
			for _, provider := range tt.accounts {
				if err := s.Store.LinkAccount(t.Context(), &pintle.Account{UserID: user.ID, Type: pintle.TypeOIDC, Provider: provider, ProviderAccountID: "elsewhere"}); err != nil {
					t.Fatal(err)
				}
			}
			b := s.browser()
			r := b.signInWith("sso-corp")
			switch {
			case tt.links && (r.errorCode() != "" || b.sub() != user.ID):
				t.Errorf("error %q, signed in as %q", r.errorCode(), b.sub())
			case !tt.links && b.sub() == user.ID:
				t.Error("RPX-110 the user was taken over")
			case !tt.links && tt.name != "another domain" && r.errorCode() != "OAuthAccountNotLinked":
				t.Errorf("the error is %q", r.errorCode())
			}
		})
	}
}

// RPX-111. A host can let in only users whom it has made.
func TestAConnectionWithoutProvisioning(t *testing.T) {
	s, source := connectedSite(t)
	b := s.browser()
	b.signInWith("sso-corp").goesTo(s.url)
	source.change("corp", func(c *connection.Connection) { c.DisableProvision = true })
	s.again(t, func(*pintle.Config) {})
	again := s.browser()
	again.signInWith("sso-corp").goesTo(s.url)
	s.op("corp").SignInAs(authtest.Person{Subject: "2", Name: "New", Email: "new@corp.example"})
	other := s.browser()
	other.signInWith("sso-corp").fails("/auth/error", "AccessDenied")
	if again.sub() == "" || again.sub() != b.sub() || other.sub() != "" {
		t.Errorf("signed in as %q, then %q; the new user as %q", b.sub(), again.sub(), other.sub())
	}
	s.again(t, func(cfg *pintle.Config) { cfg.Store = nil })
	other.signInWith("sso-corp").fails("/auth/error", "AccessDenied")
}

// RPX-114. A signed-in user links an account of a connection as any other, unless the
// connection never links.
func TestLinkingAConnection(t *testing.T) {
	for _, never := range []bool{false, true} {
		s, source := connectedSite(t)
		source.change("corp", func(c *connection.Connection) { c.NeverLink = never })
		b := s.browser()
		b.signInWith("acme").goesTo(s.url)
		before := b.sub()
		b.signInWith("sso-corp").goesTo(s.url)
		if linked := b.sub() == before; linked == never {
			t.Errorf("NeverLink %t: linked %t", never, linked)
		}
		planted := s.browser()
		back := planted.consent(planted.leave("sso-rival"))
		planted.plant(sessionCookie, b.cookie(sessionCookie))
		planted.get(back)
		if accounts, err := s.Store.UserAccounts(t.Context(), before); err != nil || slices.ContainsFunc(accounts, func(a *pintle.Account) bool { return a.Provider == "sso-rival" }) {
			t.Errorf("RPX-114 an account of a flow that another user began was linked: %v, %v", accounts, err)
		}
	}
}

// A sign-in that waits is not completed after its connection was disabled.
func TestASignInThatWaitsNeedsItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, source := connectedSite(t, func(s *site) {
			s.Callbacks.Hold = func(_ context.Context, p *pintle.PendingSignIn) (string, error) {
				if len(p.Authentication.Methods) > 1 {
					return "", nil
				}
				return "/second", nil
			}
		})
		good, late := s.browser(), s.browser()
		for _, b := range []*browser{good, late} {
			b.signInWith("sso-corp").goesTo(s.url + "/second")
		}
		if _, err := good.complete("otp", "hwk"); err != nil || good.sub() == "" {
			t.Errorf("the sign-in is not completed: %v", err)
		}
		source.change("corp", func(c *connection.Connection) { c.Disabled = true })
		time.Sleep(31 * time.Second)
		if _, err := late.complete("otp", "hwk"); err == nil || late.sub() != "" {
			t.Errorf("the sign-in of a disabled connection is completed: %v", err)
		}
	})
}

// An account of a connection counts as a way to sign in when another is removed, and server code
// can begin a sign-in with a connection.
func TestAccountsOfConnectionsSignIn(t *testing.T) {
	s, _ := connectedSite(t)
	b := s.browser()
	b.signInWith("acme").goesTo(s.url)
	b.signInWith("sso-corp").goesTo(s.url)
	session := b.held()
	if err := s.auth.Unlink(t.Context(), session, "acme", "1001"); err != nil {
		t.Errorf("unlink: %v", err)
	}
	if to := b.asks("sso-corp", pintle.SignInOptions{}); to.Host != "idp.corp.example" {
		t.Errorf("SignIn leads to %v", to)
	}
}

// RPT-77, RPX-124. The providers of connections are reached on public addresses only,
// whatever client the configuration has.
func TestConnectionsReachPublicAddressesOnly(t *testing.T) {
	original := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = original })
	net.DefaultResolver = testsite.Resolver(t, func(string) []netip.Addr { return []netip.Addr{netip.MustParseAddr("127.0.0.1")} })
	s, _ := connectedSite(t, func(s *site) { s.Connections.Client = nil })
	s.browser().post("/auth/signin/sso-corp").fails("/auth/error", operator)
	if !strings.Contains(s.log.String(), "not a public address") || len(s.op("corp").Requests()) != 0 {
		t.Errorf("RPT-77 the provider had %d requests; log: %s", len(s.op("corp").Requests()), s.log)
	}
	// A client of the host gets no URL that is not one of a public service.
	own, source := connectedSite(t)
	inner := own.newIdentityProvider("https://idp.internal")
	source.change("corp", func(c *connection.Connection) { c.Issuer = inner.Issuer })
	own.browser().post("/auth/signin/sso-corp").fails("/auth/error", operator)
	if len(inner.Requests()) != 0 {
		t.Error("RPT-77 a provider of the inner network had requests")
	}
}
