package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/examples/e2eclient"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// A started site has what a test needs to sign a user in, and to read the mails.
type started struct {
	*httptest.Server
	auth     *pintle.Auth
	store    pintle.Store
	accounts *account.Accounts
	box      *mailbox
}

// startSite starts the site for a test.
func startSite(t *testing.T, strategy pintle.SessionStrategy) (*httptest.Server, *pintle.Auth) {
	t.Helper()
	s := start(t, strategy)
	return s.Server, s.auth
}

func start(t *testing.T, strategy pintle.SessionStrategy) *started {
	t.Helper()
	idp := authtest.Start(t, authtest.Options{AutoConsent: true})
	db, err := openDatabase(t.Context(), filepath.Join(t.TempDir(), "quickstart.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	store := sqlstore.New(db, sqlstore.SQLite)
	if err := createDemoUsers(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	box := &mailbox{}
	accounts := newAccounts(box.deliver)
	auth, err := pintle.New(config(store, sqlstore.NewRevocations(db, sqlstore.SQLite), accounts, idp, "a secret of at least 32 characters", strategy))
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(newSite(auth, strategy, accounts, idp.Issuer))
	t.Cleanup(srv.Close)
	return &started{Server: srv, auth: auth, store: store, accounts: accounts, box: box}
}

func TestMembersSeeAndChangeTheirSession(t *testing.T) {
	for _, strategy := range []pintle.SessionStrategy{pintle.StrategyDatabase, pintle.StrategyJWT} {
		t.Run(string(strategy), func(t *testing.T) {
			srv, auth := startSite(t, strategy)
			kim := authtest.HTTPClient(t, auth, srv.URL, &pintle.User{Name: "Kim", Email: "kim@example.com"})
			if page := e2eclient.Read(t)(kim.Get(srv.URL + "/account")); !strings.Contains(page, "kim@example.com") {
				t.Errorf("Kim does not see the session:\n%s", page)
			}
			changed := url.Values{"name": {"Kim the Brave"}}
			if page := e2eclient.Read(t)(kim.PostForm(srv.URL+"/account", changed)); !strings.Contains(page, "<h1>Kim the Brave</h1>") {
				t.Errorf("the name did not change:\n%s", page)
			}
			if page := e2eclient.Read(t)(kim.PostForm(srv.URL+"/signout", nil)); !strings.Contains(page, "You are not signed in") {
				t.Errorf("Kim is still signed in:\n%s", page)
			}
		})
	}
}

func TestAnonymousRequestsAreRejected(t *testing.T) {
	srv, auth := startSite(t, pintle.StrategyDatabase)
	anonymous := authtest.HTTPClient(t, auth, srv.URL, nil)
	if page := e2eclient.Read(t)(anonymous.Get(srv.URL + "/account")); page != "Unauthorized\n" {
		t.Errorf("an anonymous client sees:\n%s", page)
	}
	// All the way through the identity provider they do.
	page := e2eclient.Read(t)(authtest.SignInWith(t, anonymous, srv.URL+"/auth", "local"), nil)
	if !strings.Contains(page, "Hello, Ada Lovelace") {
		t.Errorf("after signing in, the page is:\n%s", page)
	}
}

// SH-21: the page is about the passkeys of the signed-in user.
func TestMembersSeeToTheirOwnPasskeys(t *testing.T) {
	srv, auth := startSite(t, pintle.StrategyDatabase)
	store, err := auth.StoreFor(httptest.NewRequest(http.MethodGet, srv.URL, nil))
	if err != nil {
		t.Fatal(err)
	}
	browsers := map[string]*http.Client{}
	for _, name := range []string{"Kim", "Eve"} {
		email := strings.ToLower(name) + "@example.com"
		browsers[name] = authtest.HTTPClient(t, auth, srv.URL, &pintle.User{Name: name, Email: email})
		user, err := store.UserByEmail(t.Context(), email)
		if err != nil {
			t.Fatal(err)
		}
		id := map[string]string{"Kim": "a2lt", "Eve": "ZXZl"}[name]
		err = errors.Join(
			store.LinkAccount(t.Context(), &pintle.Account{UserID: user.ID, Type: pintle.TypeWebAuthn, Provider: passkeyProvider, ProviderAccountID: id}),
			store.CreatePasskey(t.Context(), &pintle.Passkey{CredentialID: id, UserID: user.ID, ProviderAccountID: id, PublicKey: "AA==", DeviceType: "singleDevice", Name: name + "'s key"}),
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	post := func(name, path string, form url.Values) string {
		t.Helper()
		return e2eclient.Read(t)(browsers[name].PostForm(srv.URL+"/account/passkeys/"+path, form))
	}

	if page := e2eclient.Read(t)(browsers["Kim"].Get(srv.URL + "/account")); !strings.Contains(page, "Kim&#39;s key") || strings.Contains(page, "Eve&#39;s key") {
		t.Errorf("Kim sees:\n%s", page)
	}
	for path, form := range map[string]url.Values{"rename": {"id": {"a2lt"}, "name": {"Eve's now"}}, "remove": {"id": {"a2lt"}}} {
		if page := post("Eve", path, form); !strings.Contains(page, "That is gone already.") {
			t.Errorf("%s of another's passkey:\n%s", path, page)
		}
	}
	if page := post("Kim", "rename", url.Values{"id": {"a2lt"}, "name": {" Key\x00\n ring\xff" + strings.Repeat("!", 99)}}); !strings.Contains(page, "<strong>Key ring"+strings.Repeat("!", 56)+"</strong>") {
		t.Errorf("after Kim renamed it:\n%s", page)
	}
	if page := post("Kim", "remove", url.Values{"id": {"a2lt"}}); !strings.Contains(page, "That is the only way you can sign in.") {
		t.Errorf("Kim removed the last way in:\n%s", page)
	}
}
