package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// tool returns the path of a program that internal/tools requires, built.
func (c *check) tool(ctx context.Context, name string) (string, error) {
	return outputWith(ctx, filepath.Join(c.dir, "internal", "tools"), []string{"GOWORK=off"}, "go", "tool", "-n", name)
}

// workflows checks the workflows of continuous integration.
func (c *check) workflows(ctx context.Context) (string, error) {
	linter, err := c.tool(ctx, "actionlint")
	if err != nil {
		return "", err
	}
	return "actionlint found nothing", c.show(ctx, c.dir, nil, linter)
}

// deadcode names functions that no program and no test reaches.
func (c *check) deadcode(ctx context.Context) (string, error) {
	finder, err := c.tool(ctx, "deadcode")
	if err != nil {
		return "", err
	}
	mods, err := c.workspace(ctx)
	if err != nil {
		return "", err
	}
	args := []string{"-test"}
	for _, dir := range mods {
		args = append(args, dir+string(filepath.Separator)+"...")
	}
	found, err := output(ctx, c.dir, finder, args...)
	if found = withoutExamples(found); err == nil && found != "" {
		err = fmt.Errorf("%s\nno program and no test reaches these functions", found)
	}
	return "every function is reached", err
}

// withoutExamples drops the examples that are compiled for the documentation and not
// run, since they have no output.
func withoutExamples(found string) string {
	var dead []string
	for line := range strings.Lines(found) {
		if line = strings.TrimRight(line, "\n"); line != "" && !example.MatchString(line) {
			dead = append(dead, line)
		}
	}
	return strings.Join(dead, "\n")
}

var example = regexp.MustCompile(`_test\.go:\d+:\d+: unreachable func: Example($|[^a-z])`)

// vulnerabilities looks the modules up in Go's vulnerability database.
func (c *check) vulnerabilities(ctx context.Context) (string, error) {
	finder, err := c.tool(ctx, "govulncheck")
	if err != nil {
		return "", err
	}
	mods, err := c.workspace(ctx)
	if err != nil {
		return "", err
	}
	for _, dir := range mods {
		if err := c.show(ctx, dir, nil, finder, "-test", "./..."); err != nil {
			return "", fmt.Errorf("%s: %w", dir, err)
		}
	}
	return fmt.Sprintf("govulncheck found nothing in %d modules", len(mods)), nil
}
