// Package concurrency tests many equal requests at the same moment, with SQLite as
// the database.
package concurrency

import (
	"context"
	"database/sql"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/internal/testsite"
	"github.com/pintleauth/pintle/store/sqlstore"
)

func TestMain(m *testing.M) { os.Exit(services.Run(m)) }

const (
	clients   = 64
	secret    = testsite.Secret
	newSecret = "the secret that replaces the other"
	cookie    = "authjs.session-token"
)

// A site is an application with its users and sessions in SQLite.
type site struct {
	auth  *pintle.Auth
	url   string
	db    *sql.DB
	store *sqlstore.Store
	idp   *authtest.IdentityProvider

	mu    sync.Mutex
	links []string
}

func newSite(t *testing.T, secrets ...string) *site {
	t.Helper()
	s := &site{db: services.SQLiteDatabase(t).DB}
	if err := sqlstore.Migrate(t.Context(), s.db, sqlstore.SQLite); err != nil {
		t.Fatal(err)
	}
	s.store = sqlstore.New(s.db, sqlstore.SQLite)
	s.idp = authtest.Start(t, authtest.Options{AutoConsent: true})
	return s.open(t, secrets...)
}

// open serves the site, under other secrets than before if they are others.
func (s *site) open(t *testing.T, secrets ...string) *site {
	t.Helper()
	provider := s.idp.OIDC("acme")
	provider.Authorization.Params = map[string]string{"scope": "openid profile email offline_access"}
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{provider, &pintle.Email{Send: func(_ context.Context, m *pintle.Message) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.links = append(s.links, m.URL)
			return nil
		}}},
		Store:   s.store,
		Secrets: secrets,
		Logger:  slog.New(slog.DiscardHandler),
		Getenv:  func(string) string { return "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	mux.Handle("/auth/", auth)
	mux.HandleFunc("/", func(http.ResponseWriter, *http.Request) {})
	s.auth, s.url = auth, server.URL
	return s
}

func (s *site) browser(t *testing.T) *http.Client {
	t.Helper()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(transport.CloseIdleConnections)
	return testsite.Browser(transport)
}

func (s *site) count(t *testing.T, table string) (n int) {
	t.Helper()
	if err := s.db.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// inParallel runs f concurrently for each client and counts the results.
func inParallel(f func(i int) string) map[string]int {
	counts := map[string]int{}
	for _, r := range testsite.InParallel(clients, f) {
		counts[r]++
	}
	return counts
}

// get returns the status of an answer and where it leads.
func get(t *testing.T, c *http.Client, target string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	if err != nil {
		return err.Error()
	}
	return answer(c.Do(r))
}

func answer(resp *http.Response, err error) string {
	if err != nil {
		return err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.Status + " " + resp.Header.Get("Location")
}

// signIn signs in through the provider, and returns the status and the path of the
// last page.
func (s *site) signIn(t *testing.T) string {
	t.Helper()
	b := s.browser(t)
	b.CheckRedirect = nil
	resp := authtest.SignInWith(t, b, s.url+"/auth", "acme")
	defer func() { _ = resp.Body.Close() }()
	return resp.Status + " " + strings.TrimPrefix(resp.Request.URL.String(), s.url)
}

// link requests a mail and returns the link in it.
func (s *site) link(t *testing.T, address string) string {
	t.Helper()
	b := s.browser(t)
	page, err := b.Get(s.url + "/auth/signin")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(page.Body)
	_ = page.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(body), `name="csrfToken" value="`)
	token, _, _ := strings.Cut(rest, `"`)
	if got := answer(b.PostForm(s.url+"/auth/signin/email", url.Values{"csrfToken": {token}, "email": {address}})); !strings.Contains(got, "verify-request") {
		t.Fatalf("the mail was not sent: %s", got)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.links[len(s.links)-1]
}

// SH-19: if many clients open a link, one is signed in.
func TestALinkThatManyOpenWorksOnce(t *testing.T) {
	s := newSite(t, secret)
	link := s.link(t, "ada@example.com")
	s.onlyOneGetsIn(t, link)
	if users, sessions := s.count(t, "pintle_users"), s.count(t, "pintle_sessions"); users != 1 || sessions != 1 {
		t.Errorf("there are %d users and %d sessions", users, sessions)
	}
}

// W-12: a link that was made under the secret of before works once after the
// secret was replaced, and every browser that reads it under either agrees.
func TestALinkThatManyOpenWhileTheSecretIsReplacedWorksOnce(t *testing.T) {
	s := newSite(t, secret)
	link := s.link(t, "ada@example.com")
	before := s.url
	s.open(t, newSecret, secret)
	s.onlyOneGetsIn(t, strings.Replace(link, before, s.url, 1), link)
}

func (s *site) onlyOneGetsIn(t *testing.T, links ...string) {
	t.Helper()
	got := inParallel(func(i int) string { return get(t, s.browser(t), links[i%len(links)]) })
	in, refused := 0, 0
	for where, n := range got {
		switch {
		case strings.Contains(where, "error=Verification"):
			refused += n
		case strings.HasPrefix(where, "302 ") && !strings.Contains(where, "error="):
			in += n
		}
	}
	if in != 1 || refused != clients-1 {
		t.Errorf("the browsers are sent to %v", got)
	}
}

// SH-17: the first sign-in of a person in many tabs makes one user.
func TestManyFirstSignInsMakeOneUser(t *testing.T) {
	s := newSite(t, secret)
	if got := inParallel(func(int) string { return s.signIn(t) }); got["200 OK /"] != clients {
		t.Errorf("the browsers end at %v", got)
	}
	if users, accounts := s.count(t, "pintle_users"), s.count(t, "pintle_accounts"); users != 1 || accounts != 1 {
		t.Errorf("there are %d users and %d accounts", users, accounts)
	}
}

// A session that is due for renewal is renewed, and stays one session.
func TestASessionThatManyRenewStaysOne(t *testing.T) {
	s := newSite(t, secret)
	ada, err := s.store.CreateUser(t.Context(), &pintle.User{Name: "Ada", Email: "ada@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	held := &pintle.StoredSession{Token: "the token of the session", UserID: ada.ID, Expires: time.Now().Add(20 * 24 * time.Hour), Created: time.Now()}
	if err := s.store.CreateSession(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	got := inParallel(func(int) string {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/auth/session", nil)
		if err != nil {
			return err.Error()
		}
		r.Header.Set("Cookie", cookie+"="+url.PathEscape(held.Token))
		resp, err := s.browser(t).Do(r)
		if err != nil {
			return err.Error()
		}
		defer func() { _ = resp.Body.Close() }()
		body, _ := io.ReadAll(resp.Body)
		if strings.Contains(string(body), `"Ada"`) {
			return "signed in"
		}
		return string(body)
	})
	if got["signed in"] != clients {
		t.Errorf("the answers are %v", got)
	}
	renewed, _, err := s.store.SessionAndUser(t.Context(), held.Token)
	if err != nil || time.Until(renewed.Expires) < 29*24*time.Hour || s.count(t, "pintle_sessions") != 1 {
		t.Errorf("the session is %+v, %v, of %d", renewed, err, s.count(t, "pintle_sessions"))
	}
}

// SH-18: an access token that many need at once is refreshed once.
func TestATokenThatManyNeedIsRefreshedOnce(t *testing.T) {
	s := newSite(t, secret)
	if got := s.signIn(t); got != "200 OK /" {
		t.Fatal(got)
	}
	var owner, id string
	if err := s.db.QueryRowContext(t.Context(), "SELECT user_id, provider_account_id FROM pintle_accounts").Scan(&owner, &id); err != nil {
		t.Fatal(err)
	}
	account, err := s.store.Account(t.Context(), "acme", id)
	if err != nil || account.RefreshToken == "" {
		t.Fatalf("the account is %+v, %v", account, err)
	}
	account.ExpiresAt = time.Now().Add(-time.Minute).Unix()
	if err := s.store.SwapAccount(t.Context(), account, account.RefreshToken); err != nil {
		t.Fatal(err)
	}
	s.idp.ForgetRequests()
	got := inParallel(func(int) string {
		fresh, err := s.auth.Refresh(t.Context(), account)
		if err != nil {
			return err.Error()
		}
		return fresh.AccessToken
	})
	if asked := len(s.idp.Requests(authtest.TokenEndpoint)); len(got) != 1 || asked != 1 {
		t.Errorf("the provider received %d requests, and the results are %d different ones", asked, len(got))
	}
}
