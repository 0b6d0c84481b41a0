// Package browser_test tests the quickstart in a real browser, for behaviour that
// only a browser has: which cookies it stores and sends, what a page of another
// origin may do, and what a user sees. It writes screenshots of the pages to
// PINTLE_SCREENSHOTS.
package browser_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pintleauth/pintle/internal/integration/services"
)

// binary is the quickstart, built for the tests of this process.
var binary string

func TestMain(m *testing.M) {
	os.Exit(withQuickstart(func() int { return services.Run(m) }))
}

func withQuickstart(run func() int) int {
	dir, err := os.MkdirTemp("", "pintle-browser-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "quickstart")
	build := exec.Command("go", "build", "-o", binary, "./quickstart")
	build.Dir = filepath.Join("..", "..", "..", "examples")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the quickstart: %v\n%s", err, out)
		return 1
	}
	return run()
}

// A quickstart is the program running for a test.
type quickstart struct {
	t        *testing.T
	database string
	url      string
	cmd      *exec.Cmd
	log      bytes.Buffer
}

// startQuickstart starts it on a free port, with a database of the test's own.
func startQuickstart(t *testing.T, sessions string) *quickstart {
	t.Helper()
	q := &quickstart{t: t, database: filepath.Join(t.TempDir(), "data", "quickstart.db")}
	q.start(sessions)
	t.Cleanup(q.stop)
	return q
}

func (q *quickstart) start(sessions string) {
	q.t.Helper()
	q.cmd = exec.Command(binary, "-addr", "127.0.0.1:0", "-db", q.database, "-sessions", sessions)
	q.cmd.Stderr = &q.log
	out, err := q.cmd.StdoutPipe()
	if err != nil {
		q.t.Fatal(err)
	}
	if err := q.cmd.Start(); err != nil {
		q.t.Fatal(err)
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		q.t.Fatalf("the quickstart did not print its address: %v; it printed:\n%s", err, &q.log)
	}
	q.url = strings.TrimSpace(address)
}

// stop ends it as Ctrl-C does.
func (q *quickstart) stop() {
	q.t.Helper()
	if q.cmd == nil {
		return
	}
	if err := q.cmd.Process.Signal(syscall.SIGINT); err != nil {
		q.t.Errorf("stop the quickstart: %v", err)
	}
	if err := q.cmd.Wait(); err != nil {
		q.t.Errorf("the quickstart ended with %v; it printed:\n%s", err, &q.log)
	}
	q.cmd = nil
}
