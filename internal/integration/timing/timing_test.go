package timing

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/password"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/store/sqlstore"
	"github.com/pintleauth/pintle/throttle"
)

func TestMain(m *testing.M) { os.Exit(services.Run(m)) }

func TestTheRankTestIsThatOfMannAndWhitney(t *testing.T) {
	for name, c := range map[string]struct {
		a, b   []float64
		auc, p float64
	}{
		"the same":        {[]float64{1, 2, 3}, []float64{1, 2, 3}, 0.5, 1},
		"all equal":       {[]float64{7, 7}, []float64{7, 7, 7}, 0.5, 1},
		"all less":        {[]float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}, 0, 0.00902},
		"all greater":     {[]float64{6, 7, 8, 9, 10}, []float64{1, 2, 3, 4, 5}, 1, 0.00902},
		"one tie":         {[]float64{1, 2, 2}, []float64{2, 3, 4}, 1. / 9, 0.10457},
		"unequal lengths": {[]float64{1, 5, 9}, []float64{2, 3, 4, 6, 7, 8}, 0.5, 1},
	} {
		t.Run(name, func(t *testing.T) {
			auc, p := rankTest(c.a, c.b)
			if math.Abs(auc-c.auc) > 1e-9 || math.Abs(p-c.p) > 1e-4 {
				t.Errorf("AUC %.5f and p %.5f, want %.5f and %.5f", auc, p, c.auc, c.p)
			}
		})
	}
}

// A form is what a client asks about an address.
type form struct {
	name string

	// begin is what the client has done before, which is not measured.
	begin func(*client)
	ask   func(*client) answer
}

// kinds are the users of the first address of a pair. The control has none.
var kinds = []string{"control", "proven", "no-password", "banned", "unproven", "second-factor"}

var forms = []form{
	{"sign-up", nil, (*client).signUp},
	{"sign-up-again", func(c *client) { c.signUp() }, func(c *client) answer {
		return c.post("/auth/account/sign-up-sent", "again", "1")
	}},
	{"sign-up-code", func(c *client) { c.signUp() }, func(c *client) answer {
		return c.post("/auth/account/sign-up-sent", "code", "1234 5678")
	}},
	{"forgot", nil, func(c *client) answer { return c.post("/auth/account/forgot", "email", c.email) }},
	{"mail-link", nil, func(c *client) answer { return c.post("/auth/signin/email", "email", c.email) }},
	{"password", nil, (*client).signIn},
}

func (c *client) signUp() answer { return c.post("/auth/account/sign-up", "email", c.email) }

func (c *client) signIn() answer {
	return c.post("/auth/callback/credentials", "email", c.email, "password", "a wrong password")
}

// BenchmarkAnswerTimes measures each form of package account. The hashes of passwords are
// quick, so that they hide nothing else.
func BenchmarkAnswerTimes(b *testing.B) {
	for _, store := range stores {
		for _, f := range forms {
			for _, kind := range kinds {
				b.Run(store.name+"/"+f.name+"/"+kind, func(b *testing.B) {
					compare(b, newSite(b, store, &password.Hasher{Memory: 64, Passes: 1}), f, kind)
				})
			}
		}
		// The measurement is good for something: it finds this.
		for _, work := range []time.Duration{5 * time.Microsecond, 20 * time.Microsecond} {
			b.Run(fmt.Sprint(store.name, "/planted/", work), func(b *testing.B) {
				s := newSite(b, store, &password.Hasher{Memory: 64, Passes: 1})
				s.planted = work
				compare(b, s, forms[0], "control")
			})
		}
	}
}

// BenchmarkAnswerTimesOfPasswords measures sign-ins with hashes as they are in use. "bcrypt" are
// users whose hash is one of another system, and "bcrypt-hidden" the same where the application
// gives FormerHash.
func BenchmarkAnswerTimesOfPasswords(b *testing.B) {
	store := stores[1]
	for _, kind := range []string{"control", "proven", "no-password", "banned", "unproven", "second-factor", "bcrypt", "bcrypt-hidden"} {
		b.Run(store.name+"/"+kind, func(b *testing.B) {
			s := newSite(b, store, &password.Hasher{}, func(p *account.Passwords) {
				if kind == "bcrypt-hidden" {
					p.FormerHash = bcryptHash
				}
			})
			compare(b, s, form{name: "password", ask: (*client).signIn}, kind)
		})
	}
}

// A database is a kind of store. Its open also returns what is done once all users are
// stored.
type database struct {
	name string
	open func(*testing.B) (s pintle.Store, settle func())
}

var stores = []database{
	{"memory", func(*testing.B) (pintle.Store, func()) { return memstore.New(), func() {} }},
	{"postgresql", func(b *testing.B) (pintle.Store, func()) {
		db := services.PostgreSQLDatabase(b)
		if err := sqlstore.Migrate(b.Context(), db.DB, sqlstore.PostgreSQL); err != nil {
			b.Fatal(err)
		}
		return sqlstore.New(db.DB, sqlstore.PostgreSQL), func() {
			// The first reader of a row writes whether its transaction was committed.
			if _, err := db.ExecContext(b.Context(), "VACUUM ANALYZE"); err != nil {
				b.Fatal(err)
			}
		}
	}},
}

// compare measures b.N pairs and reports what tells them apart. Each request has an
// address of its own.
func compare(b *testing.B, s *site, f form, kind string) {
	const first = 50 // in which connections, plans and caches come into being
	emails := make([]string, b.N+first)
	for i := range emails {
		emails[i] = s.seed(kind)
	}
	s.settle()
	var known, unknown []float64
	c := s.client()
	for i, email := range emails {
		a := []*client{c.about(email), c.about(address())}
		if f.begin != nil {
			f.begin(a[0])
			f.begin(a[1])
		}
		var times [2]float64
		order := rand.Perm(2)
		for _, which := range order {
			s.extra = 0
			if which == 0 {
				s.extra = s.planted
			}
			got := f.ask(a[which])
			if got.status >= http.StatusInternalServerError || got.status == http.StatusTooManyRequests {
				b.Fatalf("%s: status %d: %s", f.name, got.status, got.body)
			}
			times[which] = float64(got.took.Nanoseconds()) / 1e3
		}
		if i >= first {
			known, unknown = append(known, times[0]), append(unknown, times[1])
		}
	}
	auc, p := rankTest(known, unknown)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(auc, "AUC")
	b.ReportMetric(p, "p")
	b.ReportMetric(median(known), "µs-known")
	b.ReportMetric(median(unknown), "µs-unknown")
}

// A site is an application with accounts and without limits.
type site struct {
	b      *testing.B
	store  pintle.Store
	settle func()
	hash   string // of the users with a password
	server *httptest.Server

	// planted is how much longer a request about the first address of a pair takes, and
	// extra the same of the next request.
	planted, extra time.Duration
}

// bcryptHash is a hash of another system.
const bcryptHash = "$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy"

func newSite(b *testing.B, of database, hasher *password.Hasher, changes ...func(*account.Passwords)) *site {
	b.Helper()
	s := &site{b: b}
	s.store, s.settle = of.open(b)
	var err error
	if s.hash, err = hasher.Hash(b.Context(), "correct horse battery"); err != nil {
		b.Fatal(err)
	}
	var auth http.Handler
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for begin := time.Now(); time.Since(begin) < s.extra; {
			// It works, and does not pause.
		}
		auth.ServeHTTP(w, r)
	}))
	b.Cleanup(s.server.Close)
	unlimited := throttle.Limit{Burst: -1}
	mail := func(context.Context, *pintle.Message) error { return nil }
	options := account.Options{Mail: mail, From: "no-reply@example.com", Passwords: account.Passwords{
		Hasher: hasher,
		Guard: &throttle.Guard{
			PerAccountAndClient: unlimited, PerClient: unlimited, PerAccount: unlimited, MailsPerAddress: unlimited, MailsPerClient: unlimited,
		},
	}}
	for _, change := range changes {
		change(&options.Passwords)
	}
	auth, err = pintle.New(pintle.Config{
		Store: s.store, URL: s.server.URL, Secrets: []string{strings.Repeat("secret ", 6)}, Getenv: func(string) string { return "" },
		Logger:    slog.New(slog.DiscardHandler),
		Providers: []pintle.Provider{&pintle.Email{From: "no-reply@example.com", Send: mail}},
		Accounts:  account.New(options),
	})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func address() string { return fmt.Sprintf("%016x@example.com", rand.Uint64()) }

// seed stores a user of a kind and returns the address.
func (s *site) seed(kind string) string {
	email := address()
	if kind == "control" {
		return email
	}
	ctx, now := s.b.Context(), time.Now().UTC().Truncate(time.Millisecond)
	u := &pintle.User{Email: email, Name: "Ada Lovelace"}
	if kind != "unproven" {
		u.EmailVerified = now
	}
	u, err := s.store.CreateUser(ctx, u)
	if err != nil {
		s.b.Fatal(err)
	}
	rows := s.store.AccountStore()
	factor := func(kind, id, secret string) {
		if err := rows.AddFactor(ctx, &accountstore.Factor{UserID: u.ID, Kind: kind, ID: id, Secret: secret, Created: now}); err != nil {
			s.b.Fatal(err)
		}
	}
	switch kind {
	case "no-password":
	case "bcrypt", "bcrypt-hidden":
		factor("password", "", bcryptHash)
	default:
		factor("password", "", s.hash)
	}
	switch kind {
	case "second-factor":
		factor("totp", "1", "sealed")
	case "banned":
		if err := rows.ChangeState(ctx, &accountstore.State{UserID: u.ID, BannedUntil: accountstore.Forever}); err != nil {
			s.b.Fatal(err)
		}
	}
	return email
}

// A client sends requests on one connection, as soon as it is told to.
type client struct {
	*site
	conn    net.Conn
	reader  *bufio.Reader
	cookies map[string]string
	token   string
	email   string
}

type answer struct {
	status int
	body   string
	took   time.Duration
}

func (s *site) client() *client {
	conn, err := net.Dial("tcp", s.server.Listener.Addr().String())
	if err != nil {
		s.b.Fatal(err)
	}
	s.b.Cleanup(func() { _ = conn.Close() })
	c := &client{site: s, conn: conn, reader: bufio.NewReader(conn), cookies: map[string]string{}}
	var token struct{ CSRFToken string }
	if err := json.Unmarshal([]byte(c.send(http.MethodGet, "/auth/csrf", nil).body), &token); err != nil {
		s.b.Fatal(err)
	}
	c.token = token.CSRFToken
	return c
}

// about is the client in a new browser that asks about an address.
func (c *client) about(email string) *client {
	other := *c
	other.email, other.cookies = email, maps.Clone(c.cookies)
	return &other
}

// post sends an object, as a script does.
func (c *client) post(path string, pairs ...string) answer {
	members := map[string]string{"csrfToken": c.token}
	for i := 0; i < len(pairs); i += 2 {
		members[pairs[i]] = pairs[i+1]
	}
	body, err := json.Marshal(members)
	if err != nil {
		c.b.Fatal(err)
	}
	return c.send(http.MethodPost, path, body)
}

func (c *client) send(method, path string, body []byte) answer {
	r, err := http.NewRequestWithContext(c.b.Context(), method, c.server.URL+path, bytes.NewReader(body))
	if err != nil {
		c.b.Fatal(err)
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("X-Auth-Return-Redirect", "1")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", c.server.URL)
	}
	for name, value := range c.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	var request bytes.Buffer
	if err := r.Write(&request); err != nil {
		c.b.Fatal(err)
	}
	begin := time.Now()
	if _, err := c.conn.Write(request.Bytes()); err != nil {
		c.b.Fatal(err)
	}
	resp, err := http.ReadResponse(c.reader, r)
	if err != nil {
		c.b.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	took := time.Since(begin)
	if err != nil {
		c.b.Fatal(err)
	}
	for _, cookie := range resp.Cookies() {
		c.cookies[cookie.Name] = cookie.Value
	}
	return answer{resp.StatusCode, string(text), took}
}
