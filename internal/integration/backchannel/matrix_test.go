package backchannel_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/integration/formbrowser"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/store/memstore"
)

// A server is an OpenID provider of another project.
type server struct {
	name string

	// start starts it for an application, and returns its issuer.
	start func(t *testing.T, app string) string

	// user is the name of its user. signIn completes its pages after the browser has arrived
	// there, and signOut those of a sign-out, if it has any.
	user            string
	signIn, signOut func(b *formbrowser.Browser, p formbrowser.Page) formbrowser.Page

	backChannel bool
}

var servers = []server{
	{
		name: "oidc-provider", user: "Ada Lovelace", backChannel: true,
		start: func(t *testing.T, app string) string {
			issuer, _ := startProvider(t, app)
			return issuer
		},
		signIn: func(b *formbrowser.Browser, p formbrowser.Page) formbrowser.Page {
			if strings.Contains(p.Text, `name="password"`) {
				p = b.Submit(p, "/interaction/", url.Values{"login": {"ada"}, "password": {"any"}})
			}
			return b.Submit(p, "/interaction/", nil)
		},
		signOut: func(b *formbrowser.Browser, p formbrowser.Page) formbrowser.Page {
			return b.Submit(p, "/session/end/confirm", url.Values{"logout": {"yes"}})
		},
	},
	{
		name: "zitadel/oidc", user: "Test User2", start: startZitadel,
		signIn: func(b *formbrowser.Browser, p formbrowser.Page) formbrowser.Page {
			return b.Submit(p, "/login/username", url.Values{"username": {"test-user2"}, "password": {"verysecure"}})
		},
		signOut: func(_ *formbrowser.Browser, p formbrowser.Page) formbrowser.Page { return p },
	},
}

// clients are those of the example of zitadel/oidc, to which it gives no URL to return to.
type clients struct {
	*storage.Storage
	back string
}

func (c clients) GetClientByClientID(ctx context.Context, id string) (op.Client, error) {
	client, err := c.Storage.GetClientByClientID(ctx, id)
	return returning{client, c.back}, err
}

type returning struct {
	op.Client
	back string
}

func (r returning) PostLogoutRedirectURIs() []string { return []string{r.back} }

func startZitadel(t *testing.T, app string) string {
	t.Helper()
	var handler http.Handler
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(site.Close)
	storage.RegisterClients(storage.WebClient("app", "the secret of the app", app+"/auth/callback/sso"))
	own := clients{storage.NewStorage(storage.NewUserStore(site.URL)), app + "/auth/signout/sso"}
	handler = exampleop.SetupServer(site.URL, own, slog.New(slog.DiscardHandler), false)
	return site.URL
}

// A relyingParty is an application of two processes that share a store.
type relyingParty struct {
	t         *testing.T
	url       string
	processes [2]*pintle.Auth
	events    chan *pintle.SignOutEvent
}

func newRelyingParty(t *testing.T, s server) *relyingParty {
	t.Helper()
	rp := &relyingParty{t: t, events: make(chan *pintle.SignOutEvent, 10)}
	var handler http.Handler
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(site.Close)
	rp.url = site.URL
	issuer, store := s.start(t, site.URL), memstore.New()
	for i := range rp.processes {
		auth, err := pintle.New(pintle.Config{
			Providers: []pintle.Provider{&pintle.OAuth{
				ID: "sso", Protocol: oauth.OIDC, Issuer: issuer, ClientID: "app", ClientSecret: "the secret of the app",
				// oidc-provider grants offline_access with a consent only.
				Authorization:       oauth.Endpoint{Params: map[string]string{"scope": "openid profile email offline_access", "prompt": "consent"}},
				ProfileFromUserInfo: true, StoreTokensAtSignIn: true, EndSessionAtProvider: true, BackChannelLogout: true,
			}},
			Store: store, Session: pintle.SessionConfig{Strategy: pintle.StrategyDatabase},
			Secrets: []string{"a secret for tests, 32 characters or more"}, Getenv: func(string) string { return "" },
			Logger: slog.New(slog.DiscardHandler),
			Events: pintle.Events{ProviderSignOut: func(_ context.Context, e *pintle.SignOutEvent) error {
				rp.events <- e
				return nil
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		rp.processes[i] = auth
	}
	auth := rp.processes[0]
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("/", auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s := pintle.SessionFrom(r.Context()); s != nil {
			_, _ = io.WriteString(w, "Hello, "+s.User.Name)
		}
	})))
	handler = mux
	return rp
}

// signIn signs the user of a server in, and returns the account.
func (rp *relyingParty) signIn(s server, b *formbrowser.Browser) *pintle.Account {
	rp.t.Helper()
	p := s.signIn(b, b.Submit(b.Get(rp.url+"/auth/signin?callbackUrl=/"), "/signin/sso", nil))
	if p.Text != "Hello, "+s.user {
		rp.t.Fatalf("%s shows:\n%s", p.URL, p.Text)
	}
	subject := map[string]string{"oidc-provider": "ada"}[s.name]
	account, err := rp.processes[0].Account(rp.t.Context(), "sso", cmp.Or(subject, "id2"))
	if err != nil || account.RefreshToken == "" {
		rp.t.Fatalf("the account is %v (%v)", account, err)
	}
	return account
}

// refresh has both processes replace the access token of an account at one moment.
func (rp *relyingParty) refresh(a *pintle.Account) (*pintle.Account, error) {
	rejected := pintle.Account{Provider: a.Provider, ProviderAccountID: a.ProviderAccountID, AccessToken: a.AccessToken, ExpiresAt: 1}
	var renewed [len(rp.processes)]*pintle.Account
	var errs [len(rp.processes)]error
	var all sync.WaitGroup
	for i, auth := range rp.processes {
		all.Go(func() {
			own := rejected
			renewed[i], errs[i] = auth.Refresh(rp.t.Context(), &own)
		})
	}
	all.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	if renewed[0].AccessToken != renewed[1].AccessToken || renewed[0].AccessToken == a.AccessToken {
		rp.t.Errorf("the processes have %q and %q, and had %q", renewed[0].AccessToken, renewed[1].AccessToken, a.AccessToken)
	}
	return renewed[0], nil
}

// RPT-87. The columns for pushed requests and for proofs of possession are elsewhere.
func TestProvidersOfOtherProjects(t *testing.T) {
	for _, s := range servers {
		t.Run(s.name, func(t *testing.T) {
			rp := newRelyingParty(t, s)
			b := formbrowser.New(t)
			before := rp.signIn(s, b)

			renewed, err := rp.refresh(before)
			if err != nil {
				t.Fatalf("refresh: %v", err)
			}
			if renewed.RefreshToken == before.RefreshToken {
				t.Error("refresh: the provider has sent no other refresh token")
			}
			if p := b.Get(rp.url + "/"); p.Text != "Hello, "+s.user {
				t.Errorf("after the refresh %s shows:\n%s", p.URL, p.Text)
			}

			p := s.signOut(b, b.Submit(b.Get(rp.url+"/auth/signout?callbackUrl=/"), "/signout", nil))
			if p.URL.Path != "/" || p.Text != "" || !strings.HasPrefix(p.URL.String(), rp.url) {
				t.Errorf("the sign-out ends at %s, which shows:\n%s", p.URL, p.Text)
			}

			again := rp.signIn(s, b)
			err = rp.processes[1].RevokeTokens(t.Context(), &pintle.Account{Provider: "sso", ProviderAccountID: again.ProviderAccountID})
			if err != nil {
				t.Errorf("revocation: %v", err)
			}
			_, err = rp.processes[0].Refresh(t.Context(), &pintle.Account{
				Provider: "sso", ProviderAccountID: "of no user", RefreshToken: again.RefreshToken,
			})
			if !errors.Is(err, pintle.ErrNoRefresh) {
				t.Errorf("revocation: the refresh token still works: %v", err)
			}
			// The provider posts its logout tokens before the browser comes back.
			if n := len(rp.events); n > 0 != s.backChannel {
				t.Errorf("the provider has sent %d logout tokens", n)
			}
		})
	}
}
