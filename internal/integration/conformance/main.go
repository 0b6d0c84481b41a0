// Command conformance is the server that the conformance kit drives: the
// contract of the kit's README, implemented with Pintle's public API alone.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pintleauth/pintle"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run() error {
	text, err := os.ReadFile(os.Getenv("CONFORMANCE_CONFIG"))
	if err != nil {
		return err
	}
	var set settings
	if err := json.Unmarshal(text, &set); err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	rec := &recorder{file: set.RecordFile}
	store := newMemory(rec, set.Adapter)
	store.passkeys = set.Experimental.EnableWebAuthn
	cfg, err := set.config(rec, store)
	if err != nil {
		return err
	}
	// Every configuration must start, also one that New rejects, and report the
	// fault in its responses. A configuration that is made per request does that.
	auth := pintle.NewFunc(
		func(*http.Request) string { return "" },
		func(context.Context, string) (pintle.Config, error) { return cfg, nil },
	)
	srv := &http.Server{
		Addr:              net.JoinHostPort(orElse(set.Host, "127.0.0.1"), strconv.Itoa(set.Port)),
		Handler:           &server{settings: &set, auth: auth, store: store},
		MaxHeaderBytes:    512 << 10,
		ReadHeaderTimeout: 10 * time.Second,
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	go func() {
		<-ctx.Done()
		_ = srv.Close()
	}()
	l, err := net.Listen("tcp", srv.Addr)
	if err != nil {
		return err
	}
	if err := srv.Serve(listener{l}); err != http.ErrServerClosed {
		return err
	}
	return nil
}

type server struct {
	settings *settings
	auth     *pintle.Auth
	store    *memory
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.EscapedPath()
	base := strings.TrimSuffix(orElse(s.settings.BasePath, "/auth"), "/")
	switch {
	case strings.HasPrefix(path, "/__conformance/"):
		s.control(w, r)
	case path != base && !strings.HasPrefix(path, base+"/"):
		w.WriteHeader(http.StatusNotFound)
	default:
		s.auth.ServeHTTP(w, r)
	}
}

func (s *server) control(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/__conformance/reset":
		var rows tables
		if err := json.NewDecoder(r.Body).Decode(&rows); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.store.reset(rows)
		w.Header().Set("X-Conformance-Instance", s.settings.Instance)
		w.WriteHeader(http.StatusNoContent)
	case "/__conformance/state":
		answer(w, http.StatusOK, s.store.dump())
	case "/__conformance/session":
		session, err := s.auth.Session(r)
		if err != nil {
			answer(w, http.StatusInternalServerError, map[string]string{"error": err.Error()})
			return
		}
		answer(w, http.StatusOK, session)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(value); err != nil {
		slog.Error("answer", "error", err)
	}
}

func orElse(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}
