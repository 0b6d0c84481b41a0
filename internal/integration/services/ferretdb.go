package services

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// FerretDB starts a server of MongoDB's protocol for this test alone: the program
// in internal/integration/ferretdb, whose comment describes it.
func FerretDB(t testing.TB) *Server {
	t.Helper()
	s, err := startFerretDB()
	if err != nil {
		t.Fatal(err)
	}
	return s.ownedBy(t)
}

// A Mongo is an empty database, open, that belongs to one test.
type Mongo struct {
	*mongo.Database

	// URL is that of the server, for other clients.
	URL string
}

// MongoDatabase makes a database on the server the tests of this binary share,
// and drops it when the test ends. The settings of its client may be others.
func MongoDatabase(t testing.TB, settings ...*options.ClientOptions) *Mongo {
	t.Helper()
	s := shared(t, "ferretdb", startFerretDB)
	client, err := mongo.Connect(append(settings, options.Client().ApplyURI(s.URL))...)
	if err != nil {
		t.Fatal(err)
	}
	db := client.Database(databaseName())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		if err := errors.Join(db.Drop(ctx), client.Disconnect(ctx)); err != nil {
			t.Error(err)
		}
	})
	return &Mongo{Database: db, URL: s.URL}
}

func startFerretDB() (*Server, error) {
	dir, err := os.MkdirTemp("", "pintle-ferretdb-")
	if err != nil {
		return nil, fmt.Errorf("services: %w", err)
	}
	server := filepath.Join(dir, "ferretdb")
	if err := buildFerretDB(server); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s := &Server{name: "FerretDB", dir: dir, goodbye: syscall.SIGTERM}
	s.command = func(port string) *exec.Cmd {
		self := account{os.Geteuid(), os.Getegid()}
		return self.command(dir, server, "-listen", "127.0.0.1:"+port, "-dir", dir)
	}
	s.ready = func(ctx context.Context) error {
		dialer := net.Dialer{Timeout: time.Second}
		conn, err := dialer.DialContext(ctx, "tcp", s.Addr)
		if err != nil {
			return err
		}
		return conn.Close()
	}
	if err := s.open(func(addr string) string { return "mongodb://" + addr }); err != nil {
		return nil, err
	}
	return s, nil
}

// building lets one test at a time build: the second one uses the build cache.
var building sync.Mutex

// buildFerretDB builds the server by its own go.mod, which is not part of the
// workspace.
func buildFerretDB(to string) error {
	building.Lock()
	defer building.Unlock()
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return fmt.Errorf("services: find the module of the tests: %w", err)
	}
	// Without its symbols it is linked in half the time.
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", to, ".")
	build.Dir = filepath.Join(filepath.Dir(strings.TrimSpace(string(out))), "ferretdb")
	build.Env = append(os.Environ(), "GOWORK=off")
	return run(build)
}
