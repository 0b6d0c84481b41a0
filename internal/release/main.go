// Command release publishes the modules of this repository under one version.
//
//	release VERSION              commits and tags a version, and tests it as users get it
//	release tidy [-u] [DIR...]   tidies every go.mod, or those of the
//	                             directories, with -u after upgrading
//
// A go.mod requires its siblings in the last released version, or in the first
// one before any release, and go.work replaces that version by the tree. Users
// get the versions of the tags: go.work is ignored in a dependency.
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
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := command(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string) error {
	top, err := run(ctx, "", nil, "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	r := repository{filepath.FromSlash(top)}
	if len(args) > 0 && args[0] == "tidy" {
		flags := flag.NewFlagSet("tidy", flag.ContinueOnError)
		upgrade := flags.Bool("u", false, "upgrade what the modules require to the latest minor or patch release first")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return r.tidy(ctx, *upgrade, flags.Args()...)
	}
	if len(args) != 1 {
		return errors.New("usage: scripts/release VERSION, such as v0.1.0")
	}
	return r.publish(ctx, args[0], time.Now().UTC())
}

// publish releases the last commit in a clone, tests it there, and fetches the
// commit and the tags from the clone if all tests passed. It pushes nothing.
func (r repository) publish(ctx context.Context, version string, date time.Time) error {
	if changes, err := r.git(ctx, "status", "--porcelain"); err != nil || changes != "" {
		return errors.Join(err, fmt.Errorf("a release is made of a commit: commit or remove\n%s", changes))
	}
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	clone, err := r.clone(ctx, filepath.Join(dir, "clone"))
	if err != nil {
		return err
	}
	for _, key := range []string{"user.name", "user.email"} {
		if value, err := r.git(ctx, "config", key); err == nil {
			if _, err := clone.git(ctx, "config", key, value); err != nil {
				return err
			}
		}
	}
	if err := clone.release(ctx, version, date, proxy(filepath.Join(dir, "proxy"))); err != nil {
		return err
	}
	if err := r.try(ctx, clone, version); err != nil {
		return fmt.Errorf("the release does not work, and nothing was changed here: %w", err)
	}
	if _, err := r.git(ctx, "fetch", "--quiet", clone.dir, "HEAD", "refs/tags/*:refs/tags/*"); err != nil {
		return err
	}
	if _, err := r.git(ctx, "merge", "--quiet", "--ff-only", "FETCH_HEAD"); err != nil {
		return err
	}
	tags, err := r.git(ctx, "tag", "--points-at", "HEAD")
	if err != nil {
		return err
	}
	branch, err := r.git(ctx, "branch", "--show-current")
	if err != nil {
		return err
	}
	fmt.Printf("\n%s is committed and tagged. To publish it:\n\n"+
		"    git push --atomic origin %s %s\n"+
		"    (cd client && npm ci && npm publish)\n", version, branch, strings.Join(strings.Fields(tags), " "))
	return nil
}

// try gets the modules from the tags of a clone as users do, and prints the result.
func (r repository) try(ctx context.Context, clone repository, version string) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-v", "-run", "^TestUsersGetEveryModule$", ".",
		"-args", "-clone", clone.dir, "-version", version)
	cmd.Dir = r.file("internal", "release")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}
