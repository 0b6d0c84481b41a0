package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"strings"
)

// format names the files that gofmt would change. git lists them: installed npm
// packages have Go files, too.
func (c *check) format(ctx context.Context) (string, error) {
	listed, err := output(ctx, c.dir, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "*.go")
	if err != nil {
		return "", err
	}
	files := 0
	var failed []error
	for name := range strings.SplitSeq(strings.TrimSuffix(listed, "\x00"), "\x00") {
		source, err := os.ReadFile(filepath.Join(c.dir, filepath.FromSlash(name)))
		if os.IsNotExist(err) { // deleted, and not yet in the index
			continue
		}
		if err != nil {
			return "", err
		}
		files++
		switch formatted, err := format.Source(source); {
		case err != nil:
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
		case !bytes.Equal(formatted, source):
			failed = append(failed, fmt.Errorf("gofmt would change %s", name))
		}
	}
	return fmt.Sprintf("gofmt would change none of %d files", files), errors.Join(failed...)
}
