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
}

// A part decides when a step runs that is not named.
type part int

const (
	always part = iota
	laptop      // only without -all, which does the same more thoroughly
	all         // only with -all: it needs servers, a browser, Node.js, or time
	named       // only if it is named
)

// steps are all of them, in the order in which they run: what fails soon comes first.
var steps = []step{
	{"setup", all, (*check).setup},
	{"format", always, (*check).format},
	{"vet", always, (*check).vet},
	{"lint", always, (*check).lint},
	{"workflows", always, (*check).workflows},
	{"conformance", all, (*check).conformance},
	{"unit", laptop, (*check).unit},
	{"race", all, (*check).raceAll},
	{"registers", all, (*check).registers},
	{"publish", all, (*check).publish},
	{"versions", all, (*check).goVersions},
	{"platforms", all, (*check).crossCheck},
	{"fix", named, (*check).fix},
	{"deadcode", named, (*check).deadcode},
	{"vulnerabilities", named, (*check).vulnerabilities},
}

// errSkipped is a step that had nothing to do.
var errSkipped = errors.New("skipped")

// A check is of the repository in dir.
type check struct{ dir string }

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
	return (&check{dir: filepath.FromSlash(top)}).steps(ctx, wanted)
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

// steps runs steps up to the first that fails, and lists what each did.
func (c *check) steps(ctx context.Context, wanted []step) error {
	var did strings.Builder
	began := time.Now()
	for _, s := range wanted {
		fmt.Println("==", s.name)
		at := time.Now()
		what, err := s.run(c, ctx)
		if errors.Is(err, errSkipped) {
			what, err = err.Error(), nil
		}
		if err != nil {
			return fmt.Errorf("%w\n== %s FAILED in %s", err, s.name, seconds(at))
		}
		fmt.Fprintf(&did, "%8s  %-15s  %s\n", seconds(at), s.name, what)
	}
	fmt.Printf("\n%s%8s  every step passed\n", did.String(), seconds(began))
	return nil
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
func show(ctx context.Context, dir string, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", filepath.Base(name), strings.Join(args[:min(len(args), 4)], " "), err)
	}
	return nil
}
