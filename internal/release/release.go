package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// release commits and tags a version of every published module. The work tree
// must have no other changes.
func (r repository) release(ctx context.Context, version string, date time.Time, p proxy) error {
	mods, err := r.modules(ctx)
	if err != nil {
		return err
	}
	if err := r.checkVersion(ctx, mods, version); err != nil {
		return err
	}
	if err := r.setVersion(mods, version, date); err != nil {
		return err
	}
	if err := r.setSums(ctx, mods, version, p); err != nil {
		return err
	}
	if _, err := r.git(ctx, "commit", "--quiet", "--all", "--message", "CHANGELOG.md: release "+version); err != nil {
		return err
	}
	for _, m := range mods {
		if !m.published() {
			continue
		}
		if _, err := r.git(ctx, "tag", "--annotate", "--message", m.path+" "+version, m.tag(version)); err != nil {
			return err
		}
	}
	return nil
}

// checkVersion requires a version that the go command accepts as a release of
// every module and that is above the released ones.
func (r repository) checkVersion(ctx context.Context, mods []mod, version string) error {
	if semver.Canonical(version) != version {
		return fmt.Errorf("the version is %q: it must be of the form v1.2.3", version)
	}
	for _, m := range mods {
		if err := module.Check(m.path, version); err != nil {
			return err
		}
	}
	if module.IsPseudoVersion(version) {
		return fmt.Errorf("%s is the version of a commit, not of a release", version)
	}
	tags, err := r.git(ctx, "tag", "--list", "v*")
	if err != nil {
		return err
	}
	for tag := range strings.FieldsSeq(tags) {
		if semver.Compare(version, tag) <= 0 {
			return fmt.Errorf("%s is not above %s, which is released", version, tag)
		}
	}
	return nil
}

// setVersion writes the version and its date into all files that have it but
// the checksums.
func (r repository) setVersion(mods []mod, version string, date time.Time) error {
	err := r.edit("CHANGELOG.md", func(b []byte) ([]byte, error) {
		s, err := withRelease(string(b), version, date)
		return []byte(s), err
	})
	if err != nil {
		return err
	}
	for _, name := range []string{"client/package.json", "client/package-lock.json"} {
		if err := r.edit(name, func(b []byte) ([]byte, error) { return withNPMVersion(b, number(version)) }); err != nil {
			return err
		}
	}
	return r.require(mods, version)
}

// require makes every module require its siblings at version, and the
// workspace replace them there.
func (r repository) require(mods []mod, version string) error {
	for _, m := range mods {
		err := r.edit(m.tag("go.mod"), func(b []byte) ([]byte, error) {
			f, err := modfile.Parse("go.mod", b, nil)
			if err != nil {
				return nil, err
			}
			for _, s := range m.siblings {
				if err := f.AddRequire(s, version); err != nil {
					return nil, err
				}
			}
			return f.Format()
		})
		if err != nil {
			return err
		}
	}
	return r.edit("go.work", func(b []byte) ([]byte, error) {
		f, err := modfile.ParseWork("go.work", b, nil)
		if err != nil {
			return nil, err
		}
		// In place, so that the block stays one.
		for _, line := range f.Replace {
			if isOneOf(mods)(line.Old.Path) {
				line.Syntax.Token[slices.Index(line.Syntax.Token, line.Old.Version)] = version
			}
		}
		return modfile.Format(f.Syntax), nil
	})
}

// setSums computes the checksums of the modules and writes them into the go.sum
// files of those that require them. A module's archive holds no other module, so
// writing the go.sum of one does not change the checksum of those before it.
func (r repository) setSums(ctx context.Context, mods []mod, version string, p proxy) error {
	known := make(map[string]sums)
	for _, m := range mods {
		required := make(map[module.Version]sums)
		for _, s := range m.siblings {
			required[module.Version{Path: s, Version: version}] = known[s]
		}
		if len(required) > 0 {
			err := r.edit(m.tag("go.sum"), func(b []byte) ([]byte, error) { return withSums(b, isOneOf(mods), required) })
			if err != nil {
				return err
			}
		}
		tree, err := r.tree(ctx)
		if err != nil {
			return err
		}
		if known[m.path], err = p.publish(ctx, r, m, version, tree); err != nil {
			return err
		}
	}
	return nil
}

// tree stages the work tree and returns what a commit of it would hold.
func (r repository) tree(ctx context.Context) (string, error) {
	if _, err := r.git(ctx, "add", "--all"); err != nil {
		return "", err
	}
	return r.git(ctx, "write-tree")
}

var npmVersion = regexp.MustCompile(`(?m)^(\s*"version": )"[^"]*"`)

// withNPMVersion sets the version in a package.json, or in the two places where
// a package-lock.json has it.
func withNPMVersion(b []byte, number string) ([]byte, error) {
	places := npmVersion.FindAllIndex(b, 2)
	if len(places) == 0 {
		return nil, errors.New("no version")
	}
	// Of the lock file the second is that of the package itself, too: its
	// dependencies come after it.
	end := places[len(places)-1][1]
	return append(npmVersion.ReplaceAll(b[:end:end], []byte(`${1}"`+number+`"`)), b[end:]...), nil
}
