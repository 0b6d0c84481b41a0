package account_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"runtime"
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
	"github.com/pintleauth/pintle/throttle"
)

// kindsOfUsers are addresses of users of every kind, and of none.
var kindsOfUsers = []string{
	"none@example.com", "proven@example.com", "without@example.com", "banned@example.com", "unproven@example.com", "factor@example.com",
}

func (s *site) seedEveryKind() {
	s.t.Helper()
	s.seed("proven@example.com", goodPassword, true)
	s.seed("without@example.com", "", true)
	banned := s.seed("banned@example.com", goodPassword, true)
	s.seed("unproven@example.com", goodPassword, false)
	factor := s.seed("factor@example.com", goodPassword, true)
	s.addTOTP(factor.ID)
	s.changeState(banned.ID, func(state *accountstore.State) { state.BannedUntil = accountstore.Forever })
}

var (
	// randomInPage is what differs between the pages of any two browsers.
	randomInPage = regexp.MustCompile(`value="[0-9a-f]{64}(\|[0-9a-f]*)?"`)

	// cookieValue and waiting are what differs between the headers of any two answers.
	cookieValue = regexp.MustCompile(`^([^=]*)=([^;]*)`)
	waiting     = regexp.MustCompile(`^[0-9]+$`)
)

// shape is an answer without what is random in it: status, headers and body. Of a cookie it
// has the name, the attributes and the length of its value.
func (b *browser) shape() string {
	var shape strings.Builder
	fmt.Fprintln(&shape, b.status)
	for _, name := range slices.Sorted(maps.Keys(b.header)) {
		for _, value := range b.header[name] {
			switch name {
			case "Date":
				continue
			case "Set-Cookie":
				value = cookieValue.ReplaceAllStringFunc(value, func(pair string) string {
					name, sealed, _ := strings.Cut(pair, "=")
					return fmt.Sprintf("%s=%d bytes", name, len(sealed))
				})
			case "Retry-After":
				value = waiting.ReplaceAllString(value, "a number")
			}
			fmt.Fprintf(&shape, "%s: %s\n", name, value)
		}
	}
	return shape.String() + randomInPage.ReplaceAllString(b.text(), "") + "\n"
}

// A question is what a client can ask about an address. The client has a new browser, and
// whatever it asks, it notes the answers.
type question func(ask func(path string, pairs ...string), show func(path string), email string)

var questions = map[string]question{
	"sign-up": func(ask func(string, ...string), show func(string), email string) {
		ask("/auth/account/sign-up", "email", email, "callbackUrl", "/welcome")
		show("/auth/account/sign-up-sent")
		for range 4 { // the last is beyond the limit
			ask("/auth/account/sign-up-sent", "again", "1")
		}
		ask("/auth/account/sign-up-sent", "code", "no code")
		for range 6 { // the last is beyond the limit
			ask("/auth/account/sign-up-sent", "code", "1234 5678")
		}
		show("/auth/account/sign-up-finish")
		ask("/auth/account/sign-up-finish", "password", goodPassword)
	},
	"forgot": func(ask func(string, ...string), show func(string), email string) {
		for range 6 { // the last is beyond the limit
			ask("/auth/account/forgot", "email", email)
		}
		show("/auth/account/forgot-sent")
		show("/auth/account/reset")
		ask("/auth/account/reset", "password", goodPassword)
	},
	"password": func(ask func(string, ...string), show func(string), email string) {
		for range 11 { // the last is beyond the limit
			ask("/auth/callback/credentials", "email", email, "password", "a wrong password")
		}
		ask("/auth/callback/credentials", "email", email, "password", "")
		ask("/auth/callback/credentials", "email", email, "password", strings.Repeat("long", 1000))
		show("/auth/signin?error=CredentialsSignin&code=credentials")
		show("/auth/session")
	},
	"mail link": func(ask func(string, ...string), show func(string), email string) {
		ask("/auth/signin/email", "email", email)
		ask("/auth/signin/email", "email", email)
		show("/auth/verify-request?provider=email&type=email")
	},
}

// withMailLinks adds the provider of mail links.
func withMailLinks(s **site) func(*pintle.Config, *account.Options) {
	return func(c *pintle.Config, _ *account.Options) {
		c.Providers = append(c.Providers, &pintle.Email{From: "no-reply@example.com", Send: func(ctx context.Context, m *pintle.Message) error {
			return (*s).keepMail(ctx, m)
		}})
	}
}

// answers are the shapes of all answers to a question about an address, and how many mails
// went where.
func (s *site) answers(ask question, script bool, email string) string {
	s.t.Helper()
	b := s.browser().get("/auth/signin").stay()
	var all strings.Builder
	before := len(s.mails)
	ask(func(path string, pairs ...string) {
		if script {
			b.postAsScript(path, pairs...)
		} else {
			b.post(path, pairs...)
		}
		fmt.Fprintln(&all, "POST", path, len(s.mails)-before, "mails", b.shape())
	}, func(path string) {
		b.get(path)
		fmt.Fprintln(&all, "GET", path, b.shape())
	}, email)
	for _, m := range s.mails[before:] {
		fmt.Fprintln(&all, "mail to", m.To)
	}
	return strings.ReplaceAll(strings.ReplaceAll(all.String(), strings.ReplaceAll(email, "@", "%40"), "EMAIL"), email, "EMAIL")
}

// postAsScript posts an object as the clients of Auth.js and scripts of the application do.
func (b *browser) postAsScript(path string, pairs ...string) {
	b.t.Helper()
	members := map[string]string{"csrfToken": b.token()}
	for i := 0; i < len(pairs); i += 2 {
		members[pairs[i]] = pairs[i+1]
	}
	text, err := json.Marshal(members)
	if err != nil {
		b.t.Fatal(err)
	}
	r := b.request(http.MethodPost, path, bytes.NewReader(text))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	r.Header.Set("X-Auth-Return-Redirect", "1")
	b.send(r)
}

// sameAnswers checks that the answers to a question are those about an address without an
// account, whichever address it is about.
func sameAnswers(t *testing.T, ask question, want string) {
	t.Helper()
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for _, script := range []bool{false, true} {
			var s *site
			s = newSite(t, tokens, withMailLinks(&s))
			s.seedEveryKind()
			free := s.answers(ask, script, kindsOfUsers[0])
			if !strings.Contains(free, want) {
				t.Fatalf("the answers do not have %q:\n%s", want, free)
			}
			for _, email := range kindsOfUsers[1:] {
				if got := s.answers(ask, script, email); got != free {
					t.Errorf("%s is answered differently:\n%s", email, firstDifference(got, free))
				}
			}
		}
	})
}

// firstDifference is the first line in which two texts differ, of both.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "got  " + g[i] + "\nwant " + w[i]
		}
	}
	return fmt.Sprintf("got %d lines, want %d", len(g), len(w))
}

// AT-17, AC-5, AC-51
func TestAnswersToASignUpTellNothingOfTheAddress(t *testing.T) {
	sameAnswers(t, questions["sign-up"], "4 mails") // the first one and three more
}

// AT-20, AC-5, AC-73
func TestAnswersToAForgottenPasswordTellNothingOfTheAddress(t *testing.T) {
	sameAnswers(t, questions["forgot"], "5 mails")
}

// AT-20, AC-5, AC-70
func TestAWrongPasswordTellsNothingOfTheAddress(t *testing.T) {
	sameAnswers(t, questions["password"], "CredentialsSignin")
}

// AT-20, AC-5
func TestAnswersToAMailLinkTellNothingOfTheAddress(t *testing.T) {
	sameAnswers(t, questions["mail link"], "2 mails")
}

// A recorder notes the calls of a store, whether each found a row, and how many factors were
// found.
type recorder struct {
	mu      sync.Mutex
	calls   []string
	factors int
}

func (r *recorder) note(call string, err error) {
	if errors.Is(err, pintle.ErrNotFound) {
		call += ", not found"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
}

// of returns the calls of a function, sorted.
func (r *recorder) of(do func()) []string {
	r.calls, r.factors = nil, 0
	do()
	return slices.Sorted(slices.Values(r.calls))
}

type recordedStore struct {
	pintle.Store
	*recorder
}

func (s recordedStore) AccountStore() accountstore.Store {
	return recordedRows{s.Store.AccountStore(), s.recorder}
}

func (s recordedStore) InTx(ctx context.Context, do func(pintle.Store) error) error {
	s.note("InTx", nil)
	return s.Store.InTx(ctx, func(tx pintle.Store) error { return do(recordedStore{tx, s.recorder}) })
}

func (s recordedStore) User(ctx context.Context, id string) (*pintle.User, error) {
	u, err := s.Store.User(ctx, id)
	s.note("User", err)
	return u, err
}

func (s recordedStore) SessionAndUser(ctx context.Context, token string) (*pintle.StoredSession, *pintle.User, error) {
	session, u, err := s.Store.SessionAndUser(ctx, token)
	s.note("SessionAndUser", err)
	return session, u, err
}

func (s recordedStore) UserByEmail(ctx context.Context, email string) (*pintle.User, error) {
	u, err := s.Store.UserByEmail(ctx, email)
	s.note("UserByEmail", err)
	return u, err
}

func (s recordedStore) UserAccounts(ctx context.Context, userID string) ([]*pintle.Account, error) {
	all, err := s.Store.UserAccounts(ctx, userID)
	s.note("UserAccounts", err)
	return all, err
}

func (s recordedStore) UserPasskeys(ctx context.Context, userID string) ([]*pintle.Passkey, error) {
	all, err := s.Store.UserPasskeys(ctx, userID)
	s.note("UserPasskeys", err)
	return all, err
}

func (s recordedStore) DeleteSession(ctx context.Context, token string) (*pintle.StoredSession, error) {
	row, err := s.Store.DeleteSession(ctx, token)
	s.note("DeleteSession", err)
	return row, err
}

func (s recordedStore) CreateVerification(ctx context.Context, v *pintle.Verification) error {
	err := s.Store.CreateVerification(ctx, v)
	s.note("CreateVerification", err)
	return err
}

type recordedRows struct {
	accountstore.Store
	*recorder
}

func (r recordedRows) State(ctx context.Context, userID string) (*accountstore.State, error) {
	state, err := r.Store.State(ctx, userID)
	r.note("State", err)
	return state, err
}

func (r recordedRows) Factors(ctx context.Context, userID string) ([]*accountstore.Factor, error) {
	all, err := r.Store.Factors(ctx, userID)
	r.note("Factors", err)
	r.factors += len(all)
	return all, err
}

func (r recordedRows) Record(ctx context.Context, e *accountstore.Event) error {
	err := r.Store.Record(ctx, e)
	r.note("Record", err)
	return err
}

func (r recordedRows) CreateFlow(ctx context.Context, f *accountstore.Flow) error {
	err := r.Store.CreateFlow(ctx, f)
	r.note("CreateFlow", err)
	return err
}

func (r recordedRows) Flow(ctx context.Context, id accountstore.Hash) (*accountstore.Flow, error) {
	f, err := r.Store.Flow(ctx, id)
	r.note("Flow", err)
	return f, err
}

func (r recordedRows) AttemptFlow(ctx context.Context, id accountstore.Hash, limit int) (int, error) {
	n, err := r.Store.AttemptFlow(ctx, id, limit)
	r.note("AttemptFlow", err)
	return n, err
}

func (r recordedRows) ChangeFlow(ctx context.Context, f *accountstore.Flow) error {
	err := r.Store.ChangeFlow(ctx, f)
	r.note("ChangeFlow", err)
	return err
}

func (r recordedRows) UseFlow(ctx context.Context, id accountstore.Hash, kind string) (*accountstore.Flow, error) {
	f, err := r.Store.UseFlow(ctx, id, kind)
	r.note("UseFlow", err)
	return f, err
}

func (r recordedRows) EndFlows(ctx context.Context, subject string, kinds ...string) (int, error) {
	n, err := r.Store.EndFlows(ctx, subject, kinds...)
	r.note("EndFlows", err)
	return n, err
}

func (r recordedRows) CountFlows(ctx context.Context, subject, kind string, after time.Time) (int, error) {
	n, err := r.Store.CountFlows(ctx, subject, kind, after)
	r.note("CountFlows", err)
	return n, err
}

// AT-17, AT-20, AC-5: store calls, hashes and mails take nearly all the time of an answer.
func TestTheWorkIsTheSameForEveryAddress(t *testing.T) {
	for name, ask := range questions {
		t.Run(name, func(t *testing.T) {
			r := &recorder{}
			var s *site
			s = newSite(t, false, withMailLinks(&s), func(c *pintle.Config, _ *account.Options) { c.Store = recordedStore{c.Store, r} })
			s.seedEveryKind()
			s.seed("seen@example.com", goodPassword, true)
			s.browser().signIn("seen@example.com", "a wrong password") // a site has users that were found before
			free := r.of(func() { s.answers(ask, true, kindsOfUsers[0]) })
			factors := r.factors
			if len(free) == 0 {
				t.Fatal("the request makes no store call")
			}
			for _, email := range kindsOfUsers[1:] {
				if got := r.of(func() { s.answers(ask, true, email) }); !slices.Equal(got, free) {
					t.Errorf("%s: the store calls are\n%s\nwant those for an address without an account\n%s", email, got, free)
				}
				if email == "proven@example.com" && r.factors != factors {
					t.Errorf("the store finds %d factors, and %d for an address without an account", r.factors, factors)
				}
			}
		})
	}
}

// hashes counts the hashes that a function computes, by their memory.
func hashes(kib uint32, do func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return int(math.Round(float64(after.TotalAlloc-before.TotalAlloc) / float64(kib<<10)))
}

// AT-20, AC-5, AC-70
func TestAWrongPasswordCostsOneHashForEveryAddress(t *testing.T) {
	const kib = 32 << 10 // beside which nothing else counts
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		o.Passwords.Hasher = &password.Hasher{Memory: kib, Passes: 1}
	})
	s.hasher = &password.Hasher{Memory: kib, Passes: 1}
	s.seedEveryKind()
	for _, email := range kindsOfUsers {
		b := s.browser().get("/auth/signin").stay()
		n := hashes(kib, func() { b.post("/auth/callback/credentials", "email", email, "password", "a wrong password") })
		if n != 1 || b.status != http.StatusFound {
			t.Errorf("%s: %d hashes are computed, status %d", email, n, b.status)
		}
	}
}

// AT-17, AT-20: what is computed allocates memory: the hashes of codes, and the mails.
func TestAnAnswerAllocatesAsMuchForEveryAddress(t *testing.T) {
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		unlimited := throttle.Limit{Burst: -1}
		o.Passwords.Guard = &throttle.Guard{MailsPerAddress: unlimited, MailsPerClient: unlimited}
	})
	for name, paths := range map[string][]string{
		"sign-up": {"sign-up"}, "again": {"sign-up", "sign-up-sent"}, "code": {"sign-up", "sign-up-sent"}, "forgot": {"forgot"},
	} {
		t.Run(name, func(t *testing.T) {
			var free, taken []int
			for i := range 100 {
				email := fmt.Sprintf("%s%02d@example.com", name, i)
				s.seed(email, "", true)
				if i%2 == 0 { // pools are as the request before left them
					free = append(free, s.allocations(name, "free-"+email, paths))
				}
				taken = append(taken, s.allocations(name, email, paths))
				if i%2 == 1 {
					free = append(free, s.allocations(name, "free-"+email, paths))
				}
			}
			slices.Sort(free)
			slices.Sort(taken)
			// The race detector makes pools forget at random.
			f, k := free[50], taken[50]
			if slack := 2 + f/25; f-k < -slack || f-k > slack || f == 0 {
				t.Errorf("%d allocations for an address without an account, and %d for one with an account", f, k)
			}
		})
	}
}

// allocations counts how often the last of several requests of one browser allocates memory.
func (s *site) allocations(name, email string, paths []string) int {
	s.t.Helper()
	first := httptest.NewRecorder()
	s.auth.ServeHTTP(first, httptest.NewRequestWithContext(s.t.Context(), http.MethodGet, s.server.URL+"/auth/csrf", nil))
	var token struct{ CSRFToken string }
	if err := json.Unmarshal(first.Body.Bytes(), &token); err != nil {
		s.t.Fatal(err)
	}
	cookies := first.Result().Cookies()
	form := url.Values{"csrfToken": {token.CSRFToken}, "email": {email}}
	if name == "again" {
		form.Set("again", "1")
	} else {
		form.Set("code", "1234 5678")
	}
	var before, after runtime.MemStats
	for _, path := range paths {
		r := httptest.NewRequestWithContext(s.t.Context(), http.MethodPost, s.server.URL+"/auth/account/"+path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", s.server.URL)
		r.Header.Set("Accept", "application/json")
		for _, c := range cookies {
			r.AddCookie(c)
		}
		w := httptest.NewRecorder()
		runtime.ReadMemStats(&before)
		s.auth.ServeHTTP(w, r)
		runtime.ReadMemStats(&after)
		cookies = append(cookies, w.Result().Cookies()...)
		if w.Code != http.StatusOK && w.Code != http.StatusUnprocessableEntity {
			s.t.Fatal(w.Code, w.Body)
		}
	}
	return int(after.Mallocs - before.Mallocs)
}

// AT-20, AC-72: users of a move have hashes of before, in their rows or in the former table.
func TestAWrongPasswordCostsAsMuchForAHashOfBefore(t *testing.T) {
	const kib = 16 << 10
	former := &password.Hasher{Memory: 3 * kib, Passes: 1}
	hash, err := former.Hash(t.Context(), "another password")
	if err != nil {
		t.Fatal(err)
	}
	imports := 0
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		o.Passwords.Hasher = &password.Hasher{Memory: kib, Passes: 1}
		o.Passwords.FormerHash = hash
		o.Passwords.Import = func(_ context.Context, u *pintle.User) (string, error) {
			imports++
			if u.Email == "table@example.com" {
				return hash, nil
			}
			return "", nil
		}
	})
	s.hasher = &password.Hasher{Memory: kib, Passes: 1}
	s.seedEveryKind()
	moved := []string{"row@example.com", "table@example.com", "damaged@example.com"}
	for _, email := range moved {
		u, err := s.store.CreateUser(t.Context(), &pintle.User{Email: email, EmailVerified: time.Now().UTC().Truncate(time.Millisecond)})
		if err != nil {
			t.Fatal(err)
		}
		if email == "row@example.com" {
			s.hasher = former
			s.setPassword(u.ID, goodPassword)
		}
		if email == "damaged@example.com" {
			s.setPassword(u.ID, goodPassword)
			row := s.factor(u, "password")
			row.Secret = "$argon2id$damaged"
			if err := s.rows.ReplaceFactor(t.Context(), row); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, email := range append(moved, kindsOfUsers...) {
		b := s.browser().get("/auth/signin").stay()
		imports = 0
		n := hashes(kib, func() { b.post("/auth/callback/credentials", "email", email, "password", "a wrong password") })
		if n != 1+3 || imports != 1 || b.status != http.StatusFound {
			t.Errorf("%s: work of %d hashes and %d calls of Import, want 4 and 1; status %d", email, n, imports, b.status)
		}
	}
	for email, right := range map[string]string{"proven@example.com": "another password", "row@example.com": goodPassword} {
		s.browser().signIn(email, right).isSignedInAs(map[bool]string{true: email}[right == goodPassword])
	}
	// The hash of before was replaced, so the password is compared with one hash.
	b := s.browser().get("/auth/signin").stay()
	n := hashes(kib, func() { b.post("/auth/callback/credentials", "email", "row@example.com", "password", goodPassword) })
	if n != 1 {
		t.Errorf("the right password costs the work of %d hashes, want that of the new one", n)
	}
}

// AT-20
func TestADamagedHashIsAnsweredAsAWrongPassword(t *testing.T) {
	s := newSite(t, false)
	u := s.seed("damaged@example.com", goodPassword, true)
	row := s.factor(u, "password")
	row.Secret = "$argon2id$damaged"
	if err := s.rows.ReplaceFactor(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	want := s.answers(questions["password"], false, "none@example.com")
	if got := s.answers(questions["password"], false, u.Email); got != want {
		t.Error(firstDifference(got, want))
	}
	if log := s.log(); !strings.Contains(log, "stored hash of a password cannot be used") || !strings.Contains(log, u.ID) {
		t.Errorf("the log does not name the user: %s", log)
	}
}

// AT-20
func TestAFormerTableThatDoesNotAnswerTellsNothingOfTheAddress(t *testing.T) {
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		o.Passwords.Import = func(context.Context, *pintle.User) (string, error) {
			return "", errors.New("the table does not answer")
		}
	})
	s.seedEveryKind()
	s.browser().signIn("proven@example.com", goodPassword).isSignedInAs("proven@example.com")
	want := s.answers(questions["password"], false, kindsOfUsers[0])
	for _, email := range kindsOfUsers[1:] {
		if got := s.answers(questions["password"], false, email); got != want {
			t.Errorf("%s is answered differently:\n%s", email, firstDifference(got, want))
		}
	}
}

func TestNewRefusesAFormerHashThatCannotBeVerified(t *testing.T) {
	for _, hash := range []string{"$2b$31$CCCCCCCCCCCCCCCCCCCCC.gkH6UnjS0HnlIFKPrxOxecnCGXTwVua", "plain text"} {
		_, err := pintle.New(pintle.Config{
			Store: memstore.New(), URL: "https://app.example.com", Secrets: []string{strings.Repeat("secret ", 6)},
			Getenv: func(string) string { return "" },
			Accounts: account.New(account.Options{
				Mail: func(context.Context, *pintle.Message) error { return nil }, Passwords: account.Passwords{FormerHash: hash},
			}),
		})
		if !errors.Is(err, password.ErrHash) || !strings.Contains(err.Error(), "FormerHash") {
			t.Errorf("%.10s: %v", hash, err)
		}
	}
}
