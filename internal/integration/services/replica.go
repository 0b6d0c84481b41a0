package services

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// PostgreSQLReplica starts a synchronous replica of a server of [PostgreSQL]: from now on a
// commit is acknowledged when the replica has it, too, in connections with synchronous_commit
// on. The server must not be stopped before [Server.Promote].
func PostgreSQLReplica(t testing.TB, primary *Server) *Server {
	t.Helper()
	s, err := startReplica(primary)
	if err != nil {
		t.Fatal(err)
	}
	s.ownedBy(t)
	for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"} {
		if err := execute(t.Context(), "pgx", primary.URL, statement); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func startReplica(primary *Server) (*Server, error) {
	basebackup, err := program("pg_basebackup")
	if err != nil {
		return nil, err
	}
	owner, err := unprivileged("postgres")
	if err != nil {
		return nil, err
	}
	dir, err := owner.tempDir("pintle-postgresql-")
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	host, port, err := net.SplitHostPort(primary.Addr)
	if err == nil {
		// -R writes where the primary is.
		err = run(owner.command(dir, basebackup, "-D", data, "-h", host, "-p", port, "-U", "pintle", "-R", "-X", "stream", "-c", "fast", "--no-sync"))
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s := &Server{name: "PostgreSQL replica", dir: dir, goodbye: syscall.SIGINT}
	s.command = postgreSQLCommand(owner, dir, data)
	s.ready = func(ctx context.Context) error { return ping("pgx", s.URL)(ctx) }
	if err := s.open(func(addr string) string { return postgreSQLURL(addr, "postgres") }); err != nil {
		return nil, err
	}
	return s, nil
}

// Promote makes a replica of PostgreSQL the primary, and waits until it accepts writes.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	for {
		err := execute(ctx, "pgx", s.URL, "SELECT pg_promote(true, 50)")
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("services: promote %s: %v", s.Addr, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
