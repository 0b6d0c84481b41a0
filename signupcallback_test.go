package pintle_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/connection"
	"github.com/pintleauth/pintle/oauth"
)

// newUsers are the ways in which a sign-in makes a user with the address new@corp.example.
// verified reports that the account has the address as verified.
var newUsers = map[string]struct {
	come     func(*browser) *reply
	kind     pintle.ProviderType
	verified bool
}{
	"mail link": {
		come: func(b *browser) *reply { return b.get(b.mailTo("new@corp.example").URL) }, kind: pintle.TypeEmail,
	},
	"provider that verifies addresses": {
		come: func(b *browser) *reply { return b.signInWith("careful") }, kind: pintle.TypeOIDC, verified: true,
	},
	"provider that does not": {come: func(b *browser) *reply { return b.signInWith("acme") }, kind: pintle.TypeOIDC},
	"connection": {
		come: func(b *browser) *reply { return b.signInWith("sso-corp") }, kind: pintle.TypeOIDC, verified: true,
	},
	"token of an SDK": {
		come: func(b *browser) *reply {
			return b.tap("acme", b.site.idp.IDTokenFor("web", "web", b.nonce("acme"), nil))
		},
		kind: pintle.TypeOIDC,
	},
	"token of an SDK, in an application": {
		come: func(b *browser) *reply {
			a := application{b.site}
			nonce := a.nonce("acme")
			return a.send(http.MethodPost, "/auth/idtoken/acme", map[string]any{"id_token": b.site.idp.IDTokenFor("web", "web", nonce, nil), "nonce": nonce})
		},
		kind: pintle.TypeOIDC,
	},
	"passkey": {
		come: func(b *browser) *reply { return b.passkey("register", "a2V5", "email", "new@corp.example") }, kind: pintle.TypeWebAuthn,
	},
}

// newUserSite has the ways of newUsers. Its callback appends what it is asked about, and returns
// what deny is at the time.
func newUserSite(
	t *testing.T, transactions bool, asked *[]*pintle.SignInAttempt, deny *error, changes ...func(*site),
) (*site, *recordingTxStore) {
	t.Helper()
	who := authtest.Person{Subject: "1", Name: "New", Email: "new@corp.example", EmailVerified: true}
	changes = append([]func(*site){func(s *site) {
		if !transactions {
			s.Store = s.Store.(*recordingTxStore).recordingStore
		}
		s.Session.AllowBearer = true
		s.Providers[0].(*pintle.OAuth).AcceptIDTokens = oauth.IDTokens{Audiences: []string{"web"}}
		s.net["careful.example"].(*authtest.IdentityProvider).SignInAs(who)
		corp := s.newIdentityProvider("https://idp.corp.example")
		corp.SignInAs(who)
		source := &testSource{byID: map[string]connection.Connection{}, asked: map[string]int{}}
		source.change("corp", func(c *connection.Connection) {
			c.Issuer, c.ClientID, c.ClientSecret, c.Domains = corp.Issuer, "client", "any secret will do", []string{"corp.example"}
		})
		s.Connections = connection.Config{Source: source, Client: s.HTTPClient}
		s.Callbacks.SignUp = func(_ context.Context, a *pintle.SignInAttempt) error {
			*asked = append(*asked, a)
			return *deny
		}
	}}, changes...)
	s, k := hijackSite(t, pintle.StrategyDatabase, changes...)
	s.idp.SignInAs(who)
	return s, k
}

// AT-172: whoever would make a user: the host is asked once, and a refusal stores nothing.
func TestTheHostDecidesAboutEachNewUser(t *testing.T) {
	for _, transactions := range []bool{true, false} {
		for name, way := range newUsers {
			t.Run(fmt.Sprintf("%s, transactions %t", name, transactions), func(t *testing.T) {
				var asked []*pintle.SignInAttempt
				deny := errors.New("not one of ours")
				s, k := newUserSite(t, transactions, &asked, &deny)
				b := s.browser()
				way.come(b)
				if b.who() != "anonymous" || len(asked) != 1 {
					t.Errorf("the browser is %s, and the host was asked %d times", b.who(), len(asked))
				}
				for _, call := range k.takeCalls() {
					if slices.Contains([]string{"createUser", "linkAccount", "createAuthenticator", "createSession"}, call) {
						t.Errorf("the store is called for %s", call)
					}
				}
				if log := s.log.String(); !strings.Contains(log, "Callbacks.SignUp: not one of ours") || !strings.Contains(log, `"code":"AccessDenied"`) {
					t.Errorf("the log has no reason: %s", log)
				}

				asked, deny = nil, nil
				way.come(s.browser())
				made := k.byEmail(t, "new@corp.example")
				if made == nil || len(asked) != 1 {
					t.Fatalf("the user is %v, and the host was asked %d times", made, len(asked))
				}
				a := asked[0]
				if want := map[bool]string{true: "new@corp.example"}[way.verified]; a.User.Email != "new@corp.example" || a.Account.Type != way.kind || a.Account.VerifiedEmail != want {
					t.Errorf("the host is asked about %+v with %+v", a.User, a.Account)
				}
				if way.kind == pintle.TypeEmail && a.User.EmailVerified.IsZero() {
					t.Error("the address of a mail link is not proven")
				}
				if got := a.Connection == "corp" && a.VerifiedDomain; got != (name == "connection") || a.SDK != strings.HasPrefix(name, "token") {
					t.Errorf("the attempt is %+v", a)
				}

				// The user exists now.
				asked, deny = nil, errors.New("nobody any more")
				if name == "passkey" {
					s.browser().passkey("authenticate", "a2V5")
				} else {
					way.come(s.browser())
				}
				if len(asked) != 0 || k.sessions(t, made.ID) != 2 {
					t.Errorf("the host was asked about %v; the user has %d sessions", asked, k.sessions(t, made.ID))
				}
			})
		}
	}
}

// A refusal is shown as one of SignIn, and uses the link of a mail up.
func TestANewUserIsRefusedAsASignInIs(t *testing.T) {
	var asked []*pintle.SignInAttempt
	deny := errors.New("not one of ours")
	s, _ := newUserSite(t, true, &asked, &deny)
	b := s.browser()
	m := b.mailTo("new@corp.example")
	if len(asked) != 0 {
		t.Error("the host was asked before the address was proven")
	}
	b.get(m.URL).fails("/auth/error", "AccessDenied")
	deny = nil
	b.get(m.URL).fails("/auth/error", "Verification")
	deny = pintle.CodeAccountNotLinked // a code of the host
	b.signInWith("careful").fails("/auth/signin", "OAuthAccountNotLinked")
	deny = &pintle.Error{Code: pintle.CodeStore, Err: errBroken} // a fault: the link works again
	m = b.mailTo("new@corp.example")
	b.get(m.URL).fails("/auth/error", operator)
	deny = nil
	b.get(m.URL).goesTo(s.url)
}

// AT-172: a host whose directory does not answer admits nobody, whatever its error is: that of a
// driver, of a context that has ended, or a fault of the store, after which a link works again.
func TestAnOutageOfTheHostAdmitsNoNewUser(t *testing.T) {
	outages := map[string]error{
		"driver":  fmt.Errorf("look up the invitation: %w", sql.ErrConnDone),
		"timeout": fmt.Errorf("look up the invitation: %w", context.DeadlineExceeded),
		"fault":   &pintle.Error{Code: pintle.CodeStore, Err: errBroken},
		"absence": fmt.Errorf("look up the invitation: %w", pintle.ErrNotFound),
	}
	for _, transactions := range []bool{true, false} {
		for name, way := range newUsers {
			for outage, down := range outages {
				t.Run(fmt.Sprintf("%s, %s, transactions %t", name, outage, transactions), func(t *testing.T) {
					var asked []*pintle.SignInAttempt
					deny := down
					s, k := newUserSite(t, transactions, &asked, &deny)
					b := s.browser()
					r := way.come(b)
					if token := r.cookies()[sessionCookie]; b.who() != "anonymous" || token != nil && token.Value != "" || strings.Contains(r.body, "sessionToken") {
						t.Errorf("the browser is %s, with the cookie %v: %s", b.who(), token, r.body)
					}
					for _, call := range k.takeCalls() {
						read := strings.HasPrefix(call, "get") || strings.HasPrefix(call, "list") || strings.HasPrefix(call, "event ")
						link := strings.HasSuffix(call, "VerificationToken") && way.kind == pintle.TypeEmail
						if !read && !link && !slices.Contains([]string{"begin", "rollback"}, call) {
							t.Errorf("the store is called for %s", call)
						}
					}
					if made := k.byEmail(t, "new@corp.example"); made != nil || len(asked) != 1 {
						t.Errorf("the user is %+v, and the host was asked %d times", made, len(asked))
					}

					asked, deny = nil, nil
					way.come(s.browser())
					if made := k.byEmail(t, "new@corp.example"); made == nil || k.sessions(t, made.ID) != 1 || len(asked) != 1 {
						t.Errorf("after the outage the user is %+v, and the host was asked %d times", made, len(asked))
					}
				})
			}
		}
	}
}

// A user who is signed in links an account, which makes no user.
func TestLinkingIsNoSignUp(t *testing.T) {
	var asked []*pintle.SignInAttempt
	deny := errors.New("not one of ours")
	s, k := newUserSite(t, true, &asked, &deny)
	u := k.seedUser(t, pintle.User{Name: "Ada", Email: "ada@example.org"})
	b := s.browser()
	b.signInAs(k, u, pintle.StrategyDatabase)
	b.signInWith("careful")
	b.passkey("register", "a2V5")
	linked, err := k.Store.UserAccounts(t.Context(), u.ID)
	if err != nil || len(linked) != 2 {
		t.Errorf("the accounts are %+v, %v", linked, err)
	}
	if len(asked) != 0 {
		t.Errorf("the host was asked about %+v", asked[0].Account)
	}
}

// AT-172: the user who takes an address from another one is new.
func TestTheUserWhoTakesAnAddressIsNew(t *testing.T) {
	var asked []*pintle.SignInAttempt
	deny := errors.New("not one of ours")
	s, k := newUserSite(t, true, &asked, &deny)
	u := k.seedUser(t, pintle.User{Name: "Mallory", Email: "new@corp.example"})
	k.seedAccount(t, u, "acme", "666")
	b := s.browser()
	b.isAsked(b.get(b.mailTo("new@corp.example").URL))
	if len(asked) != 0 {
		t.Error("the host was asked before the person has answered")
	}
	b.makesNew().fails("/auth/error", "AccessDenied")
	if holder := k.byEmail(t, "new@corp.example"); holder == nil || holder.ID != u.ID || len(asked) != 1 {
		t.Errorf("the address is that of %+v, and the host was asked %d times", holder, len(asked))
	}
	deny = nil
	b.isAsked(b.get(b.mailTo("new@corp.example").URL))
	b.makesNew().goesTo(s.url)
	if holder := k.byEmail(t, "new@corp.example"); holder == nil || holder.ID == u.ID || len(asked) != 2 {
		t.Errorf("the address is that of %+v, and the host was asked %d times", holder, len(asked))
	}
}

// Another request may write first: the decision is made again, and the host is not asked again.
func TestADecisionThatIsMadeAgainDoesNotAskAgain(t *testing.T) {
	var asked []*pintle.SignInAttempt
	var allow error
	s, k := newUserSite(t, false, &asked, &allow)
	k.once("createUser", func() { k.seedUser(t, pintle.User{Name: "Other", Email: "new@corp.example"}) })
	b := s.browser()
	b.get(b.mailTo("new@corp.example").URL).goesTo(s.url)
	if len(asked) != 1 {
		t.Errorf("the host was asked %d times", len(asked))
	}
}

func TestARuleAboutNewUsersNeedsAStore(t *testing.T) {
	_, err := pintle.New(pintle.Config{
		Secrets: []string{secret}, Getenv: noEnv,
		Callbacks: pintle.Callbacks{SignUp: func(context.Context, *pintle.SignInAttempt) error { return nil }},
	})
	if err == nil || !strings.Contains(err.Error(), "Callbacks.SignUp") || !errors.Is(err, pintle.Code("MissingAdapter")) {
		t.Errorf("New returns %v", err)
	}
}
