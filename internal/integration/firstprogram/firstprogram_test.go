// Package firstprogram_test follows the README and the tutorial from an empty directory
// to a user who is signed in: with an identity provider of another project, with a
// password, and with what GitHub documents that it answers.
package firstprogram_test

import (
	"bufio"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/internal/integration/formbrowser"
)

const root = "../../.."

func TestTheFirstProgramOfTheReadmeSignsAUserIn(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	program := between(t, string(readme), "```go\n", "```")
	if !strings.HasPrefix(program, "package main\n") {
		t.Fatalf("the first snippet of the README is not a program:\n%s", program)
	}
	commands := indented(between(t, string(readme), "```\n", "## "))

	// Another test may listen on the port that the README prints.
	address := freeAddress(t)
	const printed = "localhost:3000"
	if !strings.Contains(program, `"`+printed+`"`) {
		t.Fatalf("the program does not listen on %s", printed)
	}
	program = strings.ReplaceAll(program, printed, address)

	issuer := startProvider(t, "http://"+address+"/auth/callback/sso")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	script := "set -e\n"
	for _, line := range commands {
		switch {
		case strings.HasPrefix(line, "go run"):
			line = "go build -o app ."
		case strings.HasPrefix(line, "go get"):
			line = getThisCommit(t)
		case strings.HasPrefix(line, "export AUTH_SSO_ISSUER="):
			line = "export AUTH_SSO_ISSUER=" + issuer
		case strings.HasPrefix(line, "export AUTH_SSO_ID="):
			line = `export AUTH_SSO_ID=app AUTH_SSO_SECRET="the secret of the app"`
		}
		script += line + "\n"
	}
	for _, needed := range []string{"go mod init", "AUTH_SECRET", "AUTH_SSO_ISSUER", "AUTH_SSO_ID", "go mod tidy", "go build"} {
		if !strings.Contains(script, needed) {
			t.Fatalf("the commands of the README have no %s:\n%s", needed, script)
		}
	}
	start(t, dir, script+"exec ./app\n", address)

	b := formbrowser.New(t)
	page := b.Get("http://" + address + "/")
	page = b.Submit(page, "/signin/sso", nil)
	page = b.Submit(page, "/interaction/", url.Values{"login": {"ada"}, "password": {"any"}})
	page = b.Submit(page, "/interaction/", nil)
	if page.Text != "Hello, Ada Lovelace" {
		t.Errorf("at the end %s shows:\n%s", page.URL, page.Text)
	}
}

func between(t *testing.T, text, from, to string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, from)
	found, _, end := strings.Cut(rest, to)
	if !ok || !end {
		t.Fatalf("the document has nothing between %q and %q", from, to)
	}
	return found
}

// indented returns the first block of commands in a text.
func indented(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if command, ok := strings.CutPrefix(line, "    "); ok {
			lines = append(lines, strings.TrimSpace(command))
		} else if len(lines) > 0 {
			break
		}
	}
	return lines
}

// getThisCommit returns the commands that stand for go get: they take the commit under
// test for the release.
func getThisCommit(t *testing.T) string {
	t.Helper()
	return "go mod edit -require github.com/pintleauth/pintle@v0.0.0 -replace github.com/pintleauth/pintle=" + absolute(t, root) + "\ngo mod tidy"
}

func absolute(t *testing.T, dir string) string {
	t.Helper()
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return "localhost:" + port
}

// startProvider starts the identity provider and returns its issuer.
func startProvider(t *testing.T, redirectURI string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "idp.mjs", redirectURI)
	cmd.Stderr = io.Discard // notices about development settings
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: scripts/setup installs what it needs", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // the error of the killed process
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if issuer, ok := strings.CutPrefix(lines.Text(), "issuer "); ok {
			return issuer
		}
	}
	t.Fatal("the identity provider does not start: scripts/setup installs what it needs")
	return ""
}

// start runs a script, which has to end in a server at an address.
func start(t *testing.T, dir, script, address string) {
	t.Helper()
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS="+strings.TrimSpace("-mod=mod "+os.Getenv("GOFLAGS")))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		if err := <-ended; err == nil {
			t.Error("the program ended by itself")
		}
	})
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return
		}
		select {
		case err := <-ended:
			ended <- err
		default:
			if time.Now().Before(deadline) {
				continue
			}
		}
		text, _ := os.ReadFile(log.Name()) // the reason is the script's
		t.Fatalf("the program does not start:\n%s\n%s", script, text)
	}
}
