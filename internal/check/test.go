package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// integration holds the tests that start servers, browsers and Node.js.
	integration = "github.com/pintleauth/pintle/internal/integration/"

	// release has the test that publishes the tree.
	release = "github.com/pintleauth/pintle/internal/release"
)

// longest are the packages below integration whose tests take minutes. They run first:
// one that begins late is left to run alone, on one processor of many.
var longest = []string{"sqlstore", "browser", "mongostore", "twoprocesses", "clients", "redisstore", "adapters"}

// unwatched are packages that compute and start no goroutine: SQLite, which is
// translated from C, password hashes, and what packs and unpacks pictures. The race
// detector finds nothing in them, and makes them three to eight times slower.
var unwatched = []string{
	"modernc.org/libc", "modernc.org/sqlite/lib",
	"golang.org/x/crypto/argon2", "golang.org/x/crypto/blowfish", "golang.org/x/crypto/scrypt",
	"compress/flate", "hash/adler32", "hash/crc32", "image", "image/color", "image/draw", "image/png",
	"crypto/internal/fips140/bigmod", // keys of RSA
	"github.com/pintleauth/pintle/internal/integration/browser/mosaic",
}

// watched are the flags with which packages are compiled for the race detector.
func watched() []string {
	// It brings checks of unsafe pointers along, which the tree has none of.
	flags := []string{"-race", "-gcflags=all=-d=checkptr=0"}
	for _, name := range unwatched {
		flags = append(flags, "-gcflags="+name+"=-race=false")
	}
	return flags
}

// timeout is for the tests of one package. The longest take ten minutes where nothing else
// runs, and twice that on a machine that compiles beside them.
const timeout = "40m"

// vet runs go vet in every module of the workspace. Lint runs the same analyses.
func (c *check) vet(ctx context.Context) (string, error) {
	mods, err := c.workspace(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("go vet found nothing in %d modules", len(mods)), c.show(ctx, c.dir, nil, "go", "vet", "work")
}

// unit runs the tests that start no server. More of them run beside each other than
// there are processors, because many wait.
func (c *check) unit(ctx context.Context) (string, error) {
	packages, _, err := c.packages(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("the tests of %d packages passed", len(packages)),
		c.show(ctx, c.dir, nil, "go", append([]string{"test", "-timeout", timeout, "-parallel", "8"}, packages...)...)
}

// raceAll runs all tests but that of publish under the race detector. The
// packages that wait for servers come first, so that none of them is left to run
// alone in the end. More tests run beside each other than there are processors,
// because many of them wait.
func (c *check) raceAll(ctx context.Context) (string, error) {
	packages, waiting, err := c.packages(ctx)
	if err != nil {
		return "", err
	}
	packages = append(waiting, packages...)
	r, err := c.test(ctx, watched(), packages...)
	if err != nil {
		return "", err
	}
	for _, k := range r.again() {
		if err := c.testAgain(ctx, watched(), r, k); err != nil {
			return "", err
		}
	}
	_, _ = fmt.Fprintf(c.out, "%s\nthe slowest:\n%s", r.counts(), r.slowest(25))
	if err := errors.Join(r.write(c.results()), r.failure()); err != nil {
		return "", err
	}
	return fmt.Sprintf("the tests of %d packages passed under the race detector", len(packages)), nil
}

// testAgain runs a test that failed three times more, with nothing beside it. Browsers
// and a dozen servers share the processors of a whole run, and one of ten thousand tests
// that meets a time-out there says little about the code. If all three pass, the run goes on and
// names the test, which is to be repaired.
func (c *check) testAgain(ctx context.Context, flags []string, r *report, k key) error {
	second, err := c.test(ctx, flags, "-count=3", "-run", "^"+k.test+"$", k.pkg)
	if err != nil || second.failure() != nil || !second.passed(k) {
		return err
	}
	r.replace(k, second)
	_, err = fmt.Fprintf(c.out, "UNSTEADY: %s in %s failed, and then passed three times alone\n", k.test, k.dir())
	return err
}

// test runs tests of packages that are compiled with flags.
func (c *check) test(ctx context.Context, flags []string, what ...string) (*report, error) {
	// Lint has run the analyses of vet, and go test would run them on each dependency.
	args := []string{"test", "-vet=off", "-json", "-timeout", timeout, "-parallel", "4"}
	args = slices.Concat(args, flags, what)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stderr = c.dir, c.out
	events, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r, err := readTests(events, c.out)
	if ended := cmd.Wait(); ended != nil && r.failure() == nil {
		r.broken = true // the go command has said why
	}
	return r, err
}

// results is the file in which raceAll notes which tests ran, and how they ended.
func (c *check) results() string { return filepath.Join(c.dir, "tmp", "tests.tsv") }

// registers compares the registers in docs/ with the tests that raceAll ran.
func (c *check) registers(ctx context.Context) (string, error) {
	return "the registers in docs/ list the tests that hold them",
		c.show(ctx, c.dir, nil, "go", "test", "-count=1", "-run", "TestRegisters", "./docs", "-results", c.results())
}

// publish releases the tree in a clone and gets every module as its users do.
func (c *check) publish(ctx context.Context) (string, error) {
	return "a release of the tree can be fetched, built and run",
		c.show(ctx, c.dir, nil, "go", "test", "-count=1", "-v", "-timeout", timeout, release)
}

// conformance drives a server with the conformance kit, which is not part of the
// repository.
func (c *check) conformance(ctx context.Context) (string, error) {
	err := c.show(ctx, c.dir, nil, "bash", "scripts/conformance")
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.ExitCode() == 3 {
		return "", fmt.Errorf("%w: the kit is not beside the repository", errSkipped)
	}
	return "the server answers as the reference does", err
}

// setup installs what the other steps start.
func (c *check) setup(ctx context.Context) (string, error) {
	return "the servers, the browser and Node.js are installed", c.show(ctx, c.dir, nil, "bash", "scripts/setup")
}

// packages returns the packages of the workspace whose tests start no server,
// and those whose tests do, the longest first.
func (c *check) packages(ctx context.Context) (unit, waiting []string, err error) {
	listed, err := output(ctx, c.dir, "go", "list", "work")
	for name := range strings.FieldsSeq(listed) {
		switch {
		case name == release:
		case strings.HasPrefix(name, integration):
			waiting = append(waiting, name)
		default:
			unit = append(unit, name)
		}
	}
	rank := func(name string) int {
		if at := slices.Index(longest, strings.TrimPrefix(name, integration)); at >= 0 {
			return at
		}
		return len(longest)
	}
	slices.SortStableFunc(waiting, func(a, b string) int { return rank(a) - rank(b) })
	return unit, waiting, err
}

// workspace returns the directories of the modules of the workspace.
func (c *check) workspace(ctx context.Context) ([]string, error) {
	out, err := output(ctx, c.dir, "go", "list", "-m", "-f", "{{.Dir}}")
	return strings.Split(out, "\n"), err
}
