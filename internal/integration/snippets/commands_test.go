package snippets_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A command is a command line of a document, in the document's directory.
type command struct {
	at, dir string
	words   []string
}

var (
	codeSpan = regexp.MustCompile("`([^`\n]+)`")
	fence    = regexp.MustCompile("(?s)```.*?\n```")
	assigns  = regexp.MustCompile(`^[A-Z_]+=`)
)

// commands returns what the documents say to type, in blocks and in code spans.
func commands(t *testing.T) []command {
	t.Helper()
	var found []command
	add := func(at, file, line string) {
		for part := range strings.SplitSeq(strings.ReplaceAll(line, "&&", ";"), ";") {
			part, _, _ = strings.Cut(part, " #")
			part, _, _ = strings.Cut(part, "|")
			words := strings.Fields(part)
			for len(words) > 0 && (words[0] == "export" || assigns.MatchString(words[0])) {
				words = words[1:]
			}
			if len(words) > 1 {
				found = append(found, command{at, path.Dir(file), words})
			}
		}
	}
	for _, s := range snippets(t, "shell") {
		for line := range strings.Lines(s.code) {
			add(s.String(), s.file, line)
		}
	}
	for _, file := range documents(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range codeSpan.FindAllStringSubmatch(fence.ReplaceAllString(string(text), ""), -1) {
			name, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			add(name, filepath.ToSlash(name), m[1])
		}
	}
	return found
}

// The commands of the guides run: the commands of pintle and their options exist,
// and so do the packages, targets and scripts that other commands name.
func TestEveryCommandExists(t *testing.T) {
	pintle := filepath.Join(t.TempDir(), "pintle")
	build(t, "./cmd/pintle", pintle)
	seen := map[string]int{}
	for _, c := range commands(t) {
		seen[c.words[0]]++
		if problem := c.check(t, pintle); problem != "" {
			t.Errorf("%s: %s: %s", c.at, strings.Join(c.words, " "), problem)
		}
	}
	for program, least := range map[string]int{"pintle": 3, "go": 8, "npm": 4, "make": 1} {
		if seen[program] < least {
			t.Errorf("the documents run %s %d times", program, seen[program])
		}
	}
}

func TestTheCheckFindsCommandsThatDoNotExist(t *testing.T) {
	pintle := filepath.Join(t.TempDir(), "pintle")
	build(t, "./cmd/pintle", pintle)
	for _, line := range []string{
		"pintle secrets", "pintle doctor --fix", "pintle providers shew github", "pintle providers show github --uri x", "go run ./examples/quick",
		"go run ./examples/jsonapi -ap", "go get github.com/pintleauth/pintle/passkeys", "go install github.com/pintleauth/pintle/cmd/pintl@latest", "make tests", "npm run test",
	} {
		if (command{"", "client", strings.Fields(line)}).check(t, pintle) == "" {
			t.Errorf("the check accepts %q", line)
		}
	}
}

// check returns what is wrong with a command, empty for nothing and for commands
// of others.
func (c command) check(t *testing.T, pintle string) string {
	t.Helper()
	program, args := c.words[0], c.words[1:]
	switch {
	case program == "pintle":
		return checkOptions(t, pintle, args)
	case program == "go" && args[0] == "run" && len(args) > 1:
		if !isPackage(args[1]) {
			return "there is no such package"
		}
		if args[1] == "." || len(options(args)) == 0 {
			return ""
		}
		example := filepath.Join(t.TempDir(), "example")
		build(t, args[1], example)
		return checkOptions(t, example, args[2:])
	case program == "go" && (args[0] == "get" || args[0] == "install") && len(args) > 1:
		module, _, _ := strings.Cut(args[1], "@")
		if below, ours := strings.CutPrefix(module, "github.com/pintleauth/pintle"); ours && !isPackage("."+below) {
			return "there is no such package"
		}
	case program == "make":
		if !strings.Contains(read(t, "Makefile"), "\n"+args[0]+": ") {
			return "there is no such target"
		}
	case program == "npm" && args[0] == "run" && len(args) > 1:
		if !c.hasScript(t, args[1]) {
			return "there is no such script"
		}
	}
	return ""
}

// hasScript reports whether a package of npm in or below the directory of the
// document has a script.
func (c command) hasScript(t *testing.T, name string) bool {
	t.Helper()
	for _, pattern := range []string{"package.json", "*/package.json"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(c.dir), filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var manifest struct{ Scripts map[string]string }
			if err := json.Unmarshal(text, &manifest); err != nil {
				t.Fatal(err)
			}
			if manifest.Scripts[name] != "" {
				return true
			}
		}
	}
	return false
}

// isPackage reports whether a directory of the repository has Go files.
func isPackage(dir string) bool {
	found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(strings.TrimSuffix(dir, "/...")), "*.go"))
	return err == nil && len(found) > 0
}

var (
	plainWord = regexp.MustCompile(`^[a-z]+$`)
	option    = regexp.MustCompile(`^--?([a-z]+)`)
)

// options returns the names of the options among words.
func options(words []string) []string {
	var names []string
	for _, word := range words {
		if m := option.FindStringSubmatch(word); m != nil {
			names = append(names, m[1])
		}
	}
	return names
}

// checkOptions asks a program for help about a command, and looks for the
// options.
func checkOptions(t *testing.T, program string, args []string) string {
	t.Helper()
	var subcommand []string
	for _, word := range args {
		if !plainWord.MatchString(word) {
			break
		}
		subcommand = append(subcommand, word)
	}
	cmd := exec.CommandContext(t.Context(), program, append(subcommand, "-h")...)
	help, err := cmd.CombinedOutput()
	if len(subcommand) > 0 && err != nil {
		return "there is no such command: " + string(help)
	}
	for _, name := range options(args) {
		if !regexp.MustCompile(`(?m)^\s+-` + name + `\b`).Match(help) {
			return "there is no option -" + name
		}
	}
	return ""
}

func build(t *testing.T, path, to string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", to, path)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
