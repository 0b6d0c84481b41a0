// Package clients_test drives the published browser clients of Auth.js, and
// ours, in a real browser on a site that Pintle serves. The pages it saw are
// written to PINTLE_SCREENSHOTS as pictures.
package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// ours is the folder of the client that belongs to Pintle.
const ours = "../../../client"

// build makes the pages with Vite, and our client as its own build makes it,
// and returns the folder they are in.
func build(t *testing.T) string {
	t.Helper()
	out := t.TempDir()
	run(t, ".", "npm", "run", "--silent", "build", "--", "--outDir", out)
	run(t, ours, "npm", "run", "--silent", "bundle", "--", "--outfile="+filepath.Join(out, "pintle.js"))
	run(t, ours, "npm", "run", "--silent", "bundle-account", "--", "--outfile="+filepath.Join(out, "account.js"))
	return out
}

func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	output(t, dir, name, args...)
}

// output runs a program that must succeed and returns its output.
func output(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: scripts/setup installs what it needs\n%s", cmd, err, out)
	}
	return string(out)
}

func TestOurClientHasTheTypesItPromises(t *testing.T) {
	run(t, ours, "npm", "run", "--silent", "check")
}

func TestOurClientIsSmall(t *testing.T) {
	// The functions of the account are loaded where they are needed.
	for script, most := range map[string]int64{"bundle": 4224, "bundle-account": 5760} {
		file := filepath.Join(t.TempDir(), "pintle.js")
		run(t, ours, "npm", "run", "--silent", script, "--", "--outfile="+file)
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > most {
			t.Errorf("the result of %s has %d bytes, want at most %d", script, info.Size(), most)
		}
		t.Logf("%s: %d bytes", script, info.Size())
	}
}
