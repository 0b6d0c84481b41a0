package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

var unreleased = regexp.MustCompile(`(?m)^## \[Unreleased\]\n`)

// withRelease moves what CHANGELOG.md lists as unreleased to a version.
func withRelease(changelog, version string, date time.Time) (string, error) {
	at := unreleased.FindStringIndex(changelog)
	if at == nil {
		return "", errors.New("no section [Unreleased]")
	}
	before, entries := changelog[:at[1]], changelog[at[1]:]
	section, _, _ := strings.Cut(entries, "\n## [")
	if !strings.Contains(section, "\n- ") {
		return "", errors.New("the section [Unreleased] is empty: list what the release changes")
	}
	return fmt.Sprintf("%s\n## [%s] - %s\n%s", before, number(version), date.Format(time.DateOnly), entries), nil
}

// number is a version without the v that Go puts in front.
func number(version string) string { return strings.TrimPrefix(version, "v") }
