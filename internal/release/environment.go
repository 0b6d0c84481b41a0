package main

import (
	"context"
	"path/filepath"
	"strings"
)

// environment returns variables for a go command that knows the modules in the
// proxy, has nothing of this machine's module cache, and is in no workspace.
// Modules of others come from the files of that cache first, where fromCache
// allows it, and then from where this machine has them from.
func (p proxy) environment(ctx context.Context, gopath string, fromCache bool) ([]string, error) {
	settings := []string{"GOPROXY", "GONOSUMDB", "GOMODCACHE", "GOSUMDB", "GOTOOLCHAIN"}
	out, err := run(ctx, "", nil, "go", append([]string{"env"}, settings...)...)
	if err != nil {
		return nil, err
	}
	here := make(map[string]string)
	for i, value := range strings.Split(out, "\n") {
		here[settings[i]] = strings.TrimSpace(value)
	}
	// The go command looks for modules at the paths above ours, too. No version
	// control host needs to be asked about them.
	usual := here["GOPROXY"]
	if before, ok := strings.CutSuffix(usual, ",direct"); ok {
		usual = before
	}
	sources := []string{p.url()}
	if fromCache {
		sources = append(sources, proxy(filepath.Join(here["GOMODCACHE"], "cache", "download")).url())
	}
	return []string{
		"GOWORK=off",
		"GOPATH=" + gopath,
		"GOMODCACHE=" + filepath.Join(gopath, "pkg", "mod"),
		"GOBIN=" + filepath.Join(gopath, "bin"),
		"GOPROXY=" + strings.Join(append(sources, usual), ","),
		// What is not released is not in the checksum database.
		"GONOSUMDB=" + strings.Trim(corePath+","+here["GONOSUMDB"], ","),
		"GOSUMDB=" + here["GOSUMDB"],
		"GOTOOLCHAIN=" + here["GOTOOLCHAIN"],
		"GOENV=off", "GOPRIVATE=", "GONOPROXY=", "GOINSECURE=",
		// Without the paths of this cache in it, what is compiled can be used
		// again when the same is compiled from another.
		"GOFLAGS=-modcacherw -trimpath",
	}, nil
}
