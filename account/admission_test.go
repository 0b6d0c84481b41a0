package account_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/connection"
	"github.com/pintleauth/pintle/internal/testsite"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/store/memstore"
)

// An admission is what SignUp.Allow was asked about.
type admission struct {
	mu    sync.Mutex
	asked []string
	none  bool // refuses every address
}

// allow lets only addresses of example.com in.
func (a *admission) allow(_ context.Context, address string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, address)
	if !a.none && strings.HasSuffix(address, "@example.com") {
		return nil
	}
	return &pintle.Error{Code: pintle.CodeAccessDenied, Detail: "company_only"}
}

func (a *admission) wantAsked(t *testing.T, want ...string) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Equal(a.asked, want) {
		t.Errorf("SignUp.Allow was asked about %q, want %q", a.asked, want)
	}
	a.asked = nil
}

// A corp is a source with one connection. Its customer has proven two domains.
type corp struct{ Of connection.Connection }

func (c corp) Connection(_ context.Context, id string) (*connection.Connection, error) {
	if id != c.Of.ID {
		return nil, connection.ErrNotFound
	}
	return &c.Of, nil
}

func (c corp) IDs(context.Context, string) ([]string, error) { return []string{c.Of.ID}, nil }

// newComing is a site with mail links, passkeys, the provider "acme", which verifies addresses,
// "lax", which does not, both of idp, and the connection "corp" to the provider at.
func newComing(t *testing.T, tokens bool, changes ...func(*pintle.Config, *account.Options)) (s *site, idp, at *authtest.IdentityProvider) {
	t.Helper()
	idp = authtest.NewIdentityProvider(authtest.Options{AutoConsent: true})
	server := httptest.NewServer(idp)
	t.Cleanup(server.Close)
	idp.Issuer = server.URL
	at = authtest.NewIdentityProvider(authtest.Options{AutoConsent: true})
	at.Issuer = "https://idp.corp.example"
	of := connection.Connection{
		ID: "corp", Version: 1, Issuer: at.Issuer, ClientID: "client", ClientSecret: "any secret will do",
		Domains: []string{"example.com", "evil.test"},
	}
	changes = append([]func(*pintle.Config, *account.Options){
		withMailLinks(&s), withPasskeys(&echo{verifies: true}), func(c *pintle.Config, _ *account.Options) {
			acme := idp.OIDC("acme")
			acme.EmailVerified = func(p pintle.Profile) bool { return p.Bool("email_verified") }
			acme.AcceptIDTokens = oauth.IDTokens{Audiences: []string{"web"}}
			c.Providers, c.HTTPClient = append(c.Providers, acme, idp.OIDC("lax")), server.Client()
			c.Connections = connection.Config{
				Source: corp{of}, Client: &http.Client{Transport: testsite.Network{"idp.corp.example": at}},
			}
		},
	}, changes...)
	s = newSite(t, tokens, changes...)
	return s, idp, at
}

// byMail opens the link of a mail.
func (b *browser) byMail(email string) *browser {
	b.t.Helper()
	b.get("/auth/signin").post("/auth/signin/email", "email", email).isAt("/auth/verify-request")
	b.get(b.lastMail().URL)
	b.press(anyForm.FindStringSubmatch(b.page))
	return b
}

// isDenied fails the test unless the browser sees the error page of a refusal and is signed out.
func (b *browser) isDenied() *browser {
	b.t.Helper()
	b.isAt("/auth/error").want(http.StatusForbidden).says("Access denied")
	return b.isSignedInAs("")
}

// byConnection signs in with the provider of the connection.
func (b *browser) byConnection(idp *authtest.IdentityProvider) *browser {
	b.t.Helper()
	b.get("/auth/signin").post("/auth/signin/sso-corp")
	w := httptest.NewRecorder()
	idp.ServeHTTP(w, httptest.NewRequest(http.MethodGet, b.header.Get("Location"), nil))
	return b.get(w.Header().Get("Location"))
}

// bySDK posts an ID token as the script of a page does.
func (b *browser) bySDK(idp *authtest.IdentityProvider) *browser {
	b.t.Helper()
	send := func(method, body string) map[string]any {
		r := b.request(method, "/auth/idtoken/acme", strings.NewReader(body))
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("Origin", b.server.URL)
		r.Header.Set("Accept", "application/json")
		r.Header.Set("Content-Type", "application/json")
		return b.send(r).json()
	}
	nonce, _ := send(http.MethodGet, "")["nonce"].(string)
	body, err := json.Marshal(map[string]any{"csrfToken": b.token(), "id_token": idp.IDTokenFor("web", "web", nonce, nil), "callbackUrl": "/"})
	b.done(err)
	next, _ := send(http.MethodPost, string(body))["url"].(string)
	return b.get(next)
}

// AT-172: before any sign-in creates a user, SignUp.Allow receives the proven address.
func TestTheRuleOfSignUpsIsForEveryNewUser(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for name, test := range map[string]struct {
			come  func(b *browser, idp, corp *authtest.IdentityProvider, email string)
			blind bool // the provider does not verify addresses
		}{
			"mail link":       {come: func(b *browser, _, _ *authtest.IdentityProvider, email string) { b.byMail(email) }},
			"provider":        {come: func(b *browser, _, _ *authtest.IdentityProvider, _ string) { b.byAcme() }},
			"token of an SDK": {come: func(b *browser, idp, _ *authtest.IdentityProvider, _ string) { b.bySDK(idp) }},
			"provider that does not verify": {come: func(b *browser, _, _ *authtest.IdentityProvider, _ string) {
				b.get("/auth/signin").post("/auth/signin/lax")
			}, blind: true},
			"connection": {come: func(b *browser, _, corp *authtest.IdentityProvider, _ string) { b.byConnection(corp) }},
		} {
			t.Run(name, func(t *testing.T) {
				var rule admission
				s, idp, corp := newComing(t, tokens, func(_ *pintle.Config, o *account.Options) { o.SignUp.Allow = rule.allow })
				for i, email := range []string{"mallory@evil.test", "kim@example.com"} {
					who := authtest.Person{Subject: email, Email: email, EmailVerified: true}
					idp.SignInAs(who)
					corp.SignInAs(who)
					b := s.browser()
					test.come(b, idp, corp, email)
					asked := email
					if test.blind {
						asked = ""
					}
					rule.wantAsked(t, asked)
					if i == 0 || test.blind {
						b.isDenied()
						if s.user(email) != nil {
							t.Errorf("%s has been made", email)
						}
						continue
					}
					b.isSignedInAs(email)
				}
				if log := s.log(); !strings.Contains(log, "level=WARN") || !strings.Contains(log, "SignUp.Allow refused a user whom the sign-in would make") ||
					!strings.Contains(log, "company_only") || test.blind != strings.Contains(log, "whose address is not verified") {
					t.Error("the log has no reason")
				}
				if test.blind {
					return
				}
				// The user is there, and the rule changes.
				rule.none = true
				b := s.browser()
				test.come(b, idp, corp, "kim@example.com")
				b.isSignedInAs("kim@example.com")
				rule.wantAsked(t)
			})
		}
	})
}

// AT-172: SignUp.Allow receives "" for an address that is not in normal form.
func TestTheRuleOfSignUpsSeesNoOddAddress(t *testing.T) {
	t.Parallel()
	var rule admission
	s, idp, _ := newComing(t, false, func(_ *pintle.Config, o *account.Options) { o.SignUp.Allow = rule.allow })
	for _, email := range []string{"mallory@evil.test@example.com", "mallory@evil.test,kim@example.com", "<mallory@evil.test> kim@example.com"} {
		idp.SignInAs(authtest.Person{Subject: email, Email: email, EmailVerified: true})
		s.browser().byAcme().isDenied()
		rule.wantAsked(t, "")
	}
}

// The form that asks for a mail answers alike for all, and an existing user signs in whatever the
// address is.
func TestTheRuleOfSignUpsLeavesUsersAlone(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for name, change := range map[string]func(*account.SignUp, *admission){
			"a rule": func(o *account.SignUp, rule *admission) { o.Allow = rule.allow },
			"closed": func(o *account.SignUp, _ *admission) { o.Closed = true },
		} {
			t.Run(name, func(t *testing.T) {
				var rule admission
				s, idp, _ := newComing(t, tokens, func(_ *pintle.Config, o *account.Options) { change(&o.SignUp, &rule) })
				u := s.seed("ada@evil.test", goodPassword, true)
				mailLink := questions["mail link"]
				if known, unknown := s.answers(mailLink, false, u.Email), s.answers(mailLink, false, "eve@evil.test"); known != unknown {
					t.Errorf("the answers differ:\n%s\n%s", known, unknown)
				}
				s.browser().byMail(u.Email).isSignedInAs(u.Email)
				b := s.browser().signIn(u.Email, goodPassword).isSignedInAs(u.Email)
				idp.SignInAs(authtest.Person{Subject: "other", Email: "other@evil.test", EmailVerified: true})
				b.byAcme() // links the account
				s.browser().byAcme().isSignedInAs(u.Email)
				rule.wantAsked(t)
			})
		}
	})
}

// AT-172: SignUp.Closed ends mail links and passkeys that would make a user, and not providers.
func TestClosedSignUpsAreClosedForMailLinksToo(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s, idp, at := newComing(t, tokens, func(_ *pintle.Config, o *account.Options) { o.SignUp.Closed = true })
		s.browser().byMail("mallory@evil.test").isDenied()
		if s.user("mallory@evil.test") != nil {
			t.Error("a user has been made")
		}
		if log := s.log(); !strings.Contains(log, "SignUp.Closed is set") {
			t.Error("the log has no reason")
		}
		idp.SignInAs(authtest.Person{Subject: "1", Email: "kim@example.com", EmailVerified: true})
		at.SignInAs(authtest.Person{Subject: "1", Email: "lee@example.com", EmailVerified: true})
		s.browser().byAcme().isSignedInAs("kim@example.com")
		s.browser().byConnection(at).isSignedInAs("lee@example.com")
	})
}

// AT-172: A sign-up that has begun does not go on once sign-ups are closed.
func TestASignUpThatHasBegunEndsWhenSignUpsClose(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	open := newSite(t, false, func(c *pintle.Config, _ *account.Options) { c.Store = store })
	open.browser().signUp("ada@example.com")
	link, err := url.Parse(open.lastMail().URL)
	open.done(err)
	closed := newSite(t, false, func(c *pintle.Config, o *account.Options) { c.Store, o.SignUp.Closed = store, true })
	b := closed.browser()
	b.get("/auth/account/sign-up-finish?" + link.RawQuery).want(http.StatusForbidden)
	b.post("/auth/account/sign-up-finish", "password", goodPassword).want(http.StatusForbidden)
	b.post("/auth/account/sign-up-sent", "code", open.code()).want(http.StatusForbidden)
	if closed.user("ada@example.com") != nil {
		t.Error("a user has been made")
	}
}

// SignUp.Allow is called once for a user whom package account creates: by the form.
func TestASignUpIsAskedAboutOnce(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		var rule admission
		var hosts []string
		changes := func(c *pintle.Config, o *account.Options) {
			o.SignUp.Allow = rule.allow
			c.Callbacks.SignUp = func(_ context.Context, a *pintle.SignInAttempt) error {
				hosts = append(hosts, a.Account.Provider+" "+a.User.Email)
				return nil
			}
		}
		wantHost := func(want ...string) {
			t.Helper()
			if !slices.Equal(hosts, want) {
				t.Errorf("Callbacks.SignUp of the application was asked about %q, want %q", hosts, want)
			}
			hosts = nil
		}
		s, _, _ := newComing(t, tokens, changes)
		s.browser().proves("ada@example.com").post(finishPage, "password", goodPassword).isSignedInAs("ada@example.com")
		rule.wantAsked(t, "ada@example.com")
		wantHost("credentials ada@example.com")

		b := s.browser().proves("key@example.com")
		data, _ := b.newKey()
		b.registers(data).isSignedInAs("key@example.com")
		rule.wantAsked(t, "key@example.com")
		wantHost("passkey key@example.com")

		s.browser().byMail("mail@example.com").isSignedInAs("mail@example.com")
		rule.wantAsked(t, "mail@example.com")
		wantHost("email mail@example.com")

		// An operator has invited the user, and answers for the address.
		s, _, _ = newComing(t, tokens, changes)
		link, err := s.accounts.Operators().Invite(t.Context(), account.Invitation{Email: "guest@evil.test"})
		s.done(err)
		b = s.browser().get(link)
		data, _ = b.newKey()
		b.registers(data).isSignedInAs("guest@evil.test")
		rule.wantAsked(t)
		wantHost("passkey guest@evil.test")

		s, _, _ = newComing(t, tokens, changes, deferred)
		b = s.browser().signUp("later@example.com")
		rule.wantAsked(t, "later@example.com")
		wantHost("credentials ") // the user has no proven address yet
		b.get(prove).post(prove, "code", b.code())
		rule.wantAsked(t)
		wantHost()
	})
}

// The application's own rule comes after that of SignUp.Allow, for each way.
func TestTheCallbackOfTheApplicationRefusesSignUps(t *testing.T) {
	t.Parallel()
	s, idp, _ := newComing(t, false, func(c *pintle.Config, _ *account.Options) {
		c.Callbacks.SignUp = func(context.Context, *pintle.SignInAttempt) error { return errors.New("denied") }
	})
	s.browser().byMail("ada@example.com").isDenied()
	idp.SignInAs(authtest.Person{Subject: "1", Email: "ada@example.com", EmailVerified: true})
	s.browser().byAcme().isDenied()
	b := s.browser().proves("ada@example.com")
	data, _ := b.newKey()
	b.registers(data).want(http.StatusForbidden)
	b.post(finishPage, "password", goodPassword).want(http.StatusForbidden)
	if s.user("ada@example.com") != nil {
		t.Error("a user has been made")
	}
}

// AT-172: each tenant has its own rule.
func TestEachTenantHasItsRuleOfSignUps(t *testing.T) {
	t.Parallel()
	var mails []*pintle.Message
	keep := func(_ context.Context, m *pintle.Message) error { mails = append(mails, m); return nil }
	auth := pintle.NewFunc(func(r *http.Request) string { return r.Host }, func(_ context.Context, host string) (pintle.Config, error) {
		o := account.Options{Mail: keep}
		o.SignUp.Allow = func(_ context.Context, address string) error {
			if !strings.HasSuffix(address, "@"+host) {
				return errors.New("of another tenant")
			}
			return nil
		}
		return pintle.Config{
			URL: "http://" + host, Secrets: []string{strings.Repeat("secret of "+host, 3)}, Store: memstore.New(), Accounts: account.New(o),
			Providers: []pintle.Provider{&pintle.Email{Send: keep}}, Getenv: func(string) string { return "" },
			Logger: slog.New(slog.DiscardHandler),
		}, nil
	})
	network := testsite.Network{"red.example": auth, "blue.example": auth}
	for _, host := range []string{"red.example", "blue.example"} {
		for _, email := range []string{"ada@red.example", "ada@blue.example"} {
			jar, _ := cookiejar.New(nil)
			b := &browser{
				site:   &site{t: t, server: &httptest.Server{URL: "http://" + host}},
				client: &http.Client{Jar: jar, Transport: network},
			}
			b.get("/auth/signin").post("/auth/signin/email", "email", email)
			b.get(mails[len(mails)-1].URL)
			b.press(anyForm.FindStringSubmatch(b.page))
			who := b.get("/auth/session").page
			if signedIn := strings.Contains(who, email); signedIn != strings.HasSuffix(email, "@"+host) {
				t.Errorf("%s at %s: the session is %s", email, host, who)
			}
		}
	}
}
