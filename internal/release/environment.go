package main

import (
	"context"
	"path/filepath"
	"strings"
)

// environment returns variables for a go command that finds our modules in the
// proxy, starts with an empty module cache and uses no workspace. With fromCache
// the modules of others come from this machine's module cache if they are there.
// Otherwise they come from this machine's own GOPROXY.
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
	// The go command looks for modules at the paths above ours, too. It needs
	// no version control host for them.
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
		// Unreleased versions are not in the checksum database.
		"GONOSUMDB=" + strings.Trim(corePath+","+here["GONOSUMDB"], ","),
		"GOSUMDB=" + here["GOSUMDB"],
		"GOTOOLCHAIN=" + here["GOTOOLCHAIN"],
		"GOENV=off", "GOPRIVATE=", "GONOPROXY=", "GOINSECURE=",
		// With trimmed paths the build cache is valid for other module caches, too.
		"GOFLAGS=-modcacherw -trimpath",
	}, nil
}
