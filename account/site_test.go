package account_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/password"
	"github.com/pintleauth/pintle/store/memstore"
)

// A site is an application with accounts.
type site struct {
	t        *testing.T
	server   *httptest.Server
	mux      *http.ServeMux // for pages of a test
	auth     *pintle.Auth
	accounts *account.Accounts
	store    pintle.Store
	rows     accountstore.Store
	hasher   *password.Hasher // cheap

	mu    sync.Mutex
	mails []*pintle.Message
	logs  bytes.Buffer
}

// inBothKinds runs a test with sessions in the database and with token sessions.
func inBothKinds(t *testing.T, test func(t *testing.T, tokens bool)) {
	t.Helper()
	t.Parallel() // sessions of tokens wait for the next second
	for name, tokens := range map[string]bool{"database": false, "tokens": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, tokens)
		})
	}
}

// newSite starts an application. A change may replace the store.
func newSite(t *testing.T, tokens bool, changes ...func(*pintle.Config, *account.Options)) *site {
	t.Helper()
	s := &site{t: t, hasher: &password.Hasher{Memory: 64, Passes: 1}}
	mux := http.NewServeMux()
	s.mux, s.server = mux, httptest.NewServer(mux)
	t.Cleanup(s.server.Close)
	cfg := pintle.Config{
		Store: memstore.New(), URL: s.server.URL, Secrets: []string{strings.Repeat("secret ", 6)},
		Getenv: func(string) string { return "" },
		Logger: slog.New(slog.NewTextHandler(lockedWriter{s}, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if tokens {
		cfg.Session.Strategy, cfg.Session.Revocation = pintle.StrategyJWT, &memstore.Revocations{}
	}
	o := account.Options{From: "no-reply@example.com", Mail: s.keepMail}
	o.Passwords.Hasher = s.hasher
	for _, change := range changes {
		change(&cfg, &o)
	}
	s.store, s.rows = cfg.Store, cfg.Store.AccountStore()
	s.accounts = account.New(o)
	cfg.Accounts = s.accounts
	auth, err := pintle.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.auth = auth
	mux.Handle("/auth/", auth)
	mux.Handle("/", auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if session := pintle.SessionFrom(r.Context()); session != nil {
			_, _ = w.Write([]byte(session.User.Email))
		}
	})))
	return s
}

func (s *site) keepMail(_ context.Context, m *pintle.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mails = append(s.mails, m)
	return nil
}

type lockedWriter struct{ *site }

func (w lockedWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.logs.Write(b)
}

// goodPassword is long enough, and no list has it.
const goodPassword = "correct horse battery"

// seed stores a user with a password, which may be empty: then there is none.
func (s *site) seed(email, chosen string, proved bool) *pintle.User {
	s.t.Helper()
	u := &pintle.User{ID: "id-" + email, Email: email}
	if proved {
		u.EmailVerified = time.Now().Add(-time.Hour).UTC().Truncate(time.Millisecond)
	}
	u, err := s.store.CreateUser(s.t.Context(), u)
	if err != nil {
		s.t.Fatal(err)
	}
	if chosen != "" {
		s.setPassword(u.ID, chosen)
	}
	return u
}

func (s *site) setPassword(userID, chosen string) {
	s.t.Helper()
	hash, err := s.hasher.Hash(s.t.Context(), chosen)
	if err != nil {
		s.t.Fatal(err)
	}
	err = s.rows.AddFactor(s.t.Context(), &accountstore.Factor{
		UserID: userID, Kind: "password", Secret: hash, Created: time.Now().Add(-time.Hour).UTC().Truncate(time.Millisecond),
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// user returns the stored user of an address, or nil.
func (s *site) user(email string) *pintle.User {
	s.t.Helper()
	u, err := s.store.UserByEmail(s.t.Context(), email)
	if err != nil {
		return nil
	}
	return u
}

// A browser keeps cookies and follows redirects.
type browser struct {
	*site
	client *http.Client
	page   string // the last page
	status int
	header http.Header
	at     *url.URL // of the last page

	// stays makes it follow no redirects.
	stays bool
}

// connections are those of the browsers. A test server that closes also closes the idle
// connections of http.DefaultTransport, which the browser of another test may be about to use.
var connections = http.DefaultTransport.(*http.Transport).Clone()

func (s *site) browser() *browser {
	jar, _ := cookiejar.New(nil)
	b := &browser{site: s, client: &http.Client{Jar: jar, Transport: connections}}
	b.client.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if b.stays || r.URL.Hostname() != "127.0.0.1" { // services of others are not asked
			return http.ErrUseLastResponse
		}
		return nil
	}
	return b
}

// stay makes the browser show redirects instead of following them.
func (b *browser) stay() *browser {
	b.stays = true
	return b
}

func (b *browser) get(path string) *browser {
	b.t.Helper()
	return b.do(http.MethodGet, path, nil)
}

// do sends a request. The path may be a whole URL.
func (b *browser) do(method, path string, form url.Values) *browser {
	b.t.Helper()
	r := b.request(method, path, strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", b.server.URL)
	}
	r.Header.Set("Accept", "text/html")
	return b.send(r)
}

func (b *browser) request(method, path string, body io.Reader) *http.Request {
	b.t.Helper()
	target := path
	if strings.HasPrefix(path, "/") {
		target = b.server.URL + path
	}
	r, err := http.NewRequestWithContext(b.t.Context(), method, target, body)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *browser) send(r *http.Request) *browser {
	b.t.Helper()
	resp, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	b.page, b.status, b.header, b.at = string(text), resp.StatusCode, resp.Header, resp.Request.URL
	return b
}

var formToken = regexp.MustCompile(`name="csrfToken" value="([^"]+)"`)

// token is the form token of the browser.
func (b *browser) token() string {
	b.t.Helper()
	if token := formToken.FindStringSubmatch(b.page); token != nil {
		return token[1]
	}
	var answer struct {
		CSRFToken string `json:"csrfToken"`
	}
	other := *b
	if err := json.Unmarshal([]byte(other.get("/auth/csrf").page), &answer); err != nil {
		b.t.Fatal(err)
	}
	return answer.CSRFToken
}

// post posts a form of this browser.
func (b *browser) post(path string, pairs ...string) *browser {
	b.t.Helper()
	form := url.Values{"csrfToken": {b.token()}}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return b.do(http.MethodPost, path, form)
}

// postJSON posts an object, as a script does, and returns the answer.
func (b *browser) postJSON(path string, members map[string]any) map[string]any {
	b.t.Helper()
	with := map[string]any{"csrfToken": b.token()}
	maps.Copy(with, members)
	text, err := json.Marshal(with)
	if err != nil {
		b.t.Fatal(err)
	}
	r := b.request(http.MethodPost, path, bytes.NewReader(text))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	return b.send(r).json()
}

func (b *browser) json() map[string]any {
	b.t.Helper()
	var answer map[string]any
	if err := json.Unmarshal([]byte(b.page), &answer); err != nil {
		b.t.Fatalf("%d %q is no JSON: %v", b.status, b.page, err)
	}
	return answer
}

var styles = regexp.MustCompile(`(?s)<style>.*?</style>`)

// text is the last page without its styles.
func (b *browser) text() string { return styles.ReplaceAllString(b.page, "") }

// want checks the status of the last answer.
func (b *browser) want(status int) *browser {
	b.t.Helper()
	if b.status != status {
		b.t.Fatalf("%s was answered with status %d, want %d: %s", b.at, b.status, status, b.text())
	}
	return b
}

// says checks that the last page has a text.
func (b *browser) says(text string) *browser {
	b.t.Helper()
	if !strings.Contains(b.page, text) {
		b.t.Fatalf("the page %s does not say %q: %s", b.at, text, b.text())
	}
	return b
}

// isAt checks the path of the last page.
func (b *browser) isAt(path string) *browser {
	b.t.Helper()
	if cmp.Or(b.at.Path, "/") != path {
		b.t.Fatalf("the browser is at %s, want %s: %d %s", b.at, path, b.status, b.text())
	}
	return b
}

// who returns the address of the user who is signed in, or "".
func (b *browser) who() string {
	b.t.Helper()
	other := *b
	return other.get("/").page
}

func (b *browser) isSignedInAs(email string) *browser {
	b.t.Helper()
	if got := b.who(); got != email {
		b.t.Fatalf("the browser is signed in as %q, want %q; it is at %s: %d %s", got, email, b.at, b.status, b.text())
	}
	return b
}

// signIn signs in with a password.
func (b *browser) signIn(email, entered string) *browser {
	b.t.Helper()
	return b.get("/auth/signin").post("/auth/callback/credentials", "email", email, "password", entered)
}

// cookieNames are the names of the cookies that the last answer sets, in order.
func (b *browser) cookieNames() []string {
	var names []string
	for _, line := range b.header["Set-Cookie"] {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// aboutDevice reports whether a mail tells of a sign-in in a new browser, as most sign-ins of
// tests are. Tests of these mails look for them themselves.
func aboutDevice(m *pintle.Message) bool { return strings.HasPrefix(m.Kind, "new-device") }

// sent returns the mails to an address, in order, without those about new browsers.
func (s *site) sent(to string) []*pintle.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*pintle.Message
	for _, m := range s.mails {
		if m.To == to && !aboutDevice(m) {
			all = append(all, m)
		}
	}
	return all
}

// lastMail returns the last mail that is not about a new browser.
func (s *site) lastMail() *pintle.Message {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range slices.Backward(s.mails) {
		if !aboutDevice(m) {
			return m
		}
	}
	s.t.Fatal("no mail was sent")
	return nil
}

// wantMail checks the subject of the last mail, and returns the mail.
func (s *site) wantMail(to, subject string) *pintle.Message {
	s.t.Helper()
	m := s.lastMail()
	if m.To != to || !strings.Contains(m.Subject, subject) {
		s.t.Fatalf("the last mail is %q to %s, want %q to %s", m.Subject, m.To, subject, to)
	}
	return m
}

var mailedCode = regexp.MustCompile(`\b\d{4} \d{4}\b`)

// code returns the code of the last mail.
func (s *site) code() string {
	s.t.Helper()
	code := mailedCode.FindString(s.lastMail().Text)
	if code == "" {
		s.t.Fatalf("the mail has no code: %s", s.lastMail().Text)
	}
	return code
}

// log returns what was logged.
func (s *site) log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logs.String()
}
