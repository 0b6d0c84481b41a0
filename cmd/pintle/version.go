package main

import (
	"fmt"
	"io"
	"runtime/debug"
)

// printVersion writes which version of the command this is, as the Go command
// noted it.
func printVersion(w io.Writer) error {
	version, revision, built := "unknown", "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		version, built = info.Main.Version, info.GoVersion
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = " " + s.Value
			}
		}
	}
	_, err := fmt.Fprintf(w, "pintle %s%s %s\n", version, revision, built)
	return err
}
