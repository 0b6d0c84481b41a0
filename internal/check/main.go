// Command check runs the checks of this repository. Arguments name the steps to
// run; without any it runs those that need nothing but Go and git.
//
//	go run ./internal/check [-all] [STEP...]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A step is one part of the check.
type step struct {
	name string
	when part
	run  func(c *check, ctx context.Context) (did string, err error)

	// needs are steps before it in the list. If they run, it begins when they have ended.
	needs []string
}

// A part decides when a step runs that is not named.
type part int

const (
	always part = iota
	laptop      // only without -all, which does the same more thoroughly
	all         // only with -all: it needs servers, a browser, Node.js, or time
	named       // only if it is named
)

// steps are all of them, in the order in which they begin. Beside setup, which waits for
// the network, run steps that need nothing but Go and no compiler of C. Race takes the
// longest and often waits, for servers and browsers: all that is left runs beside it.
var steps = []step{
	{"setup", all, (*check).setup, nil},
	{"format", always, (*check).format, nil},
	{"vet", laptop, (*check).vet, nil}, // golangci-lint runs the analyses of vet, too
	{"race", all, (*check).raceAll, []string{"setup"}},
	{"platforms", all, (*check).crossCheck, nil},
	{"versions", all, (*check).goVersions, nil},
	{"lint", always, (*check).lint, []string{"setup"}},
	{"workflows", always, (*check).workflows, []string{"setup"}},
	{"unit", laptop, (*check).unit, nil},
	{"conformance", all, (*check).conformance, []string{"lint"}},
	{"publish", all, (*check).publish, []string{"lint"}},
	{"registers", all, (*check).registers, []string{"race"}},
	{"fix", named, (*check).fix, nil},
	{"deadcode", named, (*check).deadcode, nil},
	{"vulnerabilities", named, (*check).vulnerabilities, nil},
}

// errSkipped is a step that had nothing to do.
var errSkipped = errors.New("skipped")

// A check is of the repository in dir. Its programs print to out.
type check struct {
	dir      string
	out      io.Writer
	thorough bool // all steps run that a change must pass
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	thorough := flag.Bool("all", false, "run every step a change must pass")
	flag.Parse()
	wanted, err := chosen(flag.Args(), *thorough)
	if err != nil {
		return err
	}
	top, err := output(ctx, ".", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	c := &check{dir: filepath.FromSlash(top), out: os.Stdout}
	if !*thorough {
		return c.steps(ctx, wanted, 1)
	}
	if err := compileWithoutPaths(ctx); err != nil {
		return err
	}
	c.thorough = true
	return c.steps(ctx, wanted, 2)
}

// chosen returns the steps with the names, or those of a part.
func chosen(names []string, thorough bool) ([]step, error) {
	if len(names) == 0 {
		return slices.DeleteFunc(slices.Clone(steps), func(s step) bool {
			return s.when == named || (s.when == all && !thorough) || (s.when == laptop && thorough)
		}), nil
	}
	var wanted []step
	for _, name := range names {
		i := slices.IndexFunc(steps, func(s step) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no step is named %q", name)
		}
		wanted = append(wanted, steps[i])
	}
	return wanted, nil
}

func seconds(since time.Time) string { return fmt.Sprintf("%.1f s", time.Since(since).Seconds()) }

// output runs a program and returns what it prints.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	return outputWith(ctx, dir, nil, name, args...)
}

func outputWith(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		err = fmt.Errorf("%s: %w\n%s", cmd, err, exit.Stderr)
	}
	return strings.TrimSuffix(strings.ReplaceAll(string(out), "\r\n", "\n"), "\n"), err
}

// show runs a program that prints what it finds.
func (c *check) show(ctx context.Context, dir string, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, c.out, c.out
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", filepath.Base(name), strings.Join(args[:min(len(args), 4)], " "), err)
	}
	return nil
}
