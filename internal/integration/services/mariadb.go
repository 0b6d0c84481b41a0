package services

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// MariaDB starts a MariaDB server for this test alone. Its URL is a DSN of
// go-sql-driver/mysql that names the database "pintle" and needs no password.
func MariaDB(t testing.TB) *Server {
	t.Helper()
	s, err := startMariaDB()
	if err != nil {
		t.Fatal(err)
	}
	return s.ownedBy(t)
}

// MariaDBDatabase makes a database on the server the tests of this binary
// share, opened with go-sql-driver/mysql, and drops it when the test ends.
func MariaDBDatabase(t testing.TB) *Database {
	t.Helper()
	s := shared(t, "mariadb", startMariaDB)
	name := databaseName()
	if err := execute(t.Context(), "mysql", s.URL, "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := execute(context.Background(), "mysql", s.URL, "DROP DATABASE "+name); err != nil {
			t.Error(err)
		}
	})
	return openDatabase(t, "mysql", mariaDBDSN(s.Addr, name))
}

func mariaDBDSN(addr, database string) string {
	c := mysql.NewConfig()
	c.Net, c.Addr, c.User, c.DBName = "tcp", addr, "pintle", database
	return c.FormatDSN()
}

// mariaDBFirst is run at each start, before the first client.
const mariaDBFirst = `CREATE USER IF NOT EXISTS pintle@'127.0.0.1';
GRANT ALL ON *.* TO pintle@'127.0.0.1';
CREATE DATABASE IF NOT EXISTS pintle;
`

func startMariaDB() (*Server, error) {
	install, err := program("mariadb-install-db")
	if err != nil {
		return nil, err
	}
	mariadbd, err := program("mariadbd")
	if err != nil {
		return nil, err
	}
	owner, err := unprivileged("mysql")
	if err != nil {
		return nil, err
	}
	dir, err := owner.tempDir("pintle-mariadb-")
	if err != nil {
		return nil, err
	}
	data, first := filepath.Join(dir, "data"), filepath.Join(dir, "first.sql")
	if err := os.WriteFile(first, []byte(mariaDBFirst), 0o644); err != nil {
		return nil, fmt.Errorf("services: %w", err)
	}
	s := &Server{name: "MariaDB", dir: dir, goodbye: syscall.SIGTERM}
	s.command = func(port string) *exec.Cmd {
		return owner.command(dir, mariadbd, "--no-defaults", "--datadir="+data, "--init-file="+first,
			"--bind-address=127.0.0.1", "--port="+port, "--socket="+filepath.Join(dir, "socket"), "--pid-file="+filepath.Join(dir, "pid"),
			"--skip-name-resolve", "--character-set-server=utf8mb4", "--innodb-buffer-pool-size=32M", "--max-connections=500",
			// The data need not outlive the machine, only the process.
			"--debug-no-sync", "--innodb-flush-log-at-trx-commit=0", "--skip-innodb-doublewrite")
	}
	s.ready = func(ctx context.Context) error { return ping("mysql", s.URL)(ctx) }
	if err := run(owner.command(dir, install, "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve", "--debug-no-sync")); err != nil {
		return nil, err
	}
	if err := s.open(func(addr string) string { return mariaDBDSN(addr, "pintle") }); err != nil {
		return nil, err
	}
	return s, nil
}
