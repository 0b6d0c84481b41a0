package adapters_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// generating is held while a client is written.
var generating sync.Mutex

// generate has Prisma generate its client, unless that of this schema is there.
func generate(t *testing.T, dialect string) {
	t.Helper()
	generating.Lock()
	defer generating.Unlock()
	schema := filepath.Join("prisma", dialect+".prisma")
	want, err := os.ReadFile(schema)
	if err != nil {
		t.Fatal(err)
	}
	made := filepath.Join("generated", dialect)
	// It is the last file that the generator would leave half made.
	if got, err := os.ReadFile(filepath.Join(made, "schema.prisma")); err == nil && bytes.Equal(got, want) && newer(made, "package-lock.json") {
		return
	}
	cmd := exec.CommandContext(t.Context(), "node", "node_modules/prisma/build/index.js", "generate", "--schema", schema)
	// Its engine for migrations is a program that it would download, and that
	// generating has no use for.
	cmd.Env = append(os.Environ(), "PRISMA_SCHEMA_ENGINE_BINARY=/bin/true", "CHECKPOINT_DISABLE=1", "PRISMA_HIDE_UPDATE_MESSAGE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("prisma generate: %v: scripts/setup installs what it needs\n%s", err, out)
	}
}

func newer(made, source string) bool {
	a, err := os.Stat(filepath.Join(made, "schema.prisma"))
	if err != nil {
		return false
	}
	b, err := os.Stat(source)
	return err == nil && a.ModTime().After(b.ModTime())
}
