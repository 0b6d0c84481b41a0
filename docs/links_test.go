// Package docs_test keeps the documents in step with each other and with the
// tests of all modules.
package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the top of the repository.
const root = ".."

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

var (
	code = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	link = regexp.MustCompile(`\]\(([^)\s]+)\)`)
)

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
