package frameworks_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocumentsShowCodeThatIsTested looks for each piece of code in the guides
// in the tests and examples, where it is compiled and run.
func TestDocumentsShowCodeThatIsTested(t *testing.T) {
	const root = "../../.."
	var tested strings.Builder
	for _, pattern := range []string{"*_test.go", "../browser/*_test.go", "../clients/*_test.go", root + "/example_*_test.go", root + "/authtest/*_test.go", root + "/pintle*/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			tested.WriteString(lines(t, file))
		}
	}
	for _, document := range []string{"docs/frameworks.md", "docs/tenants.md", "docs/testing.md"} {
		pieces := 0
		for rest := lines(t, filepath.Join(root, document)); ; pieces++ {
			_, after, found := strings.Cut(rest, "\n```go\n")
			if !found {
				break
			}
			piece, after, _ := strings.Cut(after, "\n```\n")
			if !strings.Contains(tested.String(), "\n"+piece+"\n") {
				t.Errorf("%s shows code that no test has:\n%s", document, piece)
			}
			rest = after
		}
		if pieces == 0 {
			t.Errorf("%s shows no code", document)
		}
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
