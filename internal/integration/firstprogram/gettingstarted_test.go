package firstprogram_test

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/pintleauth/pintle/internal/integration/formbrowser"
)

// A tutorial is docs/getting-started.md, by its sections.
type tutorial struct {
	sections []string
	dir      string // of the program
	program  string // as the steps so far have made it
}

func readTutorial(t *testing.T) *tutorial {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "getting-started.md"))
	if err != nil {
		t.Fatal(err)
	}
	return &tutorial{sections: strings.Split(string(text), "\n## ")[1:], dir: t.TempDir()}
}

var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// block returns a block of Go of a section.
func (g *tutorial) block(t *testing.T, section, number int) string {
	t.Helper()
	blocks := goBlock.FindAllStringSubmatch(g.sections[section-1], -1)
	if len(blocks) <= number {
		t.Fatalf("section %d has %d blocks of Go", section, len(blocks))
	}
	return blocks[number][1]
}

// change replaces a text that the program has once.
func (g *tutorial) change(t *testing.T, from, to string) {
	t.Helper()
	if n := strings.Count(g.program, from); n != 1 {
		t.Fatalf("the program has %q %d times:\n%s", from, n, g.program)
	}
	g.program = strings.Replace(g.program, from, to, 1)
}

// imports adds what a section says to import.
func (g *tutorial) imports(t *testing.T, section int, paths ...string) {
	t.Helper()
	for _, path := range paths {
		name, path, named := strings.Cut(path, " ")
		if !named {
			name, path = "", name
		}
		if !strings.Contains(g.sections[section-1], "`"+path+"`") {
			t.Fatalf("section %d does not say to import %s", section, path)
		}
		g.change(t, "import (\n", fmt.Sprintf("import (\n\t%s %q\n", name, path))
	}
}

// run starts the program as it is now, after the commands, with variables.
func (g *tutorial) run(t *testing.T, commands, variables string) (address string) {
	t.Helper()
	// Another test may listen on the port that the tutorial names.
	address = freeAddress(t)
	const printed = "localhost:3000"
	if !strings.Contains(g.program, `"`+printed+`"`) {
		t.Fatalf("the program does not listen on %s", printed)
	}
	program := strings.ReplaceAll(g.program, printed, address)
	if err := os.WriteFile(filepath.Join(g.dir, "main.go"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, g.dir, "set -e\n"+commands+"\ngo build -o app .\nexec env "+variables+" ./app\n", address)
	return address
}

// Each step of the tutorial, as a reader takes them one after the other.
func TestEachStepOfTheTutorialSignsAUserIn(t *testing.T) {
	g := readTutorial(t)
	hub := startGitHub(t)

	const secret = `export AUTH_SECRET=$(openssl rand -base64 33)`
	commands := indented(g.sections[0])
	if len(commands) != 4 || commands[2] != secret || !strings.HasPrefix(commands[0], "go mod init") || commands[3] != "go run ." {
		t.Fatalf("the commands of the first step are %q", commands)
	}
	g.program = g.block(t, 1, 0)
	if lines := strings.Count(g.program, "\n"); lines > 50 {
		t.Errorf("the first program has %d lines", lines)
	}

	signIn := func(t *testing.T, address string) {
		t.Helper()
		b := formbrowser.New(t)
		page := b.Get("http://" + address + "/")
		wrong := b.Submit(page, "/callback/credentials", url.Values{"username": {"kim"}, "password": {"open"}})
		if !strings.Contains(wrong.URL.Path, "/auth/signin") {
			t.Fatalf("a wrong password leads to %s:\n%s", wrong.URL, wrong.Text)
		}
		page = b.Submit(wrong, "/callback/credentials", url.Values{"username": {"kim"}, "password": {"open sesame"}})
		if !strings.Contains(page.Text, "<p>Kim. ") {
			t.Fatalf("at the end %s shows:\n%s", page.URL, page.Text)
		}
		page = b.Submit(b.Get("http://"+address+"/auth/signout"), "/signout", nil)
		if page = b.Get("http://" + address + "/"); !strings.Contains(page.URL.Path, "/auth/signin") {
			t.Errorf("after the sign-out %s shows:\n%s", page.URL, page.Text)
		}
	}
	signInWithGitHub := func(t *testing.T, address string) {
		t.Helper()
		b := formbrowser.Over(t, hub.transport())
		page := b.Submit(b.Get("http://"+address+"/"), "/signin/github", nil)
		if !strings.Contains(page.Text, "<p>The Octocat. ") {
			t.Fatalf("at the end %s shows:\n%s", page.URL, page.Text)
		}
	}
	// The program reaches GitHub through a proxy, which Go programs take from the environment.
	credentials := fmt.Sprintf("-u NO_PROXY -u no_proxy HTTPS_PROXY=%s SSL_CERT_FILE=%s AUTH_GITHUB_ID=%q AUTH_GITHUB_SECRET=%q",
		hub.proxy.URL, hub.certificate.File, githubID, githubSecret)

	ok := t.Run("a password", func(t *testing.T) {
		address := g.run(t, commands[0]+"\n"+getThisCommit(t)+"\n"+secret, "")
		signIn(t, address)
	}) && t.Run("a page for everyone", func(t *testing.T) {
		before := g.program
		hello, listen, _ := strings.Cut(g.block(t, 1, 1), "log.Fatal(")
		_, last, _ := strings.Cut(before, "\tlog.Fatal(http.")
		last, _, _ = strings.Cut(last, "\n")
		g.change(t, "\tlog.Fatal(http."+last+"\n", hello+"log.Fatal("+listen)
		address := g.run(t, secret, "")
		g.program = before
		if page := formbrowser.New(t).Get("http://" + address + "/hello"); page.Text != "Hello, guest." {
			t.Errorf("the page shows %s", page.Text)
		}
		signIn(t, address)
	}) && t.Run("GitHub", func(t *testing.T) {
		if !strings.Contains(g.sections[1], "export AUTH_GITHUB_ID=… AUTH_GITHUB_SECRET=…") {
			t.Fatal("the tutorial does not name the variables of GitHub")
		}
		g.imports(t, 2, "github.com/pintleauth/pintle/provider")
		g.change(t, between(t, g.program, "pintle.Config{\n", "\t})\n"), g.block(t, 2, 0))
		address := g.run(t, secret, credentials)
		signIn(t, address)
		signInWithGitHub(t, address)
	}) && t.Run("SQLite", func(t *testing.T) {
		if got := indented(g.sections[2]); len(got) != 1 || got[0] != "go get modernc.org/sqlite" {
			t.Fatalf("the commands are %q", got)
		}
		g.imports(t, 3, "database/sql", "github.com/pintleauth/pintle/store/sqlstore", "_ modernc.org/sqlite")
		g.change(t, "func main() {\n", "func main() {\n"+g.block(t, 3, 0))
		g.change(t, "pintle.Config{\n", "pintle.Config{\n"+g.block(t, 3, 1))
		address := g.run(t, getDriver(t)+secret, credentials)
		signIn(t, address)
		for range 2 {
			signInWithGitHub(t, address)
		}
		if n := g.users(t); n != 1 {
			t.Errorf("two sign-ins with GitHub made %d users", n)
		}
	})
	if !ok {
		t.Log("the steps after it did not run")
	}
}

// getDriver returns the commands that stand for go get of the driver: the versions of this
// repository are compiled already.
func getDriver(t *testing.T) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{if .Version}}{{.Path}}@{{.Version}}{{end}}",
		"modernc.org/sqlite", "modernc.org/libc", "modernc.org/mathutil", "modernc.org/memory")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	var commands strings.Builder
	for version := range strings.FieldsSeq(string(out)) {
		commands.WriteString("go mod edit -require " + version + "\n")
	}
	return commands.String() + "go mod tidy\n"
}

// users counts the users in the database of the program.
func (g *tutorial) users(t *testing.T) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(g.dir, "app.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM pintle_users").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
