// Package firstprogram_test follows the README from an empty directory to a user who
// is signed in with an identity provider of another project.
package firstprogram_test

import (
	"bufio"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
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
			// The commit under test stands for the release.
			line = "go mod edit -require github.com/pintleauth/pintle@v0.0.0 -replace github.com/pintleauth/pintle=" + absolute(t, root) + "\ngo mod tidy"
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

	b := newBrowser(t)
	page := b.get("http://" + address + "/")
	page = b.submit(page, "/signin/sso", nil)
	page = b.submit(page, "/interaction/", url.Values{"login": {"ada"}, "password": {"any"}})
	page = b.submit(page, "/interaction/", nil)
	if page.text != "Hello, Ada Lovelace" {
		t.Errorf("at the end %s shows:\n%s", page.url, page.text)
	}
}

func between(t *testing.T, text, from, to string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, from)
	found, _, end := strings.Cut(rest, to)
	if !ok || !end {
		t.Fatalf("the README has nothing between %q and %q", from, to)
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
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
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

// A browser keeps cookies and submits forms.
type browser struct {
	t      *testing.T
	client *http.Client
}

type page struct {
	url  *url.URL
	text string
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t, &http.Client{Jar: jar, Timeout: 30 * time.Second}}
}

func (b *browser) get(target string) page {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, target, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	return b.do(r)
}

func (b *browser) do(r *http.Request) page {
	b.t.Helper()
	resp, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		b.t.Fatalf("%s: %s, %v\n%s", resp.Request.URL, resp.Status, err, text)
	}
	return page{resp.Request.URL, string(text)}
}

var (
	form  = regexp.MustCompile(`(?s)<form[^>]*action="([^"]*)"[^>]*>(.*?)</form>`)
	input = regexp.MustCompile(`<input[^>]*>`)
	name  = regexp.MustCompile(`name="([^"]*)"`)
	value = regexp.MustCompile(`value="([^"]*)"`)
)

// submit sends the form of a page whose action contains a text, with the values of
// its inputs and the given ones.
func (b *browser) submit(p page, action string, typed url.Values) page {
	b.t.Helper()
	for _, f := range form.FindAllStringSubmatch(p.text, -1) {
		if !strings.Contains(f[1], action) {
			continue
		}
		fields := url.Values{}
		for _, i := range input.FindAllString(f[2], -1) {
			if n, v := name.FindStringSubmatch(i), value.FindStringSubmatch(i); n != nil && v != nil {
				fields.Set(n[1], v[1])
			}
		}
		maps.Copy(fields, typed)
		target, err := p.url.Parse(f[1])
		if err != nil {
			b.t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, target.String(), strings.NewReader(fields.Encode()))
		if err != nil {
			b.t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Accept", "text/html")
		return b.do(r)
	}
	b.t.Fatalf("%s has no form for %s:\n%s", p.url, action, p.text)
	return page{}
}
