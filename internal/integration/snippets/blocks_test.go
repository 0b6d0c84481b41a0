package snippets_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A snippet is a block of code in a document.
type snippet struct {
	file string
	line int

	// language is what follows the fence. It is "go" for an indented block that
	// looks like Go, and "shell" for any other.
	language string
	code     string
}

// documents returns what a user of the library reads.
func documents(t *testing.T) []string {
	t.Helper()
	files := []string{filepath.Join(root, "README.md"), filepath.Join(root, "client", "README.md")}
	for _, pattern := range []string{"docs/*.md", "examples/*.md", "examples/*/README.md"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	return files
}

// looksLikeGo matches what a block begins with that names a function or a type of
// a package.
var looksLikeGo = regexp.MustCompile(`^&?[a-z]\w*\.[A-Z]\w*[({]`)

// snippets returns the blocks of all documents in a language.
func snippets(t *testing.T, languages ...string) []snippet {
	t.Helper()
	var found []snippet
	for _, file := range documents(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range blocks(filepath.ToSlash(name), string(text)) {
			for _, language := range languages {
				if s.language == language {
					found = append(found, s)
				}
			}
		}
	}
	return found
}

// blocks returns the blocks of a document.
func blocks(name, text string) []snippet {
	var found []snippet
	var fenced, indented *snippet
	indent, number, blank := "", 0, true
	end := func() {
		if indented != nil {
			if indented.language = "shell"; looksLikeGo.MatchString(indented.code) {
				indented.language = "go"
			}
			found, indented = append(found, *indented), nil
		}
	}
	for line := range strings.Lines(text) {
		number++
		trimmed := strings.TrimSpace(line)
		code, isIndented := strings.CutPrefix(line, "    ")
		switch {
		case fenced != nil && trimmed == "```":
			found, fenced = append(found, *fenced), nil
		case fenced != nil:
			fenced.code += strings.TrimPrefix(line, indent)
		case strings.HasPrefix(trimmed, "```"):
			end()
			fenced = &snippet{file: name, line: number, language: strings.TrimPrefix(trimmed, "```")}
			indent = line[:strings.Index(line, "`")]
		case isIndented && (blank || indented != nil) && trimmed != "":
			if indented == nil {
				indented = &snippet{file: name, line: number}
			}
			indented.code += code
		default:
			end()
		}
		blank = trimmed == ""
	}
	end()
	return found
}

func TestEveryLanguageOfASnippetIsChecked(t *testing.T) {
	for _, file := range documents(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range blocks(file, string(text)) {
			switch s.language {
			case "go", "ts", "js", "html", "shell", "yaml":
			case "nginx", "caddy": // package reverseproxy serves an application with them
			case "mermaid": // package guides draws them
			default:
				t.Errorf("%s is in %q, which nothing checks", s, s.language)
			}
		}
	}
}

func TestBlocksAreFoundAsTheyAreWritten(t *testing.T) {
	const text = "Text.\n\n    pintle secret\n    go run .\n\n    provider.GitHub(provider.Options{})\n\n" +
		"1. A list:\n    that is no block\n   ```ts\n   const a = 1\n   ```\n\n```go\nx := 1\n```\n"
	want := []snippet{
		{"f", 3, "shell", "pintle secret\ngo run .\n"},
		{"f", 6, "go", "provider.GitHub(provider.Options{})\n"},
		{"f", 10, "ts", "const a = 1\n"},
		{"f", 14, "go", "x := 1\n"},
	}
	got := blocks("f", text)
	if len(got) != len(want) {
		t.Fatalf("the blocks are %+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("block %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}
