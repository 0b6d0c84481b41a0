package clients_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// examples is the folder of the programs to start from.
const examples = "../../../examples"

// startExample starts a program on a free port, as its README describes, and
// returns its address.
func startExample(t *testing.T, name string) (address string) {
	t.Helper()
	cmd := exec.Command(buildExample(t, name), "-addr", "localhost:0")
	cmd.Dir = filepath.Join(examples, "..")
	return start(t, cmd).says(`http://\S+`)
}

func buildExample(t *testing.T, name string) (binary string) {
	t.Helper()
	binary = filepath.Join(t.TempDir(), name)
	run(t, examples, "go", "build", "-o", binary, "./"+name)
	return binary
}

// A program is running for a test.
type program struct {
	t     *testing.T
	name  string
	lines *bufio.Scanner
	said  strings.Builder
}

// start starts a program that ends with the test, if not before, as Ctrl-C ends
// it.
func start(t *testing.T, cmd *exec.Cmd) *program {
	t.Helper()
	p := &program{t: t, name: filepath.Base(cmd.Path)}
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(out)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended by itself
		for p.lines.Scan() {
			fmt.Fprintln(&p.said, p.lines.Text())
		}
		_ = cmd.Wait() // an interrupted program may return an error
		if t.Failed() {
			t.Logf("%s printed:\n%s", p.name, &p.said)
		}
	})
	return p
}

// says waits until the output of the program matches, and returns the match.
func (p *program) says(pattern string) string {
	p.t.Helper()
	for p.lines.Scan() {
		fmt.Fprintln(&p.said, p.lines.Text())
		if found := regexp.MustCompile(pattern).FindString(p.lines.Text()); found != "" {
			return found
		}
	}
	p.t.Fatalf("%s ended without printing %s", p.name, pattern)
	return ""
}
