// Package docs_test keeps the documents in step with the tests of all modules.
package docs_test

import (
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the test columns in docs")

// root is the top of the repository.
const root = ".."

// catalogues are the documents whose tables name tests by identifier.
var catalogues = []string{"docs/compatibility.md", "docs/security.md"}

const (
	noTest        = "—"
	notApplicable = "n/a"
)

func TestDocumentsNameTestsThatHoldTheirEntries(t *testing.T) {
	sources := testSources(t)
	if len(sources) == 0 {
		t.Fatal("found no test in the repository")
	}
	for _, doc := range catalogues {
		text := read(t, doc)
		rows := 0
		written := mapRows(text, func(ids []string, tests string) string {
			rows++
			for file := range strings.SplitSeq(tests, ", ") {
				if file == noTest || file == notApplicable {
					continue
				}
				if file = strings.Trim(file, "`"); !mentionsAny(sources[file], ids) && !*update {
					t.Errorf("%s: %s lists %s, which does not mention it; run make docs", doc, ids[0], file)
				}
			}
			return testsColumn(sources, ids, tests)
		})
		if rows == 0 {
			t.Errorf("%s: no table with a column of tests", doc)
		}
		if *update {
			if err := os.WriteFile(filepath.Join(root, doc), []byte(written), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestTestsNameEntriesTheDocumentsKnow(t *testing.T) {
	known := make(map[string]string)
	for _, doc := range catalogues {
		mapRows(read(t, doc), func(ids []string, tests string) string {
			for _, id := range ids {
				if other, twice := known[id]; twice {
					t.Errorf("%s is in %s and in %s", id, other, doc)
				}
				known[id] = doc
			}
			return tests
		})
	}
	for file, text := range testSources(t) {
		for _, match := range numbered.FindAllStringSubmatch(text, -1) {
			if id := match[1]; known[id] == "" {
				t.Errorf("%s names %s, which no document explains", file, id)
			}
		}
	}
}

func TestDocumentLinksLeadSomewhere(t *testing.T) {
	for _, doc := range files(t, ".md") {
		for _, match := range link.FindAllStringSubmatch(code.ReplaceAllString(read(t, doc), ""), -1) {
			target, heading, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, ":") {
				continue
			}
			path := doc
			if target != "" {
				path = filepath.Join(filepath.Dir(doc), target)
			}
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				t.Errorf("%s links to %s, which does not exist", doc, match[1])
				continue
			}
			if heading != "" && !slices.Contains(headings(read(t, path)), heading) {
				t.Errorf("%s links to %s, but %s has no such heading", doc, match[1], path)
			}
		}
	}
}

func TestAnIdentifierIsFoundAsAWholeOnly(t *testing.T) {
	tests := []struct {
		name, text, id string
		want           bool
	}{
		{"in a test's name", `t.Run("W-10 stray cookie", …)`, "W-10", true},
		{"at the end of a sentence", "// Guards fail closed, SH-04.", "SH-04", true},
		{"beside another", "// W-9/Q16", "Q16", true},
		{"the beginning of a longer one", "// W-10", "W-1", false},
		{"a section below it", "// ASVS-6.5.12", "ASVS-6.5.1", false},
		{"a longer name", "// oidcc-client-test-nonce-invalid", "oidcc-client-test", false},
		{"inside a token", `"eyJhbGciOi.Q2-x"`, "Q2", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := mentionsAny(tt.text, []string{tt.id}); got != tt.want {
				t.Errorf("mentionsAny(%q, %s) = %t, want %t", tt.text, tt.id, got, tt.want)
			}
		})
	}
}

var (
	// numbered finds identifiers whose form cannot be mistaken for anything else.
	numbered = regexp.MustCompile(`(?m)(?:^|[\s"'` + "`" + `(\[,/:;])((?:SH|BCP|RP|CK|WA|W)-\d+)\b`)
	code     = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
)

// mapRows returns text with the last cell of each table row replaced by what f
// makes of it, in the tables whose last column is headed "Tests".
func mapRows(text string, f func(ids []string, tests string) string) string {
	var b strings.Builder
	inTable := false
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), " | ")
		last := strings.TrimSuffix(cells[len(cells)-1], " |")
		switch {
		case !strings.HasPrefix(line, "| "):
			inTable = false
		case last == "Tests":
			inTable = true
		case inTable && !strings.HasPrefix(line, "| ---"):
			ids := strings.Split(strings.TrimPrefix(cells[0], "| "), ", ")
			cells[len(cells)-1] = f(ids, last) + " |"
			line = strings.Join(cells, " | ") + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// testsColumn names the test files that mention one of the identifiers.
func testsColumn(sources map[string]string, ids []string, before string) string {
	var found []string
	for _, file := range slices.Sorted(maps.Keys(sources)) {
		if mentionsAny(sources[file], ids) {
			found = append(found, "`"+file+"`")
		}
	}
	switch {
	case len(found) > 0:
		return strings.Join(found, ", ")
	case before == notApplicable:
		return notApplicable
	default:
		return noTest
	}
}

// mentionsAny reports whether text names one of the identifiers as a word of
// its own, and not by chance inside a token or a longer identifier.
func mentionsAny(text string, ids []string) bool {
	for _, id := range ids {
		for before, rest := "", text; ; {
			skipped, after, found := strings.Cut(rest, id)
			if !found {
				break
			}
			before += skipped
			// Only its last character matters, and matching all of it takes seconds.
			if beginsWord.MatchString(before[max(0, len(before)-1):]) && !continues.MatchString(after) {
				return true
			}
			before, rest = id, after
		}
	}
	return false
}

var (
	beginsWord = regexp.MustCompile("(?:^|[\\s\"'`(\\[,/:;])$")
	continues  = regexp.MustCompile(`^(?:[\w\-+=]|\.\w)`)
)

// testSources returns the text of everything that tests: test files, the
// conformance suite for stores, and the scripts that test the command.
func testSources(t *testing.T) map[string]string {
	t.Helper()
	sources := make(map[string]string)
	for _, file := range files(t, ".go", ".txtar", ".mjs", ".ts") {
		isTest := strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "storetest/") ||
			filepath.Ext(file) == ".txtar" || strings.HasSuffix(file, ".test.mjs") || strings.HasSuffix(file, ".test.ts")
		if isTest && file != "docs/docs_test.go" {
			sources[file] = read(t, file)
		}
	}
	return sources
}

// files lists the repository's files that end in one of the suffixes.
func files(t *testing.T, suffixes ...string) []string {
	t.Helper()
	var found []string
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(path, s) }) {
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// headings returns the anchors a Markdown viewer gives to the headings of text.
func headings(text string) []string {
	var anchors []string
	for line := range strings.Lines(text) {
		if title := strings.TrimLeft(line, "#"); title != line {
			title = strings.ToLower(strings.TrimSpace(title))
			title = regexp.MustCompile(`[^\p{L}\p{N}\s_-]`).ReplaceAllString(title, "")
			anchors = append(anchors, strings.ReplaceAll(title, " ", "-"))
		}
	}
	return anchors
}
