package main

import (
	"context"
	"os"
	"path/filepath"
)

// snapshot makes dir a clone of r whose last commit holds the work tree of r,
// committed or not, without what git ignores. It shares the objects of r.
func (r repository) snapshot(ctx context.Context, dir string) (repository, error) {
	index, err := os.MkdirTemp("", "index")
	if err != nil {
		return repository{}, err
	}
	defer os.RemoveAll(index)
	staging := []string{"GIT_INDEX_FILE=" + filepath.Join(index, "index")}
	if _, err := run(ctx, r.dir, staging, "git", "add", "--all"); err != nil {
		return repository{}, err
	}
	tree, err := run(ctx, r.dir, staging, "git", "write-tree")
	if err != nil {
		return repository{}, err
	}
	commit, err := r.git(ctx, append(identity, "commit-tree", tree, "-p", "HEAD", "-m", "the work tree")...)
	if err != nil {
		return repository{}, err
	}
	clone, err := r.clone(ctx, dir)
	if err != nil {
		return repository{}, err
	}
	_, err = clone.git(ctx, "reset", "--quiet", "--hard", commit)
	return clone, err
}

// clone makes dir a clone of r that shares its objects.
func (r repository) clone(ctx context.Context, dir string) (repository, error) {
	_, err := run(ctx, "", nil, "git", "clone", "--quiet", "--shared", r.dir, dir)
	return repository{dir}, err
}

// identity is the author of commits that stay on this machine.
var identity = []string{"-c", "user.name=release", "-c", "user.email=release@localhost"}
