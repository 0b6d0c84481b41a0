package main

import (
	"context"
	"os"
	"strings"
)

// trimmed makes the go command leave the paths of this machine out of what it compiles,
// so that another module cache or clone can use the result.
const trimmed = "-trimpath"

// compileWithoutPaths makes all steps compile as publish does, which otherwise finds
// nothing of theirs in the build cache, not even the standard library.
func compileWithoutPaths(ctx context.Context) error {
	flags, err := output(ctx, ".", "go", "env", "GOFLAGS")
	if err != nil {
		return err
	}
	return os.Setenv("GOFLAGS", strings.TrimSpace(flags+" "+trimmed))
}
