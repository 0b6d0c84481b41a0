package xatastore

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// The documentation lists the tested versions of the packages of Auth.js.
func TestDocumentedVersionsAreThoseOfThePackages(t *testing.T) {
	page, err := os.ReadFile("../../../docs/xata.md")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile("package.json")
	if err != nil {
		t.Fatal(err)
	}
	var installed struct{ Dependencies map[string]string }
	if err := json.Unmarshal(file, &installed); err != nil {
		t.Fatal(err)
	}
	for name, version := range installed.Dependencies {
		if said := "`" + name + "` " + version; !strings.Contains(string(page), said) {
			t.Errorf("docs/xata.md does not list %s", said)
		}
	}
}
