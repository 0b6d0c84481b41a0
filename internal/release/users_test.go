package main

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

var (
	tagged        = flag.String("clone", "", "a clone with a tagged version, instead of the work tree, which the test releases itself")
	taggedVersion = flag.String("version", "", "the version tagged in -clone")
)

// TestUsersGetEveryModule gets a released version as its users do, in empty
// directories and with an empty module cache: only there show the faults that
// go.work hides.
func TestUsersGetEveryModule(t *testing.T) {
	t.Parallel()
	r, version := releasedTree(t)
	mods := modulesOf(t, r)
	p := proxy(t.TempDir())
	commit := pseudoVersion(t, r, version)
	for _, m := range mods {
		if !m.published() {
			continue
		}
		publish(t, p, r, m, version, m.tag(version))
		publish(t, p, r, m, commit, "HEAD")
	}
	u := newUser(t, p)

	t.Run("no released go.mod replaces a module", func(t *testing.T) {
		for _, m := range mods {
			f, err := r.goMod(m.dir)
			if err != nil {
				t.Fatal(err)
			}
			if m.published() && len(f.Replace)+len(f.Exclude) > 0 {
				t.Errorf("%s/go.mod has %d replace and %d exclude directives, which go install rejects", m.dir, len(f.Replace), len(f.Exclude))
			}
		}
	})
	t.Run("each go.mod and go.sum has what its module needs", func(t *testing.T) {
		for _, m := range mods {
			if m.published() {
				// Of a single command the result would be left in its directory.
				u.run(t, r.file(m.dir), "go", "build", "-mod=readonly", "-o", os.DevNull, "./...")
			} else {
				u.run(t, r.file(m.dir), "go", "list", "-mod=readonly", "-deps", "./...")
			}
			if diff, err := run(t.Context(), r.file(m.dir), u.env, "go", "mod", "tidy", "-diff"); err != nil {
				t.Errorf("%s is not tidy, run scripts/tidy: %v\n%s", m.dir, err, diff)
			}
		}
	})
	for _, m := range mods {
		if !m.published() || isCommand(m) {
			continue
		}
		t.Run("a program gets "+m.program(), func(t *testing.T) {
			dir := u.program(t, m)
			u.run(t, dir, "go", "get", m.path+"@"+version)
			u.runPrograms(t, dir)
		})
	}
	t.Run("a program gets every module", func(t *testing.T) {
		u.runPrograms(t, u.getAll(t, mods, version))
	})
	t.Run("a program gets every module of a commit", func(t *testing.T) {
		u.run(t, u.getAll(t, mods, commit), "go", "list", "-deps", "./...")
	})
	for _, m := range mods {
		if !m.published() || !isCommand(m) {
			continue
		}
		t.Run("go install "+m.dir, func(t *testing.T) {
			u.run(t, t.TempDir(), "go", "install", m.path+"@"+version)
			program := filepath.Join(u.bin, filepath.Base(m.dir))
			if got, want := u.run(t, t.TempDir(), program, "--version"), filepath.Base(m.dir)+" "+version; !strings.HasPrefix(got, want) {
				t.Errorf("--version prints %q, want %q", got, want)
			}
			if got := u.run(t, t.TempDir(), program, "secret"); !strings.Contains(got, "AUTH_SECRET") {
				t.Errorf("secret prints %q", got)
			}
		})
	}
}

// program is the directory of the program that uses a module.
func (m mod) program() string {
	if m.dir == "." {
		return "core"
	}
	return m.dir
}

// isCommand reports whether users install a module and do not import it.
func isCommand(m mod) bool { return strings.HasPrefix(m.dir, "cmd/") }

// releasedTree returns a clone with a tagged version, which a release of the
// work tree makes unless the flags name one.
func releasedTree(t *testing.T) (r repository, version string) {
	t.Helper()
	if *tagged != "" {
		return repository{*tagged}, *taggedVersion
	}
	r = workTree(t)
	version = nextVersion(t, r)
	if err := r.release(t.Context(), version, time.Now(), proxy(t.TempDir())); err != nil {
		t.Fatal(err)
	}
	return r, version
}

// workTree returns a clone of the repository with what is in its work tree.
func workTree(t *testing.T) repository {
	t.Helper()
	ctx := t.Context()
	top, err := run(ctx, ".", nil, "git", "rev-parse", "--show-toplevel")
	if err != nil {
		t.Fatal(err)
	}
	r, err := repository{top}.snapshot(ctx, filepath.Join(t.TempDir(), "clone"))
	if err != nil {
		t.Fatal(err)
	}
	for _, setting := range [][2]string{
		{"user.name", "release"},
		{"user.email", "release@localhost"},
		{"commit.gpgSign", "false"},
		{"tag.gpgSign", "false"},
	} {
		if _, err := r.git(ctx, "config", setting[0], setting[1]); err != nil {
			t.Fatal(err)
		}
	}
	// Right after a release there is nothing to release.
	err = r.edit("CHANGELOG.md", func(b []byte) ([]byte, error) {
		return []byte(strings.Replace(string(b), "## [Unreleased]\n", "## [Unreleased]\n\n### Added\n\n- A line.\n", 1)), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// nextVersion returns the version in which modules require each other where it
// is not released yet, and the one after the last release otherwise.
func nextVersion(t *testing.T, r repository) string {
	t.Helper()
	version, err := r.required(modulesOf(t, r))
	if err != nil {
		t.Fatal(err)
	}
	tags, err := r.git(t.Context(), "tag", "--list", "v*")
	if err != nil {
		t.Fatal(err)
	}
	for tag := range strings.FieldsSeq(tags) {
		if semver.Compare(tag, version) >= 0 {
			version = semver.MajorMinor(tag) + ".999999"
		}
	}
	return version
}

// pseudoVersion returns the version that the go command makes of the last commit
// when a user requires the commit or the branch, after the released version.
func pseudoVersion(t *testing.T, r repository, released string) string {
	t.Helper()
	commit, err := r.git(t.Context(), "rev-parse", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	return module.PseudoVersion("v0", released, time.Now().UTC(), commit[:12])
}

func modulesOf(t *testing.T, r repository) []mod {
	t.Helper()
	mods, err := r.modules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(mods) < 2 || mods[0].path != corePath {
		t.Fatalf("the modules are %v, want the core and others", mods)
	}
	return mods
}

func publish(t *testing.T, p proxy, r repository, m mod, version, revision string) {
	t.Helper()
	if _, err := p.publish(t.Context(), r, m, version, revision); err != nil {
		t.Fatal(err)
	}
}

// A user has a machine that shares only the installation of Go with this one.
type user struct {
	env []string
	bin string
}

func newUser(t *testing.T, p proxy) *user {
	t.Helper()
	gopath := t.TempDir()
	env, err := p.environment(t.Context(), gopath, true)
	if err != nil {
		t.Fatal(err)
	}
	return &user{env: env, bin: filepath.Join(gopath, "bin")}
}

// run runs a program that must succeed and returns its output.
func (u *user) run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	out, err := run(t.Context(), dir, u.env, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// program makes a module with the program that uses m.
func (u *user) program(t *testing.T, m mod) string {
	t.Helper()
	dir := t.TempDir()
	u.run(t, dir, "go", "mod", "init", "example.com/program")
	copyProgram(t, dir, m)
	return dir
}

// getAll makes a module with the programs that use each module, all at one
// version.
func (u *user) getAll(t *testing.T, mods []mod, version string) string {
	t.Helper()
	dir := t.TempDir()
	u.run(t, dir, "go", "mod", "init", "example.com/program")
	args := []string{"get"}
	for _, m := range mods {
		if m.published() && !isCommand(m) {
			copyProgram(t, filepath.Join(dir, m.dir), m)
			args = append(args, m.path+"/...@"+version)
		}
	}
	u.run(t, dir, "go", args...)
	u.run(t, dir, "go", "mod", "tidy")
	return dir
}

func copyProgram(t *testing.T, dir string, m mod) {
	t.Helper()
	name := filepath.Join("testdata", "users", filepath.FromSlash(m.program()), "main.go")
	source, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("no program uses %s: %v", m.path, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), source, 0o644); err != nil {
		t.Fatal(err)
	}
}

// runPrograms builds the programs below dir and compares what each prints with
// the comment at its end.
func (u *user) runPrograms(t *testing.T, dir string) {
	t.Helper()
	bin := t.TempDir()
	programs := 0
	err := filepath.WalkDir(dir, func(name string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Base(name) != "main.go" {
			return err
		}
		programs++
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		_, want, found := strings.Cut(strings.ReplaceAll(string(source), "\r\n", "\n"), "\n// Output: ")
		if !found {
			t.Fatalf("%s does not end with what it prints", name)
		}
		program := filepath.Join(bin, "program")
		if runtime.GOOS == "windows" {
			program += ".exe"
		}
		u.run(t, filepath.Dir(name), "go", "build", "-o", program, ".")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, program)
		cmd.Stderr = t.Output()
		got, err := cmd.Output()
		if err != nil {
			return err
		}
		if strings.TrimSpace(string(got)) != strings.TrimSpace(want) {
			t.Errorf("%s prints %q, want %q", name, got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if programs == 0 {
		t.Errorf("no program in %s", dir)
	}
}
