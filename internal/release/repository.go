package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// corePath is the import path of the core. Those of the other modules are below it.
const corePath = "github.com/pintleauth/pintle"

// A repository is a git work tree with the modules of the project.
type repository struct{ dir string }

// A mod is one module of the repository.
type mod struct {
	path     string   // import path
	dir      string   // below the repository, with slashes; "." is the core
	siblings []string // paths of the modules of the repository it requires
}

// published reports whether the module is tagged. The others hold tests, tools
// and examples, which are used in the repository.
func (m mod) published() bool {
	first, _, _ := strings.Cut(m.dir, "/")
	return first != "internal" && first != "examples"
}

// tag is what git calls a version of the module: the go command looks for the
// directory of a module in front of its version,
// see https://go.dev/ref/mod#vcs-version.
func (m mod) tag(version string) string { return path.Join(m.dir, version) }

// modules returns the modules of the repository, each after its siblings.
func (r repository) modules(ctx context.Context) ([]mod, error) {
	files, err := r.git(ctx, "ls-files", "go.mod", "*/go.mod")
	if err != nil {
		return nil, err
	}
	var all []mod
	for name := range strings.FieldsSeq(files) {
		f, err := r.goMod(path.Dir(name))
		if err != nil {
			return nil, err
		}
		if p := f.Module.Mod.Path; p != path.Join(corePath, path.Dir(name)) {
			return nil, fmt.Errorf("%s: the path %s does not fit its directory", name, p)
		}
		all = append(all, mod{path: f.Module.Mod.Path, dir: path.Dir(name)})
	}
	for i := range all {
		f, err := r.goMod(all[i].dir)
		if err != nil {
			return nil, err
		}
		for _, req := range f.Require {
			if isOneOf(all)(req.Mod.Path) {
				all[i].siblings = append(all[i].siblings, req.Mod.Path)
			}
		}
	}
	return inOrder(all)
}

// isOneOf returns a function that reports whether one of mods has a path.
func isOneOf(mods []mod) func(path string) bool {
	return func(path string) bool {
		return slices.ContainsFunc(mods, func(m mod) bool { return m.path == path })
	}
}

// inOrder puts each module after those it requires.
func inOrder(all []mod) ([]mod, error) {
	var sorted []mod
	for len(sorted) < len(all) {
		before := len(sorted)
		for _, m := range all {
			done := isOneOf(sorted)
			ready := !slices.ContainsFunc(m.siblings, func(s string) bool { return !done(s) })
			if ready && !done(m.path) {
				sorted = append(sorted, m)
			}
		}
		if len(sorted) == before {
			return nil, errors.New("modules require each other in a circle")
		}
	}
	return sorted, nil
}

func (r repository) goMod(dir string) (*modfile.File, error) {
	name := r.file(dir, "go.mod")
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return modfile.Parse(name, data, nil)
}

// file returns the name of a file below the repository.
func (r repository) file(elem ...string) string {
	return filepath.Join(r.dir, filepath.FromSlash(path.Join(elem...)))
}

// edit replaces the content of a file by the result of change.
func (r repository) edit(name string, change func([]byte) ([]byte, error)) error {
	before, err := os.ReadFile(r.file(name))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	after, err := change(before)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if bytes.Equal(before, after) {
		return nil
	}
	return os.WriteFile(r.file(name), after, 0o644)
}

// git runs a git command in the repository and returns its output without the
// last newline.
func (r repository) git(ctx context.Context, args ...string) (string, error) {
	return run(ctx, r.dir, nil, "git", args...)
}

// run runs a program and returns its output. The error has the program's error
// output.
func run(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, &stderr, &stdout)
	}
	return strings.TrimSuffix(stdout.String(), "\n"), nil
}
