package frameworks_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheDocumentShowsCodeThatIsTested looks for each piece of code in
// docs/frameworks.md in the tests and examples, where it is compiled and run.
func TestTheDocumentShowsCodeThatIsTested(t *testing.T) {
	const root = "../../.."
	var tested strings.Builder
	for _, pattern := range []string{"*_test.go", root + "/pintle*/example_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			tested.WriteString(lines(t, file))
		}
	}
	document := lines(t, root+"/docs/frameworks.md")
	pieces := 0
	for rest := document; ; pieces++ {
		_, after, found := strings.Cut(rest, "\n```go\n")
		if !found {
			break
		}
		piece, after, _ := strings.Cut(after, "\n```\n")
		if !strings.Contains(tested.String(), "\n"+piece+"\n") {
			t.Errorf("docs/frameworks.md shows code that no test has:\n%s", piece)
		}
		rest = after
	}
	if pieces == 0 {
		t.Error("docs/frameworks.md shows no code")
	}
}

// lines returns a file without the indentation of its lines.
func lines(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteByte('\n')
	for line := range strings.Lines(string(text)) {
		b.WriteString(strings.TrimLeft(line, " \t"))
	}
	return b.String()
}
