package clients_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An application that installs the package finds one module and its types there,
// as package.json says.
func TestOurClientWorksAsItIsPublished(t *testing.T) {
	app := t.TempDir()
	installed := filepath.Join(app, "node_modules", "@pintleauth", "client")
	if err := os.MkdirAll(installed, 0o755); err != nil {
		t.Fatal(err)
	}
	client, err := filepath.Abs(ours)
	if err != nil {
		t.Fatal(err)
	}
	run(t, client, "npm", "run", "--silent", "build")
	run(t, client, "npm", "pack", "--silent", "--pack-destination", app)
	packed, err := filepath.Glob(filepath.Join(app, "*.tgz"))
	if err != nil || len(packed) != 1 {
		t.Fatalf("npm packed %q, %v", packed, err)
	}
	run(t, app, "tar", "-xzf", packed[0], "-C", installed, "--strip-components=1")

	promises, err := os.ReadFile(filepath.Join(client, "test", "types.ts"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"package.json":  `{"type": "module"}`,
		"app.js":        `import { connect, RequestError } from "@pintleauth/client"; process.exit(typeof connect().signIn === "function" && new RequestError("/", 500).status === 500 ? 0 : 1)`,
		"app.ts":        strings.Replace(string(promises), "../src/index.js", "@pintleauth/client", 1),
		"tsconfig.json": `{"extends": "` + client + `/tsconfig.json", "include": ["app.ts"]}`,
	} {
		if err := os.WriteFile(filepath.Join(app, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, app, "node", "app.js")
	run(t, app, filepath.Join(client, "node_modules", ".bin", "tsc"), "--project", app)
}
