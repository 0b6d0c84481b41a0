package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"path/filepath"
	"strings"
	"sync"
)

// platforms differ most from that on which the tests run: the files and processes
// of Windows, numbers of 32 bits, and the system calls of macOS.
var platforms = []string{"windows/amd64", "linux/386", "darwin/arm64"}

// crossCheck checks the types of every package that is not for Linux alone, and of
// its tests, for each platform.
func (c *check) crossCheck(ctx context.Context) (string, error) {
	packages, _, err := c.packages(ctx)
	if err != nil {
		return "", err
	}
	failed := make([]error, len(platforms))
	var all sync.WaitGroup
	for i, platform := range platforms {
		all.Go(func() {
			if err := typeCheck(ctx, c.dir, platform, packages); err != nil {
				failed[i] = fmt.Errorf("%s: %w", platform, err)
			}
		})
	}
	all.Wait()
	return fmt.Sprintf("the types of %d packages are right for %s", len(packages), strings.Join(platforms, ", ")), errors.Join(failed...)
}

// A source is a package as "go list" describes it: see "go help list".
type source struct {
	ImportPath string
	Dir        string
	DepOnly    bool
	GoFiles    []string
	ImportMap  map[string]string
	Module     *struct{ GoVersion string }
	Error      *struct{ Err string }
}

// typeCheck checks the types of packages and their tests for a platform, as the
// compiler does, and writes no code: "go vet" compiles the standard library and
// every dependency for a platform first, which takes minutes.
func typeCheck(ctx context.Context, dir, platform string, packages []string) error {
	system, processor, _ := strings.Cut(platform, "/")
	env := []string{"GOOS=" + system, "GOARCH=" + processor, "CGO_ENABLED=0"}
	args := []string{"list", "-e", "-deps", "-test", "-json=ImportPath,Dir,DepOnly,GoFiles,ImportMap,Module,Error"}
	listed, err := outputWith(ctx, dir, env, "go", append(args, packages...)...)
	if err != nil {
		return err
	}
	t := typeChecker{
		sizes:   types.SizesFor("gc", processor),
		files:   token.NewFileSet(),
		checked: map[string]*types.Package{"unsafe": types.Unsafe},
	}
	// A package comes after those it imports.
	for in := json.NewDecoder(strings.NewReader(listed)); ; {
		var s source
		if err := in.Decode(&s); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("read the list of packages: %w", err)
		}
		// The main package of a test is written by the go command.
		if s.ImportPath != "unsafe" && !strings.HasSuffix(s.ImportPath, ".test") {
			t.check(s)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return errors.Join(t.failed...)
}

type typeChecker struct {
	sizes   types.Sizes
	files   *token.FileSet
	checked map[string]*types.Package
	failed  []error
}

func (t *typeChecker) check(s source) {
	if s.Error != nil {
		t.failed = append(t.failed, fmt.Errorf("%s: %s", s.ImportPath, s.Error.Err))
		return
	}
	var parsed []*ast.File
	for _, name := range s.GoFiles {
		file, err := parser.ParseFile(t.files, filepath.Join(s.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.failed = append(t.failed, err)
			return
		}
		parsed = append(parsed, file)
	}
	config := types.Config{
		Sizes: t.sizes,
		// What dependencies do is theirs; packages see what they declare.
		IgnoreFuncBodies: s.DepOnly,
		Importer:         importer(func(path string) (*types.Package, error) { return t.imported(s, path) }),
		Error:            func(err error) { t.failed = append(t.failed, err) },
	}
	if s.Module != nil && s.Module.GoVersion != "" {
		config.GoVersion = "go" + s.Module.GoVersion
	}
	path, _, _ := strings.Cut(s.ImportPath, " ") // a package compiled for a test has its name behind
	// The error is the first of those in failed.
	t.checked[s.ImportPath], _ = config.Check(path, t.files, parsed, nil)
}

// imported returns the package that a path means in the package s.
func (t *typeChecker) imported(s source, path string) (*types.Package, error) {
	if mapped, ok := s.ImportMap[path]; ok {
		path = mapped
	}
	if p := t.checked[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s imports %s, which has not been checked before it", s.ImportPath, path)
}

// An importer is a function that is a [types.Importer].
type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }
