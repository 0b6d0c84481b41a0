package clients_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An empty project installs the package from the archive that npm would publish.
func TestOurClientWorksAsItIsPublished(t *testing.T) {
	app := t.TempDir()
	client, err := filepath.Abs(ours)
	if err != nil {
		t.Fatal(err)
	}
	archive := pack(t, client, app)
	promises, err := os.ReadFile(filepath.Join(client, "test", "types.ts"))
	if err != nil {
		t.Fatal(err)
	}
	accountPromises, err := os.ReadFile(filepath.Join(client, "test", "account.ts"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"package.json": `{"private": true, "type": "module"}`,
		"app.js": `import { connect, RequestError } from "@pintleauth/client"
			import { connectAccount } from "@pintleauth/client/account"
			const whole = typeof connect().signIn === "function" && new RequestError("/", 500).status === 500 &&
				typeof connectAccount().password.change === "function"
			process.exit(whole ? 0 : 1)`,
		"app.ts":     strings.Replace(string(promises), "../src/index.js", "@pintleauth/client", 1),
		"account.ts": strings.Replace(string(accountPromises), "../src/account.js", "@pintleauth/client/account", 1),
	} {
		if err := os.WriteFile(filepath.Join(app, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, app, "npm", "install", "--offline", "--no-audit", "--no-fund", "--loglevel=error", archive)
	run(t, app, "node", "app.js")

	// Bundlers and Node.js find types in different ways.
	for _, resolution := range []string{"bundler", "nodenext"} {
		module := map[string]string{"bundler": "esnext", "nodenext": "nodenext"}[resolution]
		run(t, app, filepath.Join(client, "node_modules", ".bin", "tsc"), "--noEmit", "--strict", "--target", "es2022",
			"--lib", "es2022,dom,dom.iterable", "--module", module, "--moduleResolution", resolution, "app.ts", "account.ts")
	}
}

// pack makes the archive that npm would publish, which also builds it, and
// checks what is in it.
func pack(t *testing.T, client, into string) (archive string) {
	t.Helper()
	printed := output(t, client, "npm", "pack", "--silent", "--json", "--pack-destination", into)
	var packed []struct {
		Name, Version, Filename string
		Files                   []struct{ Path string }
	}
	// The output of prepack comes first.
	if err := json.Unmarshal([]byte(printed[strings.Index(printed, "["):]), &packed); err != nil || len(packed) != 1 {
		t.Fatalf("npm pack prints %q: %v", printed, err)
	}
	if packed[0].Name != "@pintleauth/client" {
		t.Errorf("the package is named %q", packed[0].Name)
	}
	var files []string
	for _, f := range packed[0].Files {
		if !strings.HasSuffix(f.Path, ".d.ts") {
			files = append(files, f.Path)
		}
	}
	slices.Sort(files)
	if want := []string{"LICENSE", "README.md", "dist/account.js", "dist/pintle.js", "package.json"}; !slices.Equal(files, want) {
		t.Errorf("the package has %q beside its types, want %q", files, want)
	}
	return filepath.Join(into, packed[0].Filename)
}

func TestOurClientHasTheLicenceOfTheRepository(t *testing.T) {
	var texts [2]string
	for i, dir := range []string{ours, filepath.Dir(ours)} {
		text, err := os.ReadFile(filepath.Join(dir, "LICENSE"))
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	if texts[0] != texts[1] {
		t.Error("client/LICENSE is not LICENSE")
	}
}
