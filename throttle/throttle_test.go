package throttle_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/throttle"
)

// A site has the users Kim and Lee, whose password is "open sesame".
type site struct {
	*pintle.Auth
	t     *testing.T
	asked atomic.Int32 // how many passwords it verified
	fail  atomic.Pointer[error]
	mails []string
	mu    sync.Mutex
	store *store
}

// A store counts the links that are stored.
type store struct {
	*memstore.Store
	rows int
}

func (s *store) CreateVerification(ctx context.Context, v *pintle.Verification) error {
	s.rows++
	return s.Store.CreateVerification(ctx, v)
}

func newSite(t *testing.T, g *throttle.Guard, changes ...func(*pintle.Config)) *site {
	t.Helper()
	s := &site{t: t, store: &store{Store: memstore.New()}}
	cfg := pintle.Config{
		URL:     "https://app.example.com",
		Secrets: []string{"a secret for tests, 32 characters or more"},
		Store:   s.store,
		Session: pintle.SessionConfig{Strategy: pintle.StrategyJWT},
		Logger:  slog.New(slog.DiscardHandler),
		Getenv:  func(string) string { return "" },
		Providers: []pintle.Provider{
			guard(g).Credentials(&pintle.Credentials{Authorize: s.authorize}, "username"),
			guard(g).Email(&pintle.Email{From: "no-reply@example.com", Send: s.send}),
		},
	}
	for _, change := range changes {
		change(&cfg)
	}
	var err error
	if s.Auth, err = pintle.New(cfg); err != nil {
		t.Fatal(err)
	}
	return s
}

func guard(g *throttle.Guard) *throttle.Guard {
	if g == nil {
		g = &throttle.Guard{}
	}
	return g
}

func (s *site) authorize(_ context.Context, sub *pintle.Submission) (*pintle.User, error) {
	s.asked.Add(1)
	if err := s.fail.Load(); err != nil {
		return nil, *err
	}
	if name := strings.ToLower(strings.TrimSpace(sub.Text("username"))); sub.Text("password") == "open sesame" && (name == "kim" || name == "lee") {
		return &pintle.User{ID: name, Name: name}, nil
	}
	return nil, nil // wrong credentials
}

func (s *site) send(_ context.Context, m *pintle.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mails = append(s.mails, m.To)
	return nil
}

// from is a request of a client.
func from(address string) *http.Request {
	r := httptest.NewRequest("POST", "https://app.example.com/login", nil)
	r.RemoteAddr = address
	return r
}

// try signs in and returns the outcome: "in", "wrong" or "refused".
func (s *site) try(address, username, password string) string {
	s.t.Helper()
	_, err := s.SignIn(httptest.NewRecorder(), from(address), "credentials", pintle.SignInOptions{
		Fields: map[string]any{"username": username, "password": password},
	})
	switch {
	case err == nil:
		return "in"
	case errors.Is(err, throttle.ErrTooMany) && errors.Is(err, pintle.CodeCredentials):
		return "refused"
	case errors.Is(err, pintle.CodeCredentials):
		return "wrong"
	}
	s.t.Errorf("%s at %s: %v", username, address, err)
	return ""
}

// guess tries a number of wrong passwords and returns how many were verified.
func (s *site) guess(n int, address, username string) int {
	s.t.Helper()
	before := s.asked.Load()
	for i := range n {
		s.try(address, username, fmt.Sprint("guess ", i))
	}
	return int(s.asked.Load() - before)
}

const here, elsewhere = "192.0.2.1:4711", "198.51.100.9:4711"

// ASVS-6.3.1
func TestGuessingIsSlowedDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		if n := s.guess(100, here, "kim"); n != 10 {
			t.Errorf("of 100 guesses %d were looked at, want 10", n)
		}
		if got := s.try(here, "kim", "open sesame"); got != "refused" {
			t.Errorf("a rejection reveals that the password is right: %s", got)
		}
		// Other clients are not affected, and the limit recovers: ASVS-6.1.1.
		if got := s.try(here, "lee", "open sesame"); got != "in" {
			t.Errorf("another account, from there: %s", got)
		}
		if got := s.try(elsewhere, "kim", "open sesame"); got != "in" {
			t.Errorf("the account, from elsewhere: %s", got)
		}
		time.Sleep(time.Minute)
		if n := s.guess(100, here, "kim"); n != 1 {
			t.Errorf("after a minute %d guesses were looked at, want 1", n)
		}
		time.Sleep(time.Minute)
		if got := s.try(here, "kim", "open sesame"); got != "in" {
			t.Errorf("after another: %s", got)
		}
		time.Sleep(time.Hour)
		if n := s.guess(100, here, "kim"); n != 10 {
			t.Errorf("after an hour %d guesses were looked at, want 10", n)
		}
	})
}

func TestOneClientCannotTryManyAccounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		looked := 0
		for i := range 500 {
			looked += s.guess(1, here, fmt.Sprint("person ", i))
		}
		if looked != 100 {
			t.Errorf("of 500 accounts %d were tried, want 100", looked)
		}
		if got := s.try(elsewhere, "kim", "open sesame"); got != "in" {
			t.Errorf("from elsewhere: %s", got)
		}
		time.Sleep(time.Minute)
		looked = 0
		for i := range 500 {
			looked += s.guess(1, here, fmt.Sprint("person ", i))
		}
		if looked != 10 {
			t.Errorf("a minute later %d, want 10", looked)
		}
	})
}

// ASVS-6.1.1: guesses do not affect an address from which the owner has signed in.
func TestManyClientsCannotTryOneAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		if got := s.try(here, "kim", "open sesame"); got != "in" {
			t.Fatal(got)
		}
		looked := 0
		for i := range 500 {
			looked += s.guess(1, fmt.Sprintf("203.0.%d.%d:1", 1+i/250, 1+i%250), "kim")
		}
		if looked != 100 {
			t.Errorf("of 500 guesses %d were looked at, want 100", looked)
		}
		if got := s.try(elsewhere, "kim", "open sesame"); got != "refused" {
			t.Errorf("from a new place: %s", got)
		}
		if got := s.try(here, "kim", "open sesame"); got != "in" {
			t.Errorf("from where Kim was before: %s", got)
		}
		if n := s.guess(100, here, "kim"); n != 10 {
			t.Errorf("but there %d guesses were looked at, want 10", n)
		}
	})
}

// Only an address that has signed in is exempt.
func TestAClientThatNeverSignedInIsNotExempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		away := errors.New("the database is away")
		s.fail.Store(&away)
		_, _ = s.SignIn(httptest.NewRecorder(), from(here), "credentials", pintle.SignInOptions{Fields: map[string]any{"username": "kim"}})
		s.fail.Store(nil)
		looked := 0
		for i := range 500 {
			if got := s.try(elsewhere, "kim", "open sesame"); got != "in" {
				t.Fatal(got)
			}
			looked += s.guess(1, fmt.Sprintf("203.0.%d.%d:1", 1+i/250, 1+i%250), "kim")
		}
		if looked != 100 {
			t.Errorf("of 500 guesses %d were looked at, want 100, however often the owner signs in", looked)
		}
		if got := s.try(here, "kim", "open sesame"); got != "refused" {
			t.Errorf("a client whose sign-in failed with a fault counts as the owner: %s", got)
		}
	})
}

// SH-34: all spellings of a client, and SH-87: of an account, share its limits.
func TestSpellingsAreCountedTogether(t *testing.T) {
	for _, tt := range []struct{ name, address, username string }{
		{"SH-34 another port", "192.0.2.1:1", "kim"},
		{"SH-34 IPv4 in IPv6", "[::ffff:192.0.2.1]:1", "kim"},
		{"SH-87 capitals", here, "KIM"},
		{"SH-87 spaces", here, " kim\t"},
		{"SH-87 full width", here, "ｋｉｍ"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, nil)
			s.guess(10, here, "kim")
			if n := s.guess(1, tt.address, tt.username); n != 0 {
				t.Errorf("%s at %s is counted apart", tt.username, tt.address)
			}
		})
	}
	t.Run("SH-34 a function of the host's", func(t *testing.T) {
		spellings := []string{"192.0.2.1", "::ffff:192.0.2.1"}
		asked := 0
		s := newSite(t, nil, func(cfg *pintle.Config) {
			cfg.ClientAddress = func(*http.Request) netip.Addr {
				asked++
				return netip.MustParseAddr(spellings[asked%2])
			}
		})
		if n := s.guess(100, here, "kim"); n != 10 {
			t.Errorf("of 100 guesses %d were looked at, want 10", n)
		}
	})
	t.Run("SH-34 one network", func(t *testing.T) {
		s := newSite(t, nil)
		s.guess(10, "[2001:db8::1]:1", "kim")
		if n := s.guess(1, "[2001:db8::ffff:1%eth0]:1", "kim"); n != 0 {
			t.Error("an address of the same 64 bits is counted apart")
		}
		if n := s.guess(1, "[2001:db8:0:1::1]:1", "kim"); n != 1 {
			t.Error("an address of another network is counted with it")
		}
	})
}

func TestAttemptsAtTheSameTimeAreCounted(t *testing.T) {
	s := newSite(t, nil)
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() { s.try(here, "kim", fmt.Sprint("guess ", i)) })
	}
	all.Wait()
	if n := s.asked.Load(); n != 10 {
		t.Errorf("of 64 guesses at once %d were looked at, want 10", n)
	}
}

func TestOnlyWrongPasswordsCount(t *testing.T) {
	s := newSite(t, nil)
	for range 500 {
		if got := s.try(here, "kim", "open sesame"); got != "in" {
			t.Fatalf("the right password: %s", got)
		}
	}
	away := errors.New("the database is away")
	s.fail.Store(&away)
	for range 500 {
		if _, err := s.SignIn(httptest.NewRecorder(), from(here), "credentials", pintle.SignInOptions{}); !errors.Is(err, away) {
			t.Fatalf("while it is away: %v", err)
		}
	}
	s.fail.Store(nil)
	if n := s.guess(100, here, "kim"); n != 10 {
		t.Errorf("then %d guesses were looked at, want 10", n)
	}
	locked := error(&pintle.Error{Code: pintle.CodeCredentials, Detail: "locked"})
	s.fail.Store(&locked)
	if n := s.guess(100, here, "lee"); n != 10 {
		t.Errorf("with an error for wrong passwords %d were looked at, want 10", n)
	}
}

func TestLimitsCanBeSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, &throttle.Guard{
			PerAccountAndClient: throttle.Limit{Burst: 3, Every: time.Hour},
			PerClient:           throttle.Limit{Burst: 5},
			PerAccount:          throttle.Limit{Burst: -1},
		})
		if n := s.guess(100, here, "kim"); n != 3 {
			t.Errorf("%d guesses were looked at, want 3", n)
		}
		if n := s.guess(100, here, "lee"); n != 2 {
			t.Errorf("%d more were looked at, want 2", n)
		}
		time.Sleep(59 * time.Minute)
		if n := s.guess(100, here, "kim"); n != 0 {
			t.Errorf("within the hour %d were looked at, want 0", n)
		}
		looked := 0
		for i := range 500 {
			looked += s.guess(1, fmt.Sprintf("203.0.%d.%d:1", 1+i/250, 1+i%250), "kim")
		}
		if looked != 500 {
			t.Errorf("without a limit %d of 500 were looked at", looked)
		}
	})
}

// ASVS-6.3.1, S-45: the sign-in page shows the limit to users, and scripts get
// status 429.
func TestTheLimitIsReportedToTheBrowser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		s.guess(10, here, "kim")
		post := func(headers ...string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequest("GET", "https://app.example.com/auth/csrf", nil))
			var csrf struct{ CSRFToken string }
			if err := json.Unmarshal(w.Body.Bytes(), &csrf); err != nil {
				t.Fatal(err)
			}
			form := url.Values{"csrfToken": {csrf.CSRFToken}, "username": {"kim"}, "password": {"open sesame"}}
			r := httptest.NewRequest("POST", "https://app.example.com/auth/callback/credentials", strings.NewReader(form.Encode()))
			r.RemoteAddr = here
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			for _, c := range w.Result().Cookies() {
				r.AddCookie(c)
			}
			for i := 0; i < len(headers); i += 2 {
				r.Header.Set(headers[i], headers[i+1])
			}
			w = httptest.NewRecorder()
			s.ServeHTTP(w, r)
			return w
		}
		const page = "https://app.example.com/auth/signin?error=CredentialsSignin&code=too_many_attempts"
		time.Sleep(1500 * time.Millisecond)
		script := post("X-Auth-Return-Redirect", "1")
		if got := script.Header().Get("Retry-After"); script.Code != http.StatusTooManyRequests || got != "59" {
			t.Errorf("a script gets status %d, Retry-After %q, want 429 and 59", script.Code, got)
		}
		var to struct{ URL string }
		if err := json.Unmarshal(script.Body.Bytes(), &to); err != nil || to.URL != page {
			t.Errorf("a script gets %s", script.Body)
		}
		if cookies := script.Result().Cookies(); len(cookies) > 0 {
			t.Errorf("cookies are set: %v", cookies)
		}
		browser := post()
		if browser.Code != http.StatusFound || browser.Header().Get("Location") != page || browser.Header().Get("Retry-After") != "" {
			t.Errorf("a browser gets status %d, %v", browser.Code, browser.Header())
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", page, nil))
		if w.Code != http.StatusTooManyRequests || !strings.Contains(w.Body.String(), "Too many attempts. Wait a few minutes and try again.") {
			t.Errorf("the page has status %d and shows %s", w.Code, w.Body)
		}
	})
}

// mail requests a link and reports whether one was sent.
func (s *site) mail(address, to string) bool {
	s.t.Helper()
	before := len(s.mails)
	_, err := s.SignIn(httptest.NewRecorder(), from(address), "email", pintle.SignInOptions{Fields: map[string]any{"email": to}})
	if refused := errors.Is(err, throttle.ErrTooMany); err != nil && !refused || refused == (len(s.mails) > before) {
		s.t.Errorf("a mail to %s: %v, %d sent", to, err, len(s.mails)-before)
	}
	return err == nil
}

func TestAMailboxIsNotFlooded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		sent := 0
		for i := range 100 {
			for _, to := range []string{"kim@example.com", fmt.Sprintf("Kim+%d@example.com", i)} {
				if s.mail(fmt.Sprintf("203.0.113.%d:1", i), to) {
					sent++
				}
			}
		}
		if sent != 5 {
			t.Errorf("%d mails were sent to one mailbox, want 5", sent)
		}
		if !s.mail(here, "lee@example.com") {
			t.Error("another address is hindered")
		}
		time.Sleep(10 * time.Minute)
		if !s.mail(here, "kim@example.com") || s.mail(here, "kim@example.com") {
			t.Error("ten minutes later not exactly one mail is sent")
		}
	})
}

func TestOneClientCannotMailManyAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		sent := 0
		for i := range 500 {
			if s.mail(here, fmt.Sprintf("person-%d@example.com", i)) {
				sent++
			}
		}
		if sent != 100 {
			t.Errorf("%d mails were sent, want 100", sent)
		}
		for range 5 {
			s.mail(here, "lee@example.com")
		}
		for range 5 {
			if !s.mail(elsewhere, "lee@example.com") {
				t.Error("a mail that was rejected counts")
			}
		}
	})
}

// Providers that send over HTTP set Send after they have read their key.
func TestASenderThatIsCompletedLaterIsGuarded(t *testing.T) {
	var s *site
	s = newSite(t, nil, func(cfg *pintle.Config) {
		cfg.Providers[1] = (&throttle.Guard{}).Email(&pintle.Email{
			From: "no-reply@example.com", APIKey: "key",
			Complete: func(p *pintle.Email, _ *http.Client) error {
				p.Send = func(ctx context.Context, m *pintle.Message) error { return s.send(ctx, m) }
				return nil
			},
		})
	})
	for range 10 {
		s.mail(here, "kim@example.com")
	}
	if len(s.mails) != 5 {
		t.Errorf("%d mails were sent, want 5", len(s.mails))
	}
}

func TestNewReportsAMissingFunction(t *testing.T) {
	g := &throttle.Guard{}
	for name, p := range map[string]pintle.Provider{
		"Authorize": g.Credentials(&pintle.Credentials{}, "username"),
		"Send":      g.Email(&pintle.Email{}),
	} {
		_, err := pintle.New(pintle.Config{
			Secrets: []string{"a secret for tests, 32 characters or more"}, Store: memstore.New(),
			Providers: []pintle.Provider{p}, Getenv: func(string) string { return "" },
		})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s New returns %v", name, err)
		}
	}
}

// SA-M6: every client can have an account "kim" at the second provider. A client that
// signs in to it is not known as the owner of "kim" at the first, and guesses at one
// of them do not lock out the other.
func TestAccountsOfTwoProvidersAreCountedApart(t *testing.T) {
	for name, account := range map[string]func(context.Context, *pintle.Submission) (string, error){
		"by the name that was typed": nil,
		"by the id of the account":   func(context.Context, *pintle.Submission) (string, error) { return "1", nil },
	} {
		twoProviders := func(t *testing.T) (s *site, forum func(address, password string) error) {
			g := &throttle.Guard{}
			s = newSite(t, nil, func(cfg *pintle.Config) {
				cfg.Providers = []pintle.Provider{
					g.Credentials(&pintle.Credentials{Account: account, Authorize: func(ctx context.Context, sub *pintle.Submission) (*pintle.User, error) {
						return s.authorize(ctx, sub)
					}}, "username"),
					g.Credentials(&pintle.Credentials{ID: "forum", Account: account, Authorize: func(_ context.Context, sub *pintle.Submission) (*pintle.User, error) {
						if sub.Text("password") == "of the attacker" {
							return &pintle.User{ID: "a user of the forum"}, nil
						}
						return nil, nil
					}}, "username"),
				}
			})
			return s, func(address, password string) error {
				_, err := s.SignIn(httptest.NewRecorder(), from(address), "forum", pintle.SignInOptions{
					Fields: map[string]any{"username": "kim", "password": password},
				})
				return err
			}
		}
		network := func(i int) string { return fmt.Sprintf("203.0.113.%d:1", i) }
		t.Run(name+", known at the other", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, forum := twoProviders(t)
				guessed := 0
				for i := range 20 {
					if err := forum(network(i), "of the attacker"); err != nil {
						t.Fatal(err)
					}
					guessed += s.guess(10, network(i), "kim")
				}
				if guessed != 100 {
					t.Errorf("%d passwords of 200 were verified, want 100", guessed)
				}
			})
		})
		t.Run(name+", guessed at the other", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, forum := twoProviders(t)
				for i := range 110 {
					_ = forum(network(i/10), "a guess")
				}
				if err := forum(here, "of the attacker"); !errors.Is(err, throttle.ErrTooMany) {
					t.Fatalf("the limit of the account of the forum is not used up: %v", err)
				}
				if got := s.try(here, "kim", "open sesame"); got != "in" {
					t.Errorf("the owner at a new address is %s", got)
				}
				if got := s.try(network(0), "kim", "open sesame"); got != "in" {
					t.Errorf("the owner at an address of the guesses is %s", got)
				}
			})
		})
	}
}

// A client that closes the connection while its password is verified can make the application
// fail, as by a query with the context of the request. Such guesses count.
func TestAClientThatLeavesDuringAGuessIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		s.fail.Store(&context.Canceled)
		for range 40 {
			ctx, leave := context.WithCancel(t.Context())
			leave()
			_, err := s.SignIn(httptest.NewRecorder(), from(here).WithContext(ctx), "credentials", pintle.SignInOptions{
				Fields: map[string]any{"username": "kim", "password": "a guess"},
			})
			if err == nil {
				t.Fatal("a guess signs in")
			}
		}
		if n := s.asked.Load(); n != 10 {
			t.Errorf("of 40 guesses %d were verified, want 10", n)
		}
	})
}

// With a field that the form does not have, the twelfth wrong password of any user would
// lock all others out.
func TestTheFieldOfTheAccountIsOneOfTheForm(t *testing.T) {
	form := []pintle.Field{{Name: "email"}, {Name: "password", Type: "password"}}
	account := func(context.Context, *pintle.Submission) (string, error) { return "", nil }
	for _, tt := range []struct {
		name, field string
		form        []pintle.Field
		page        string
		account     func(context.Context, *pintle.Submission) (string, error)
		want        string // "" is no error
	}{
		{"one of the fields", "email", form, "", nil, ""},
		{"another", "username", form, "", nil, `attempts are counted by the field "username", and Fields have "email" and "password"`},
		{"another, with a function for the account", "username", form, "", account, `the field "username"`},
		{"another spelling", "Email", form, "", nil, `the field "Email"`},
		{"one of the default fields", "username", nil, "", nil, ""},
		{"none of the default fields", "email", nil, "", nil, `Fields have "username" and "password"`},
		{"a form of the host", "email", []pintle.Field{}, "", nil, ""},
		{"no field", "", form, "", nil, `the field ""`},
		{"no field in a form of the host", "", []pintle.Field{}, "", nil, "there are no Fields"},
		{"no field, with a function for the account", "", form, "", account, ""},
		{"none of the default fields, on a page of the host", "email", nil, "/login", nil, ""},
		{"another, on a page of the host", "username", form, "/login", nil, `the field "username"`},
		{"no field, on a page of the host", "", nil, "/login", nil, "there are no Fields"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			authorize := func(context.Context, *pintle.Submission) (*pintle.User, error) { return nil, nil }
			_, err := pintle.New(pintle.Config{
				URL:     "https://app.example.com",
				Secrets: []string{"a secret for tests, 32 characters or more"},
				Logger:  slog.New(slog.DiscardHandler),
				Getenv:  func(string) string { return "" },
				Pages:   pintle.Pages{SignIn: tt.page},
				Providers: []pintle.Provider{
					new(throttle.Guard).Credentials(&pintle.Credentials{ID: "password", Fields: tt.form, Authorize: authorize, Account: tt.account}, tt.field),
				},
			})
			if tt.want == "" && err != nil {
				t.Errorf("New() = %v, want no error", err)
			}
			if tt.want != "" && (!errors.Is(err, pintle.CodeConfiguration) || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("New() = %v, want %q", err, tt.want)
			}
		})
	}
}
