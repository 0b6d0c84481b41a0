package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/module"
)

func TestAReleaseNamesItsVersionEverywhere(t *testing.T) {
	t.Parallel()
	r := workTree(t)
	first := nextVersion(t, r)
	date := time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	mustRelease(t, r, first, date)
	second := strings.TrimSuffix(first, ".0") + ".1"
	err := r.edit("CHANGELOG.md", func(b []byte) ([]byte, error) {
		return []byte(strings.Replace(string(b), "## [Unreleased]\n", "## [Unreleased]\n\n### Fixed\n\n- One thing.\n", 1)), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.git(t.Context(), append(identity, "commit", "--quiet", "--all", "--message", "one thing")...); err != nil {
		t.Fatal(err)
	}
	mustRelease(t, r, second, date)

	changelog := read(t, r.file("CHANGELOG.md"))
	want := "## [Unreleased]\n\n## [" + number(second) + "] - 2027-01-02\n\n### Fixed\n\n- One thing.\n\n## [" + number(first) + "] - 2027-01-02\n"
	if !strings.Contains(changelog, want) {
		t.Errorf("CHANGELOG.md has not %q:\n%s", want, changelog)
	}
	for _, name := range []string{"client/package.json", "client/package-lock.json"} {
		if text := read(t, r.file(name)); !strings.Contains(text, `"version": "`+number(second)+`"`) || strings.Contains(text, `"`+number(first)+`"`) {
			t.Errorf("%s is not at %s:\n%.300s", name, number(second), text)
		}
	}
	mods := modulesOf(t, r)
	if required, err := r.required(mods); err != nil || required != second {
		t.Errorf("modules require %s (%v), want %s", required, err, second)
	}
	work := read(t, r.file("go.work"))
	for _, m := range mods {
		tag, err := r.git(t.Context(), "tag", "--list", m.tag(second))
		if err != nil {
			t.Fatal(err)
		}
		if found := tag != ""; found != m.published() {
			t.Errorf("%s is tagged: %t, want %t", m.dir, found, m.published())
		}
		for _, s := range m.siblings {
			if !strings.Contains(work, "\t"+s+" "+second+" => ") {
				t.Errorf("go.work does not replace %s %s, which %s requires:\n%s", s, second, m.dir, work)
			}
			goSum := read(t, r.file(m.dir, "go.sum"))
			for _, line := range []string{s + " " + second + " h1:", s + " " + second + "/go.mod h1:"} {
				if strings.Count(goSum, line) != 1 {
					t.Errorf("%s/go.sum has %d lines %s", m.dir, strings.Count(goSum, line), line)
				}
			}
			if strings.Contains(goSum, s+" "+first) {
				t.Errorf("%s/go.sum still has %s %s", m.dir, s, first)
			}
		}
	}
	if changes, err := r.git(t.Context(), "status", "--porcelain"); err != nil || changes != "" {
		t.Errorf("the release leaves %q (%v)", changes, err)
	}
}

// The go command computes these sums of a tag, too, and rejects a module whose
// go.sum has others.
func TestTheChecksumIsThatOfTheTag(t *testing.T) {
	t.Parallel()
	r := workTree(t)
	version := nextVersion(t, r)
	mustRelease(t, r, version, time.Now())
	mods := modulesOf(t, r)
	written, err := r.siblingSums(mods)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mods {
		at, required := written[module.Version{Path: m.path, Version: version}]
		if !required {
			continue
		}
		tagged, err := proxy(t.TempDir()).publish(t.Context(), r, m, version, m.tag(version))
		if err != nil {
			t.Fatal(err)
		}
		if at != tagged {
			t.Errorf("go.sum files have %s %+v, and the tag has %+v", m.path, at, tagged)
		}
	}
	if len(written) == 0 {
		t.Error("no go.sum has a sum")
	}
}

func TestReleaseRejects(t *testing.T) {
	t.Parallel()
	r := workTree(t)
	version := nextVersion(t, r)
	mustRelease(t, r, version, time.Now())
	for name, c := range map[string]struct{ version, want string }{
		"without a v":              {"9.0.0", "must be of the form v1.2.3"},
		"without a patch":          {"v0.9", "must be of the form v1.2.3"},
		"of another major version": {"v2.0.0", "invalid version"},
		"of a commit":              {"v0.9.1-0.20270102030405-0123456789ab", "the version of a commit"},
		"a second time":            {version, "not above " + version},
		"of an earlier version":    {"v0.0.9", "not above " + version},
		"that changes nothing":     {"v0.999999.0", "is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			err := r.release(t.Context(), c.version, time.Now(), proxy(t.TempDir()))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("a release %s returns %v, want %q", c.version, err, c.want)
			}
			if changes, err := r.git(t.Context(), "status", "--porcelain"); err != nil || changes != "" {
				t.Errorf("it changed %s (%v)", changes, err)
			}
		})
	}
}

func TestTidyKeepsTheVersionsOfSiblings(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r := workTree(t)
	const dir = "pintlegin"
	before := read(t, r.file(dir, "go.mod"))
	// A requirement that nothing needs, and one that is missing.
	for _, args := range [][]string{
		{"mod", "edit", "-require=golang.org/x/mod@v0.42.0"},
		{"mod", "edit", "-droprequire=github.com/gin-gonic/gin"},
	} {
		if _, err := run(ctx, r.file(dir), nil, "go", args...); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.tidy(ctx, false, dir); err != nil {
		t.Fatal(err)
	}
	after := read(t, r.file(dir, "go.mod"))
	if strings.Contains(after, "golang.org/x/mod") || !strings.Contains(after, "github.com/gin-gonic/gin") {
		t.Errorf("go.mod is not tidy:\n%s", after)
	}
	for line := range strings.Lines(before) {
		if strings.Contains(line, corePath) && !strings.Contains(after, line) {
			t.Errorf("go.mod has no longer %q:\n%s", line, after)
		}
	}
	if text := read(t, r.file(dir, "go.sum")); strings.Contains(text, aboveReleases) {
		t.Errorf("go.sum has a version that is not released:\n%s", text)
	}
}

func mustRelease(t *testing.T, r repository, version string, date time.Time) {
	t.Helper()
	if err := r.release(t.Context(), version, date, proxy(t.TempDir())); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Clean(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
