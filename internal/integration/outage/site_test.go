package outage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/provider"
)

func TestMain(m *testing.M) {
	// The flags of each fault.
	_ = mysql.SetLogger(&mysql.NopLogger{})
	redis.SetLogger(silent{})
	os.Exit(services.Run(m))
}

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

const (
	cookieName = "authjs.session-token"

	// limit is the time the site gives a request, slack what a busy machine may
	// add to it.
	limit = time.Second / 2
	slack = 4 * time.Second

	people  = 24
	clients = 8 // at a time

	// recovery is how long after a fault all users must be served again.
	recovery = 15 * time.Second
)

// A site is an application under load whose sessions are in a store.
type site struct {
	auth   *pintle.Auth
	server *httptest.Server
	client *http.Client
	tokens []string

	mu      sync.Mutex
	codes   map[string]int // of the log
	foreign []string       // records with another code
}

// open serves a site with all users signed in.
func open(t *testing.T, store pintle.Store) *site {
	t.Helper()
	s := &site{codes: map[string]int{}}
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{provider.GitHub(provider.Options{ClientID: "faults", ClientSecret: "not used"})},
		Store:     store,
		Secrets:   []string{"a secret for tests, 32 characters or more"},
		Logger:    slog.New(s),
		Getenv:    func(string) string { return "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	s.auth = auth
	for i := range people {
		u, err := store.CreateUser(t.Context(), &pintle.User{Name: "Ada", Email: fmt.Sprintf("ada%d@example.org", i)})
		if err != nil {
			t.Fatal(err)
		}
		token := fmt.Sprintf("session-of-%d", i)
		now := time.Now()
		if err := store.CreateSession(t.Context(), &pintle.StoredSession{Token: token, UserID: u.ID, Created: now, Expires: now.Add(30 * 24 * time.Hour)}); err != nil {
			t.Fatal(err)
		}
		s.tokens = append(s.tokens, token)
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("/page", auth.Load(auth.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, pintle.SessionFrom(r.Context()).User.Name)
	}))))
	mux.HandleFunc("/api", s.api)
	s.server = httptest.NewServer(bounded(mux))
	s.client = &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: clients},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		s.server.Close()
	})
	return s
}

// bounded sets a time-out for each request, as a host does.
func bounded(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), limit)
		defer cancel()
		h.ServeHTTP(w, r.WithContext(ctx))
	})
}

// api is a handler that distinguishes a failure from an anonymous request.
func (s *site) api(w http.ResponseWriter, r *http.Request) {
	session, err := s.auth.Session(r)
	switch {
	case errors.Is(err, pintle.CodeStore):
		http.Error(w, "try again", http.StatusServiceUnavailable)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case session == nil:
		http.Error(w, "not signed in", http.StatusUnauthorized)
	default:
		_, _ = io.WriteString(w, session.User.Name)
	}
}

// Enabled, Handle, WithAttrs and WithGroup make the site its own log.
func (s *site) Enabled(context.Context, slog.Level) bool { return true }

func (s *site) Handle(_ context.Context, r slog.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "code" {
			s.codes[a.Value.String()]++
			if code := a.Value.String(); code != "SessionTokenError" && code != "AdapterError" {
				s.foreign = append(s.foreign, r.Message+" "+code)
			}
		}
		return true
	})
	return nil
}

func (s *site) WithAttrs([]slog.Attr) slog.Handler { return s }
func (s *site) WithGroup(string) slog.Handler      { return s }

// An outcome is the result of one visit.
type outcome string

const (
	served outcome = "served"
	failed outcome = "failed"
)

// visit requests a page as a signed-in user. An error means a broken promise.
func (s *site) visit(ctx context.Context, path, token string) (outcome, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.server.URL+path, nil)
	if err != nil {
		return "", err
	}
	req.AddCookie(&http.Cookie{Name: cookieName, Value: token})
	began := time.Now()
	res, err := s.client.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return "", err
	}
	if took := time.Since(began); took > limit+slack {
		return "", fmt.Errorf("%s was answered after %v", path, took)
	}
	for _, c := range res.Cookies() {
		if strings.HasPrefix(c.Name, cookieName) && (c.MaxAge < 0 || c.Value != token) {
			return "", fmt.Errorf("%s signs the browser out: %s", path, c)
		}
	}
	switch known := strings.Contains(string(body), "Ada"); {
	case res.StatusCode == http.StatusOK && known:
		return served, nil
	case (path == "/page" || path == "/api") && res.StatusCode == http.StatusServiceUnavailable,
		path == "/auth/session" && res.StatusCode == http.StatusOK && string(body) == "null":
		return failed, nil
	}
	return "", fmt.Errorf("%s answers %s: %s", path, res.Status, body)
}

var paths = []string{"/page", "/auth/session", "/api"}

// under visits the site while fault happens and returns how often visits were
// served and failed.
func (s *site) under(t *testing.T, fault func()) map[outcome]int {
	t.Helper()
	var (
		mu     sync.Mutex
		counts = map[outcome]int{}
		over   atomic.Bool
		all    sync.WaitGroup
	)
	for v := range clients {
		all.Go(func() {
			for i := v; !over.Load(); i++ {
				got, err := s.visit(t.Context(), paths[i%len(paths)], s.tokens[i%len(s.tokens)])
				mu.Lock()
				counts[got]++
				broken := err != nil && counts[""] < 5
				mu.Unlock()
				if broken {
					t.Error(err)
				}
			}
		})
	}
	fault()
	over.Store(true)
	all.Wait()
	return counts
}

// allUsers waits until each user is served at each path.
func (s *site) allUsers(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(recovery)
	for _, token := range s.tokens {
		for _, path := range paths {
			for {
				got, err := s.visit(t.Context(), path, token)
				if err != nil {
					t.Fatal(err)
				}
				if got == served {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("%s is not served %v after the fault", token, recovery)
				}
			}
		}
	}
}

// checkLog looks whether failures were logged with their documented code.
func (s *site) checkLog(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.codes["SessionTokenError"] == 0 {
		t.Error("no failure was logged as SessionTokenError")
	}
	for _, record := range s.foreign {
		t.Errorf("the log has %s", record)
	}
}

// goroutines counts those that are not between two requests of a client.
func (s *site) goroutines() int {
	s.client.CloseIdleConnections()
	return runtime.NumGoroutine()
}

// noLeak fails unless the process gets along with as many goroutines as before.
func (s *site) noLeak(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(recovery); s.goroutines() > before; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before the fault:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
	}
}
