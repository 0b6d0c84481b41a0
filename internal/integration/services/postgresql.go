package services

import (
	"context"
	"net/url"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the database/sql driver "pgx"
)

// PostgreSQL starts a PostgreSQL server for this test alone. Its URL names the
// database "postgres" and needs no password.
func PostgreSQL(t testing.TB) *Server {
	t.Helper()
	s, err := startPostgreSQL()
	if err != nil {
		t.Fatal(err)
	}
	return s.ownedBy(t)
}

// PostgreSQLDatabase makes a database on the server the tests of this binary
// share, opened with pgx, and drops it when the test ends.
func PostgreSQLDatabase(t testing.TB) *Database {
	t.Helper()
	s := shared(t, "postgresql", startPostgreSQL)
	name := databaseName()
	if err := execute(t.Context(), "pgx", s.URL, "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := execute(context.Background(), "pgx", s.URL, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return openDatabase(t, "pgx", postgreSQLURL(s.Addr, name))
}

func postgreSQLURL(addr, database string) string {
	u := url.URL{Scheme: "postgres", User: url.User("pintle"), Host: addr, Path: database, RawQuery: "sslmode=disable"}
	return u.String()
}

func startPostgreSQL() (*Server, error) {
	initdb, err := program("initdb")
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
	s := &Server{name: "PostgreSQL", dir: dir, goodbye: syscall.SIGINT} // "fast": does not wait for clients
	s.command = postgreSQLCommand(owner, dir, data)
	s.ready = func(ctx context.Context) error { return ping("pgx", s.URL)(ctx) }
	if err := run(owner.command(dir, initdb, "-D", data, "-U", "pintle", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")); err != nil {
		return nil, err
	}
	if err := s.open(func(addr string) string { return postgreSQLURL(addr, "postgres") }); err != nil {
		return nil, err
	}
	return s, nil
}

// postgreSQLCommand returns the command of a server with its files in data.
func postgreSQLCommand(owner account, dir, data string) func(port string) *exec.Cmd {
	return func(port string) *exec.Cmd {
		postgres, err := program("postgres")
		if err != nil {
			postgres = "postgres" // the error of Start says that there is none
		}
		return owner.command(dir, postgres, "-D", data, "-p", port,
			"-c", "listen_addresses=127.0.0.1",
			"-c", "unix_socket_directories=",
			"-c", "max_connections=500", // the suite opens 64, and suites run beside each other
			"-c", "shared_buffers=32MB",
			// The data need not outlive the machine, only the process.
			"-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off")
	}
}
