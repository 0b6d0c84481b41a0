package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

const linterVersion = "v2.15.0"

func (c *check) lint(ctx context.Context) (string, error) { return c.runLinter(ctx) }
func (c *check) fix(ctx context.Context) (string, error)  { return c.runLinter(ctx, "--fix") }

// runLinter runs golangci-lint once for the workspace, whose modules share most of
// their packages, and once for each other module that has packages.
func (c *check) runLinter(ctx context.Context, flags ...string) (string, error) {
	linter, err := c.linter(ctx)
	if err != nil {
		return "", err
	}
	workspace, err := c.workspace(ctx)
	if err != nil {
		return "", err
	}
	run := append([]string{"run"}, flags...)
	var patterns []string
	for _, dir := range workspace {
		below, err := filepath.Rel(c.dir, dir)
		if err != nil {
			return "", err
		}
		patterns = append(patterns, "./"+filepath.ToSlash(filepath.Join(below, "...")))
	}
	var env []string
	if c.thorough {
		// The linter has each package and test compiled. Race needs them compiled for the
		// race detector, and the linter can read that as well.
		env = []string{"GOFLAGS=" + strings.Join(append(watched(), os.Getenv("GOFLAGS")), " ")}
	}
	failed := []error{c.show(ctx, c.dir, env, linter, slices.Concat(run, patterns)...)}
	listed, err := output(ctx, c.dir, "git", "ls-files", "go.mod", "*/go.mod")
	if err != nil {
		return "", err
	}
	modules := len(workspace)
	for name := range strings.FieldsSeq(listed) {
		dir := filepath.Join(c.dir, filepath.Dir(filepath.FromSlash(name)))
		alone := []string{"GOWORK=off"}
		if slices.Contains(workspace, dir) {
			continue
		}
		if packages, _ := outputWith(ctx, dir, alone, "go", "list", "./..."); packages == "" {
			continue
		}
		modules++
		failed = append(failed, c.show(ctx, dir, alone, linter, slices.Concat(run, []string{"./..."})...))
	}
	return fmt.Sprintf("golangci-lint %s found nothing in %d modules", linterVersion, modules), errors.Join(failed...)
}

// linter returns the program in bin, and compiles it first where it is missing,
// which takes some minutes.
func (c *check) linter(ctx context.Context) (string, error) {
	name := "golangci-lint"
	linter := filepath.Join(c.dir, "bin", name+"-"+linterVersion)
	if runtime.GOOS == "windows" {
		name, linter = name+".exe", linter+".exe"
	}
	if _, err := os.Stat(linter); err == nil {
		return linter, nil
	}
	staging, err := os.MkdirTemp("", "lint")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(staging)
	fmt.Fprintln(c.out, "compiling golangci-lint", linterVersion)
	err = c.show(ctx, c.dir, []string{"GOWORK=off", "GOFLAGS=" + trimmed, "GOBIN=" + staging},
		"go", "install", "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@"+linterVersion)
	if err != nil {
		return "", err
	}
	program, err := os.ReadFile(filepath.Join(staging, name))
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(linter), 0o755); err != nil {
		return "", err
	}
	return linter, os.WriteFile(linter, program, 0o755)
}
