package pintle_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// linked is what a program links that imports a package.
type linked struct {
	packages []string
	uses     []string // modules of others that packages of the module import
	brings   []string // those that come with them
}

// linkedBy asks the go command. What the core links is left out for a package
// beside it.
func linkedBy(t *testing.T, dir string) linked {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f",
		`{{with .Module}}{{.Path}}{{end}}|{{.ImportPath}}|{{join .Imports ","}}`, ".")
	cmd.Dir = filepath.FromSlash(dir)
	// The lists are of one platform: some modules are linked on Windows only.
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list in %s: %v", dir, err)
	}
	var l linked
	moduleOf := map[string]string{}
	var imports []string // by packages below dir, or of the core for the root
	own := strings.TrimSuffix(module+"/"+dir, "/.")
	for line := range strings.Lines(string(out)) {
		cell := strings.Split(strings.TrimSpace(line), "|")
		l.packages = append(l.packages, cell[1])
		moduleOf[cell[1]] = cell[0]
		if cell[1] == own || strings.HasPrefix(cell[1], own+"/") {
			imports = append(imports, strings.Split(cell[2], ",")...)
		}
	}
	foreign := func(m string) bool { return m != "" && m != module && !strings.HasPrefix(m, module+"/") }
	for _, imported := range imports {
		if m := moduleOf[imported]; foreign(m) {
			l.uses = append(l.uses, m)
		}
	}
	slices.Sort(l.uses)
	l.uses = slices.Compact(l.uses)
	for _, m := range moduleOf {
		if foreign(m) && !slices.Contains(l.uses, m) {
			l.brings = append(l.brings, m)
		}
	}
	slices.Sort(l.brings)
	l.brings = slices.Compact(l.brings)
	return l
}

var (
	dependencyRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.*) \\| (.*) \\|$")
	dependency    = regexp.MustCompile("`([a-z0-9.-]+\\.[a-z]+/[^`]+)`")
)

// docs/dependencies.md lists what is linked, for everything that can be
// installed.
func TestDependenciesAreListed(t *testing.T) {
	text, err := os.ReadFile("docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	core := linkedBy(t, ".")
	ofCore := append(slices.Clone(core.uses), core.brings...)
	inCell := func(cell string) []string {
		var found []string
		for _, m := range dependency.FindAllStringSubmatch(cell, -1) {
			found = append(found, m[1])
		}
		slices.Sort(found)
		return found
	}
	listed := map[string]bool{}
	for _, row := range dependencyRow.FindAllStringSubmatch(string(text), -1) {
		dir := row[1]
		listed[dir] = true
		l := core
		if dir != "." {
			l = linkedBy(t, dir)
			l.brings = slices.DeleteFunc(l.brings, func(m string) bool { return slices.Contains(ofCore, m) })
		}
		if got := inCell(row[2]); !slices.Equal(got, l.uses) {
			t.Errorf("%s uses\n%q, docs/dependencies.md lists\n%q", dir, l.uses, got)
		}
		if got := inCell(row[3]); !slices.Equal(got, l.brings) {
			t.Errorf("%s links besides\n%q, docs/dependencies.md lists\n%q", dir, l.brings, got)
		}
	}
	for _, dir := range installable(t) {
		if !listed[dir] {
			t.Errorf("docs/dependencies.md does not list %s", dir)
		}
	}
}

// installable returns the directory of each module that others may require, and
// of each public package of the core that links more than the core.
func installable(t *testing.T) []string {
	t.Helper()
	var dirs []string
	for _, pattern := range []string{"go.mod", "*/go.mod", "*/*/go.mod"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			if dir := filepath.ToSlash(filepath.Dir(file)); !strings.HasPrefix(dir, "internal") && !strings.HasPrefix(dir, "examples") {
				dirs = append(dirs, dir)
			}
		}
	}
	if len(dirs) < 10 {
		t.Fatalf("only %q were found", dirs)
	}
	return append(dirs, "account", "password", "userimport")
}

// A program that embeds the core links three modules, and no package for tests.
func TestTheCoreLinksLittle(t *testing.T) {
	core := linkedBy(t, ".")
	if n := len(core.uses) + len(core.brings); n > 3 {
		t.Errorf("the core links %d modules: %q, %q", n, core.uses, core.brings)
	}
	for _, dep := range core.packages {
		switch dep {
		case "testing", "net/http/httptest", "net/http/pprof", "net/smtp", "flag", "expvar", "plugin", "database/sql":
			t.Errorf("the core links %s", dep)
		}
	}
}

// A library for one thing is named in one leaf, so that it can be replaced there.
// Package authtest plays the other side of the protocol.
func TestLibrariesForOneThingHaveOneLeaf(t *testing.T) {
	leaves := map[string][]string{
		"golang.org/x/text/unicode/norm": {"internal/address", "throttle", "password"},
		"github.com/go-jose/":            {"internal/handshake", "authtest"},
		"golang.org/x/sync/singleflight": {"internal/flight"}, // guards against panics
	}
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		for _, imported := range s.imports() {
			for library, dirs := range leaves {
				if strings.HasPrefix(imported, library) && !s.under(dirs...) {
					t.Errorf("%s imports %s, which belongs to %s", s.name, imported, dirs[0])
				}
			}
		}
	}
}
