package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
)

// aboveReleases is a version that no release reaches, so that an upgrade keeps it.
const aboveReleases = "v0.999999.0"

// tidy runs go mod tidy in every module, or in those with the directories. That
// command ignores the workspace, so it runs in a copy of the work tree whose
// modules are published to a proxy: the versions that they require of each other
// may not be released. The go.mod and go.sum files are written back with the
// versions r has.
func (r repository) tidy(ctx context.Context, upgrade bool, dirs ...string) error {
	dir, err := os.MkdirTemp("", "tidy")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	clone, err := r.snapshot(ctx, filepath.Join(dir, "clone"))
	if err != nil {
		return err
	}
	mods, err := clone.modules(ctx)
	if err != nil {
		return err
	}
	if err := clone.require(mods, aboveReleases); err != nil {
		return err
	}
	p := proxy(filepath.Join(dir, "proxy"))
	env, err := p.environment(ctx, filepath.Join(dir, "gopath"), !upgrade)
	if err != nil {
		return err
	}
	for _, m := range mods {
		wanted := len(dirs) == 0 || slices.Contains(dirs, m.dir)
		if wanted && upgrade {
			if _, err := run(ctx, clone.file(m.dir), env, "go", "get", "-u", "-t", "./..."); err != nil {
				return err
			}
		}
		if wanted {
			if _, err := run(ctx, clone.file(m.dir), env, "go", "mod", "tidy"); err != nil {
				return err
			}
		}
		tree, err := clone.tree(ctx)
		if err != nil {
			return err
		}
		if _, err := p.publish(ctx, clone, m, aboveReleases, tree); err != nil {
			return err
		}
	}
	return r.takeRequirements(ctx, clone)
}

// takeRequirements copies go.mod and go.sum from another work tree, but for the
// versions and checksums of the modules of the repository.
func (r repository) takeRequirements(ctx context.Context, from repository) error {
	mods, err := r.modules(ctx)
	if err != nil {
		return err
	}
	released, err := r.siblingSums(mods)
	if err != nil {
		return err
	}
	version, err := r.required(mods)
	if err != nil {
		return err
	}
	if mods, err = from.modules(ctx); err != nil { // which may require other siblings
		return err
	}
	if err := from.require(mods, version); err != nil {
		return err
	}
	for _, m := range mods {
		required := make(map[module.Version]sums)
		for _, s := range m.siblings {
			at := module.Version{Path: s, Version: version}
			if known, ok := released[at]; ok {
				required[at] = known
			}
		}
		if err := copyFile(r, from, m.tag("go.mod")); err != nil {
			return err
		}
		err := from.edit(m.tag("go.sum"), func(b []byte) ([]byte, error) { return withSums(b, isOneOf(mods), required) })
		if err != nil {
			return err
		}
		if err := copyFile(r, from, m.tag("go.sum")); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

// required returns the version in which the modules require each other.
func (r repository) required(mods []mod) (version string, err error) {
	for _, m := range mods {
		f, err := r.goMod(m.dir)
		if err != nil {
			return "", err
		}
		for _, req := range f.Require {
			switch {
			case !slices.Contains(m.siblings, req.Mod.Path):
			case version == "":
				version = req.Mod.Version
			case version != req.Mod.Version:
				return "", fmt.Errorf("%s/go.mod requires %s, and others require %s of its siblings", m.dir, req.Mod, version)
			}
		}
	}
	return version, nil
}

// siblingSums returns the lines of the go.sum files about modules of the
// repository.
func (r repository) siblingSums(mods []mod) (map[module.Version]sums, error) {
	all := make(map[module.Version]sums)
	for _, m := range mods {
		goSum, err := os.ReadFile(r.file(m.dir, "go.sum"))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		for line := range strings.Lines(string(goSum)) {
			fields := strings.Fields(line)
			if len(fields) != 3 || !isOneOf(mods)(fields[0]) {
				continue
			}
			version, ofGoMod := strings.CutSuffix(fields[1], "/go.mod")
			at := module.Version{Path: fields[0], Version: version}
			s := all[at]
			if ofGoMod {
				s.goMod = fields[2]
			} else {
				s.zip = fields[2]
			}
			all[at] = s
		}
	}
	return all, nil
}

func copyFile(to, from repository, name string) error {
	data, err := os.ReadFile(from.file(name))
	if err != nil {
		return err
	}
	return to.edit(name, func([]byte) ([]byte, error) { return data, nil })
}
