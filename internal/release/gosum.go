package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
)

// withSums replaces the lines of a go.sum about modules of the repository by
// those of the versions in required.
func withSums(goSum []byte, siblings func(path string) bool, required map[module.Version]sums) ([]byte, error) {
	lines := make(map[module.Version][]string)
	for line := range strings.Lines(string(goSum)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return nil, fmt.Errorf("a line has %d fields: %q", len(fields), line)
		}
		if siblings(fields[0]) {
			continue
		}
		at := module.Version{Path: fields[0], Version: fields[1]}
		lines[at] = append(lines[at], fields[2])
	}
	for at, s := range required {
		lines[at] = []string{s.zip}
		lines[module.Version{Path: at.Path, Version: at.Version + "/go.mod"}] = []string{s.goMod}
	}
	var sorted []module.Version
	for at := range lines {
		sorted = append(sorted, at)
	}
	module.Sort(sorted) // as the go command does
	var out bytes.Buffer
	for _, at := range sorted {
		slices.Sort(lines[at])
		for _, sum := range lines[at] {
			fmt.Fprintln(&out, at.Path, at.Version, sum)
		}
	}
	return out.Bytes(), nil
}

// hashGoMod is the checksum of a go.mod file, see
// https://go.dev/ref/mod#go-sum-files.
func hashGoMod(data []byte) (string, error) {
	return dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	})
}
