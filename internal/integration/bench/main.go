// Command server is the application that the session-check benchmark measures:
// written with the public API as any application would be.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/provider"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	sessions, err := openSessions(os.Getenv("BENCH_MODE"))
	if err != nil {
		return err
	}
	auth, err := pintle.New(pintle.Config{
		// As every application that is deployed has it. Without it each request is searched for
		// the headers of a proxy.
		URL: "http://127.0.0.1:" + os.Getenv("PORT"),
		Providers: []pintle.Provider{
			&pintle.Credentials{Authorize: authorize},
			// Database sessions are refused for credentials alone.
			provider.GitHub(provider.Options{ClientID: "bench", ClientSecret: "not used"}),
		},
		Store:   sessions.store,
		Session: pintle.SessionConfig{Strategy: sessions.strategy},
	})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { text(w, "ok") })
	check := auth.Load(auth.Require(http.HandlerFunc(protected)))
	if mode := os.Getenv("BENCH_MODE"); strings.HasSuffix(mode, "-by-hand") {
		if check, err = newByHand(sessions.db, mode); err != nil {
			return err
		}
	}
	mux.Handle("GET /protected", check)
	mux.HandleFunc("POST /bench/seed", seed(sessions))
	mux.HandleFunc("GET /bench/gc", heap)

	// Without time-outs, like the baseline: each costs a timer per request that
	// has nothing to do with sessions.
	srv := &http.Server{Addr: "127.0.0.1:" + os.Getenv("PORT"), Handler: mux}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go func() {
		<-ctx.Done()
		_ = srv.Close()
	}()
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
		return err
	}
	return nil
}

func authorize(_ context.Context, s *pintle.Submission) (*pintle.User, error) {
	if s.Text("password") == "" {
		return nil, nil
	}
	return person(0, 0), nil
}

func protected(w http.ResponseWriter, r *http.Request) {
	text(w, pintle.SessionFrom(r.Context()).User.Name)
}

func text(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(body))
}

// person is one of the users of the benchmark, with padding in the image URL.
func person(i, pad int) *pintle.User {
	return &pintle.User{
		ID:    fmt.Sprintf("user-%06d", i),
		Name:  fmt.Sprint("Ada Lovelace ", i),
		Email: fmt.Sprintf("ada%d@example.com", i),
		Image: "https://example.com/ada.png" + strings.Repeat("x", pad),
	}
}

func seed(s *sessions) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.FormValue("n"))
		sample, _ := strconv.Atoi(r.FormValue("sample"))
		pad, _ := strconv.Atoi(r.FormValue("pad"))
		cookies, err := s.seed(r.Context(), n, sample, pad)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		text(w, strings.Join(cookies, "\n"))
	}
}

func heap(w http.ResponseWriter, _ *http.Request) {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	text(w, strconv.FormatUint(m.HeapAlloc, 10))
}
