// Command instance is the application of package soak: one of the processes behind its proxy.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	netsmtp "net/smtp"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the database/sql driver "pgx"
	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/password"
	"github.com/pintleauth/pintle/store/redisstore"
	"github.com/pintleauth/pintle/store/sqlstore"
	"github.com/pintleauth/pintle/throttle"
)

// settings come from the environment, as JSON in SOAK_INSTANCE.
type settings struct {
	URL, Issuer, Mailbox string
	PostgreSQL           string   // its data source name
	RedisCluster         []string // the addresses of its nodes, if there is no PostgreSQL
	Secrets              []string
	Tokens               bool // sessions are in tokens, and the store has the list of those that have ended
}

const (
	// requestTime is what a request has, connections is how many there are to the database.
	requestTime = 5 * time.Second
	connections = 16
)

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve prints its address, and serves until it receives SIGTERM.
func serve() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var s settings
	if err := json.Unmarshal([]byte(os.Getenv("SOAK_INSTANCE")), &s); err != nil {
		return fmt.Errorf("the variable SOAK_INSTANCE: %w", err)
	}
	store, ended, err := s.open(ctx)
	if err != nil {
		return err
	}
	auth, err := s.auth(store, ended)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: http.NewCrossOriginProtection().Handler(bounded(routes(auth))), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 30 * time.Second, IdleTimeout: 5 * time.Second,
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, listener.Addr())
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return server.Shutdown(ctx)
}

func (s *settings) open(ctx context.Context) (pintle.Store, pintle.RevocationStore, error) {
	if s.PostgreSQL == "" {
		client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: s.RedisCluster, ContextTimeoutEnabled: true})
		return redisstore.New(client, redisstore.Options{}), redisstore.NewRevocations(client, ""), nil
	}
	db, err := sql.Open("pgx", s.PostgreSQL)
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	// A database may be away when an instance starts.
	for {
		if err = sqlstore.Migrate(ctx, db, sqlstore.PostgreSQL); err == nil {
			return sqlstore.New(db, sqlstore.PostgreSQL), sqlstore.NewRevocations(db, sqlstore.PostgreSQL), nil
		}
		select {
		case <-ctx.Done():
			return nil, nil, err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (s *settings) auth(store pintle.Store, ended pintle.RevocationStore) (*pintle.Auth, error) {
	send := func(_ context.Context, m *pintle.Message) error {
		text := "From: app@example.com\r\nTo: " + m.To + "\r\nSubject: " + m.Subject + "\r\n\r\n" + strings.ReplaceAll(m.Text, "\n", "\r\n")
		return netsmtp.SendMail(s.Mailbox, nil, "app@example.com", []string{m.To}, []byte(text))
	}
	unlimited := throttle.Limit{Burst: 1 << 20, Every: time.Millisecond} // all users have one address
	sessions := pintle.SessionConfig{Strategy: pintle.StrategyDatabase}
	if s.Tokens {
		sessions = pintle.SessionConfig{Strategy: pintle.StrategyJWT, Revocation: ended}
	}
	return pintle.New(pintle.Config{
		Providers: []pintle.Provider{
			&pintle.OAuth{
				ID: "acme", Protocol: oauth.OIDC, Issuer: s.Issuer, ClientID: "acme", ClientSecret: "any",
				Checks:        []oauth.Check{oauth.CheckPKCE, oauth.CheckState, oauth.CheckNonce},
				Authorization: oauth.Endpoint{Params: map[string]string{"scope": "openid email profile offline_access"}},
			},
			&pintle.Email{From: "app@example.com", Send: send},
		},
		Store: store, Session: sessions, URL: s.URL, Secrets: s.Secrets, SealAccountTokens: true, Getenv: func(string) string { return "" },
		Accounts: account.New(account.Options{
			From: "app@example.com", Mail: send,
			Passwords: account.Passwords{
				Hasher: &password.Hasher{Memory: 64, Passes: 1}, // cheap: the store is what is tested
				Guard: &throttle.Guard{
					PerAccountAndClient: unlimited, PerClient: unlimited, PerAccount: unlimited,
					MailsPerAddress: unlimited, MailsPerClient: unlimited,
				},
			},
			Notices: account.Notices{Off: []string{"new-device"}},
		}),
	})
}

func routes(auth *pintle.Auth) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.HandleFunc("/{$}", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /app/me", func(w http.ResponseWriter, r *http.Request) {
		if u := user(w, r, auth); u != nil {
			_ = json.NewEncoder(w).Encode(u)
		}
	})
	mux.HandleFunc("POST /app/delete", func(w http.ResponseWriter, r *http.Request) {
		if u := user(w, r, auth); u != nil {
			answer(w, auth.DeleteUser(r.Context(), u.ID))
		}
	})
	mux.HandleFunc("POST /app/refresh", func(w http.ResponseWriter, r *http.Request) {
		if u := user(w, r, auth); u != nil {
			_, err := auth.Refresh(r.Context(), &pintle.Account{Provider: "acme", UserID: u.ID})
			answer(w, err)
		}
	})
	mux.HandleFunc("GET /debug/soak", measure)
	return mux
}

// user returns the user of the session, or answers why there is none.
func user(w http.ResponseWriter, r *http.Request, auth *pintle.Auth) *pintle.User {
	session, err := auth.Session(r)
	switch {
	case err != nil:
		http.Error(w, "try again", http.StatusServiceUnavailable)
	case session == nil:
		http.Error(w, "not signed in", http.StatusUnauthorized)
	default:
		return &session.User
	}
	return nil
}

func answer(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// bounded sets a time-out for each request, as a host does.
func bounded(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), requestTime)
		defer cancel()
		h.ServeHTTP(w, r.WithContext(ctx))
	})
}

// measure answers what the process holds.
func measure(w http.ResponseWriter, _ *http.Request) {
	runtime.GC()
	runtime.GC() // what a finalizer has kept
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, err := openFiles()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]int{"heap": int(m.HeapAlloc), "goroutines": runtime.NumGoroutine(), "files": files})
}

func openFiles() (int, error) {
	dir, err := os.Open("/dev/fd")
	if err != nil {
		return 0, err
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return len(names) - 1, err // without the one that is open for this
}
