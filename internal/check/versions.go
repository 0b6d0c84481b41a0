package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// A release of Go is go1.MINOR.PATCH.
type goRelease struct{ minor, patch int }

func (r goRelease) String() string { return fmt.Sprintf("go1.%d.%d", r.minor, r.patch) }

// goVersions runs the tests of the core module with the releases of Go that are
// supported, but for that of the go command: the last two minor releases, see
// https://go.dev/doc/devel/release#policy. The other modules are thin, and compiling
// what they link takes longer than all these tests.
//
// Nothing of the other release is in the build cache, so that this compiles the standard
// library, too. It writes no debug information, and leaves out the analyses of vet.
func (c *check) goVersions(ctx context.Context) (string, error) {
	listed, err := output(ctx, c.dir, "go", "list", "-m", "-versions", "golang.org/toolchain")
	if err != nil {
		return "", err
	}
	others := supported(listed, runtime.GOOS+"-"+runtime.GOARCH)
	running, err := output(ctx, c.dir, "go", "env", "GOVERSION")
	if err != nil {
		return "", err
	}
	others = slices.DeleteFunc(others, func(r goRelease) bool {
		return strings.HasPrefix(running, fmt.Sprintf("go1.%d.", r.minor))
	})
	var names []string
	for _, r := range others {
		// It runs while setup may be installing the compiler of C.
		env := []string{
			"GOTOOLCHAIN=" + r.String(), "CGO_ENABLED=0",
			// Tests that run the go command find what this has compiled.
			"GOFLAGS=" + strings.TrimSpace(os.Getenv("GOFLAGS")+" -ldflags=-w -gcflags=all=-dwarf=false"),
		}
		args := []string{"test", "-vet=off", "-timeout", timeout, "-parallel", "8", "-skip", ofEveryModule, "./..."}
		if err := c.show(ctx, c.dir, env, "go", args...); err != nil {
			return "", fmt.Errorf("%s: %w", r, err)
		}
		names = append(names, r.String())
	}
	return "the tests of the core module passed with " + strings.Join(names, ", "), nil
}

// ofEveryModule is a test of the core that compiles all other modules and what these
// link. It is about names, which no release of Go changes.
const ofEveryModule = "^TestThePublicInterfaceNamesNoTypeOfAnotherModule$"

var toolchain = regexp.MustCompile(`v0\.0\.1-go1\.(\d+)\.(\d+)\.(\S+)`)

// supported returns the last patch releases of the last two minor releases among
// the versions of the module golang.org/toolchain for a platform.
func supported(versions, platform string) []goRelease {
	latest := make(map[int]goRelease)
	for _, m := range toolchain.FindAllStringSubmatch(versions, -1) {
		minor, _ := strconv.Atoi(m[1])
		patch, _ := strconv.Atoi(m[2])
		if m[3] == platform && patch >= latest[minor].patch {
			latest[minor] = goRelease{minor, patch}
		}
	}
	var all []goRelease
	for _, r := range latest {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b goRelease) int { return cmp.Compare(a.minor, b.minor) })
	return all[max(0, len(all)-2):]
}
