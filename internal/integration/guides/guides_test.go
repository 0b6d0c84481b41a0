package guides

import (
	"fmt"
	"html"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pintleauth/pintle/internal/integration/services"
)

const root = "../../.."

// directory holds the site, which is built once.
var directory string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "pintle-guides-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	directory = dir
	code := services.Run(m)
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// base is the path of the site on its host, as where a host serves several projects. A link
// that works there works at the root of a host, too; a link that leaves out the base works at
// the root alone.
const base = "/guides/"

var build = sync.OnceValue(func() error {
	cmd := exec.Command("node_modules/.bin/vitepress", "build", "--outDir", directory)
	cmd.Env = append(os.Environ(), "GUIDES_BASE="+base)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: scripts/setup installs what it needs\n%s", err, out)
	}
	return nil
})

// builtSite returns the files of the site.
func builtSite(t *testing.T) fs.FS {
	t.Helper()
	if err := build(); err != nil {
		t.Fatal(err)
	}
	return os.DirFS(directory)
}

// filesOf returns the files whose names end in a suffix, with their texts.
func filesOf(t *testing.T, site fs.FS, suffix string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(site, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, suffix) {
			return err
		}
		text, err := fs.ReadFile(site, name)
		found[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestEachGuideIsAPageAndInTheMapOfTheReadme(t *testing.T) {
	site := builtSite(t)
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	documents, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(documents) < 40 {
		t.Fatalf("%d guides, %v", len(documents), err)
	}
	menu, err := fs.ReadFile(site, "index.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range documents {
		name := strings.TrimSuffix(filepath.Base(document), ".md")
		if _, err := fs.Stat(site, name+".html"); err != nil {
			t.Errorf("%s is no page of the site", document)
		}
		if !strings.Contains(string(readme), "](docs/"+name+".md") {
			t.Errorf("the map of the README does not lead to %s", document)
		}
		if !strings.Contains(string(menu), `"`+base+name+`.html`) {
			t.Errorf("the menu of the site does not lead to %s", document)
		}
	}
}

func TestEachLinkOfTheSiteLeadsSomewhere(t *testing.T) {
	problems, links := brokenLinks(filesOf(t, builtSite(t), ""))
	for _, problem := range problems {
		t.Error(problem)
	}
	if links < 1000 {
		t.Errorf("only %d links were followed", links)
	}
}

func TestTheCheckFindsBrokenLinks(t *testing.T) {
	for name, page := range map[string]string{
		"a page that does not exist":     `<a href="/guides/b.html">b</a>`,
		"an anchor that does not exist":  `<a class="x" href="./a.html#there">there</a>`,
		"a page outside of the site":     `<a href="/a.html">a</a>`,
		"an anchor of the page":          `<a href="#there">there</a>`,
		"a document instead of its page": `<a href="a.md">a</a>`,
		"a script of another host":       `<script src="https://cdn.example/x.js"></script>`,
		"a style of another host":        `<link rel="stylesheet" href="//cdn.example/x.css">`,
		"a dark picture that is missing": `<source media="(prefers-color-scheme: dark)" srcset="/guides/dark.png">`,
		"a picture of another host":      `<img alt="" src="https://cdn.example/x.png">`,
	} {
		if problems, _ := brokenLinks(map[string]string{"a.html": page}); len(problems) != 1 {
			t.Errorf("%s: the check finds %q", name, problems)
		}
	}
	if problems, _ := brokenLinks(map[string]string{"a.css": `@font-face { src: url(https://cdn.example/x.woff2) }`}); len(problems) != 1 {
		t.Errorf("a font of another host: the check finds %q", problems)
	}
	fine := map[string]string{"a.html": `<a href="https://example.com">e</a> <a href="#x">x</a> <p id="x"></p> <a href="/guides/a.html#x">a</a>`, "a.css": "p { color: red }"}
	if problems, links := brokenLinks(fine); len(problems) != 0 || links != 2 {
		t.Errorf("the check finds %q among %d links", problems, links)
	}
}

var (
	element    = regexp.MustCompile(`<(\w+)\b[^>]*?\s(?:href|src|srcset)="([^"]*)"[^>]*>`)
	identifier = regexp.MustCompile(`\sid="([^"]*)"`)
	styleURL   = regexp.MustCompile(`(?:@import|url\()\s*["']?((?:https?:)?//[^"')\s]+)`)
)

// brokenLinks follows the links within a site at base, and finds what a page loads from other hosts.
func brokenLinks(site map[string]string) (problems []string, links int) {
	anchors := map[string][]string{}
	for name, text := range site {
		if strings.HasSuffix(name, ".html") {
			for _, m := range identifier.FindAllStringSubmatch(text, -1) {
				anchors[name] = append(anchors[name], html.UnescapeString(m[1]))
			}
		}
	}
	for name, text := range site {
		if strings.HasSuffix(name, ".css") {
			for _, m := range styleURL.FindAllStringSubmatch(text, -1) {
				problems = append(problems, fmt.Sprintf("%s loads %s", name, m[1]))
			}
		}
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		for _, m := range element.FindAllStringSubmatch(text, -1) {
			target, err := url.Parse(html.UnescapeString(m[2]))
			switch {
			case err != nil:
				problems = append(problems, fmt.Sprintf("%s: %v", name, err))
				continue
			case target.Scheme == "data":
				continue
			case target.Host != "":
				if m[1] != "a" {
					problems = append(problems, fmt.Sprintf("%s loads %s", name, target))
				}
				continue
			}
			links++
			file := name
			if target.Path != "" {
				file = strings.TrimPrefix(path.Join("/", path.Dir(name), target.Path), "/")
				if strings.HasPrefix(target.Path, "/") {
					within, below := strings.CutPrefix(target.Path, base)
					if !below {
						problems = append(problems, fmt.Sprintf("%s links to %s, which is outside of the site at %s", name, target, base))
						continue
					}
					file = strings.TrimPrefix(path.Clean("/"+within), "/")
				}
				if file == "" || strings.HasSuffix(target.Path, "/") {
					file = path.Join(file, "index.html")
				}
			}
			if _, exists := site[file]; !exists {
				problems = append(problems, fmt.Sprintf("%s links to %s, which does not exist", name, target))
			} else if target.Fragment != "" && !slices.Contains(anchors[file], target.Fragment) {
				problems = append(problems, fmt.Sprintf("%s links to %s, which has no such anchor", name, target))
			}
		}
	}
	slices.Sort(problems)
	return slices.Compact(problems), links
}
