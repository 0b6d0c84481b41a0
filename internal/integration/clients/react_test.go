package clients_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Two tabs of one browser show one session, whichever of them changes it.
func TestTheReactExample(t *testing.T) {
	site := startExample(t, "react")
	one := newBrowser(t).openTab(t, "one")
	one.open(site)
	one.hasTitle("Hello, guest")

	one.fill("username", "kim")
	one.fill("password", "open barley")
	one.press("Sign in")
	one.waitFor("refused", `document.querySelector("[role=alert]").textContent === "Wrong name or password."`)
	one.fill("username", "kim")
	one.fill("password", "open sesame")
	one.press("Sign in")
	one.hasTitle("Hello, Kim")
	one.waitFor("known to the server", `document.querySelector("#greeting").textContent === "The server knows you as Kim."`)
	one.picture("member")

	two := one.beside("two")
	two.open(site)
	two.hasTitle("Hello, Kim")
	one.fill("name", "Kim <3 & Co")
	one.press("Rename")
	one.hasTitle("Hello, Kim <3 & Co")
	two.hasTitle("Hello, Kim <3 & Co")
	two.waitFor("renamed at the server", `document.querySelector("#greeting").textContent === "The server knows you as Kim <3 & Co."`)
	two.press("Sign out")
	two.hasTitle("Hello, guest")
	one.hasTitle("Hello, guest")

	one.press("Sign in with the local identity provider")
	one.pick("Grace Hopper")
	one.hasTitle("Hello, Grace Hopper")
	one.press("Sign out")
	one.hasTitle("Hello, guest")
	one.picture("guest")
}

// Users without Node.js start the example with the built page of the repository.
func TestTheReactExampleHasThePageThatItsSourcesBuildTo(t *testing.T) {
	sources := filepath.Join(examples, "react", "page")
	built := t.TempDir()
	run(t, sources, "npm", "run", "--silent", "build", "--", "--outDir", built)
	want, got := files(t, built), files(t, filepath.Join(sources, "dist"))
	for name := range want {
		if !bytes.Equal(got[name], want[name]) {
			t.Errorf("%s differs from the build of the sources: run go generate ./examples/react", name)
		}
	}
	for name := range got {
		if want[name] == nil {
			t.Errorf("%s is not built by the sources", name)
		}
	}
}

// files returns the contents of the files of a folder.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		found[path], err = fs.ReadFile(root, path)
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("%s: %d files, %v", dir, len(found), err)
	}
	return found
}
