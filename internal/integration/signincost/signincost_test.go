package signincost

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/internal/integration/recorder"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/password"
	"github.com/pintleauth/pintle/store/sqlstore"
	"github.com/pintleauth/pintle/throttle"
)

func TestMain(m *testing.M) { os.Exit(services.Run(m)) }

const goodPassword = "a password of the tests"

// A site is an application on PostgreSQL whose statements are recorded.
type site struct {
	tb   testing.TB
	url  string
	sent *recorder.Recorder
	idp  *authtest.IdentityProvider
	box  *authtest.Mailbox
}

// open serves an application with sign-ins by OpenID Connect and by mail, or by the passwords
// of package account.
func open(tb testing.TB, strategy pintle.SessionStrategy, passwords bool) *site {
	tb.Helper()
	db := services.PostgreSQLDatabase(tb)
	if err := sqlstore.Migrate(tb.Context(), db.DB, sqlstore.PostgreSQL); err != nil {
		tb.Fatal(err)
	}
	recorded, sent := recorder.Open(tb, db)
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	tb.Cleanup(server.Close)
	s := &site{
		tb: tb, url: server.URL, sent: sent, box: authtest.NewMailbox(authtest.MailboxOptions{}),
		idp: authtest.Start(tb, authtest.Options{AutoConsent: true, Algorithm: authtest.ES256}),
	}
	cfg := pintle.Config{
		Store: sqlstore.New(recorded, sqlstore.PostgreSQL), URL: s.url,
		Secrets: []string{"a secret for tests, 32 characters or more"}, Getenv: func(string) string { return "" },
		Logger: slog.New(slog.NewTextHandler(tb.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	cfg.Session.Strategy = strategy
	if passwords {
		if strategy == pintle.StrategyJWT {
			cfg.Session.Revocation = sqlstore.NewRevocations(recorded, sqlstore.PostgreSQL)
		}
		unlimited := throttle.Limit{Burst: 1 << 20, Every: time.Millisecond}
		cfg.Accounts = account.New(account.Options{From: "app@example.com", Mail: s.box.Send, Passwords: account.Passwords{
			Hasher: &password.Hasher{Memory: 64, Passes: 1}, // cheap: the store is what is measured
			Guard: &throttle.Guard{
				PerAccountAndClient: unlimited, PerClient: unlimited, PerAccount: unlimited,
				MailsPerAddress: unlimited, MailsPerClient: unlimited,
			},
		}})
	} else {
		cfg.Providers = []pintle.Provider{s.idp.OIDC("acme"), &pintle.Email{From: "app@example.com", Send: s.box.Send}}
	}
	auth, err := pintle.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	mux.Handle("/auth/", auth)
	mux.HandleFunc("/{$}", func(http.ResponseWriter, *http.Request) {}) // the home page asks for no session
	return s
}

// A person has an address and a browser.
type person struct {
	site    *site
	email   string
	browser *http.Client
}

func (s *site) person() *person {
	jar, _ := cookiejar.New(nil) // which never fails without options
	return &person{s, strings.ToLower(rand.Text()) + "@example.com", &http.Client{Jar: jar, Timeout: time.Minute}}
}

func (p *person) post(path string, fields ...string) error {
	var csrf struct{ CSRFToken string }
	resp, err := p.browser.Get(p.site.url + "/auth/csrf")
	if err != nil {
		return err
	}
	err = json.NewDecoder(resp.Body).Decode(&csrf)
	_ = resp.Body.Close()
	form := url.Values{"csrfToken": {csrf.CSRFToken}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return errors.Join(err, p.visit(http.MethodPost, p.site.url+path, form))
}

func (p *person) visit(method, target string, form url.Values) error {
	r, err := http.NewRequestWithContext(p.site.tb.Context(), method, target, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "text/html")
	resp, err := p.browser.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK || resp.Request.URL.Query().Get("error") != "" {
		return fmt.Errorf("%s leads to %s, %s", target, resp.Request.URL, resp.Status)
	}
	return nil
}

// signedIn fails the test unless the person is signed in.
func (p *person) signedIn() {
	p.site.tb.Helper()
	var session struct{ User struct{ Email string } }
	resp, err := p.browser.Get(p.site.url + "/auth/session")
	if err != nil {
		p.site.tb.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.NewDecoder(resp.Body).Decode(&session); err != nil || session.User.Email != p.email {
		p.site.tb.Fatalf("%s is signed in as %q, %v", p.email, session.User.Email, err)
	}
}

func (p *person) byProvider() error {
	p.site.idp.SignInAs(authtest.Person{Subject: p.email, Name: "Person", Email: p.email, EmailVerified: true})
	return p.post("/auth/signin/acme", "callbackUrl", "/")
}

func (p *person) byMail() error {
	if err := p.post("/auth/signin/email", "email", p.email, "callbackUrl", "/"); err != nil {
		return err
	}
	m, err := p.mail()
	if err != nil {
		return err
	}
	return p.visit(http.MethodGet, m.Links()[0], nil)
}

func (p *person) byPassword() error {
	return p.post("/auth/callback/credentials", "email", p.email, "password", goodPassword, "callbackUrl", "/")
}

func (p *person) signUp() error {
	if err := p.post("/auth/account/sign-up", "email", p.email); err != nil {
		return err
	}
	m, err := p.mail()
	if err != nil {
		return err
	}
	if err := p.visit(http.MethodGet, m.Links()[0], nil); err != nil {
		return err
	}
	return p.post("/auth/account/sign-up-finish", "password", goodPassword)
}

func (p *person) mail() (*authtest.Message, error) {
	ctx, cancel := context.WithTimeout(p.site.tb.Context(), time.Minute)
	defer cancel()
	m, err := p.site.box.Wait(ctx, p.email)
	if err == nil && len(m.Links()) == 0 {
		err = errors.New("the mail has no link")
	}
	return m, err
}

// A way is a kind of sign-in.
type way struct {
	name      string
	passwords bool
	returning bool
	enter     func(*person) error
}

var ways = []way{
	{"OpenID Connect, first", false, false, (*person).byProvider},
	{"OpenID Connect, returning", false, true, (*person).byProvider},
	{"mail link, first", false, false, (*person).byMail},
	{"mail link, returning", false, true, (*person).byMail},
	{"password", true, true, (*person).byPassword},
}

// prepare returns a person who signs in next. One who returns has signed out in the browser.
func (w way) prepare(s *site) *person {
	s.tb.Helper()
	p := s.person()
	if !w.returning {
		return p
	}
	before := w.enter
	if w.passwords {
		before = (*person).signUp
	}
	if err := errors.Join(before(p), p.post("/auth/signout")); err != nil {
		s.tb.Fatal(err)
	}
	s.box.Empty()
	return p
}

// A cost is what a sign-in takes of the database.
type cost struct {
	statements, roundTrips int
	sent                   []string
}

// measure returns what the sign-in of a person costs who is ready for it.
func (w way) measure(s *site, p *person) cost {
	s.tb.Helper()
	s.sent.Take()
	s.sent.TakeTransactions()
	if err := w.enter(p); err != nil {
		s.tb.Fatal(err)
	}
	var c cost
	for _, statement := range s.sent.Take() {
		c.sent = append(c.sent, statement.Text)
	}
	// Each statement is one round trip once a connection has prepared it.
	c.statements = len(c.sent)
	c.roundTrips = c.statements + len(s.sent.TakeTransactions())
	p.signedIn()
	return c
}

var strategies = []pintle.SessionStrategy{pintle.StrategyDatabase, pintle.StrategyJWT}

// The guide has the number of statements and round trips of each sign-in.
func TestASignInCostsWhatTheGuideSays(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			var row []string
			for _, strategy := range strategies {
				s := open(t, strategy, w.passwords)
				w.measure(s, w.prepare(s)) // the first one of a process makes what is kept
				got := w.measure(s, w.prepare(s))
				row = append(row, fmt.Sprintf("%d, %d", got.statements, got.roundTrips))
				t.Logf("%s:\n%s", strategy, strings.Join(got.sent, "\n"))
			}
			want := "| " + w.name + " | " + strings.Join(row, " | ") + " | "
			if !strings.Contains(guide(t), "\n"+want) {
				t.Errorf("docs/stores.md has no line that begins with %q", want)
			}
		})
	}
}

func guide(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/stores.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// BenchmarkSignIn measures whole sign-ins, with the provider and the mailbox in this process.
// Passwords are hashed with almost no work.
func BenchmarkSignIn(b *testing.B) {
	for _, strategy := range strategies {
		for _, w := range ways {
			b.Run(string(strategy)+"/"+w.name, func(b *testing.B) {
				s := open(b, strategy, w.passwords)
				for b.Loop() {
					b.StopTimer()
					p := w.prepare(s)
					b.StartTimer()
					if err := w.enter(p); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
