package adapters_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The documentation lists which adapters are driven here, and in which version.
func TestDocumentedVersionsAreThoseOfThePackages(t *testing.T) {
	page, err := os.ReadFile("../../../docs/shared-database.md")
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
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile("`([@/a-z0-9-]+)` ([0-9]+\\.[0-9]+\\.[0-9]+)").FindAllStringSubmatch(string(page), -1) {
		documented[m[1]] = true
		if version := installed.Dependencies[m[1]]; version != "" && version != m[2] {
			t.Errorf("docs/shared-database.md has %s in version %s, the tests have %s", m[1], m[2], version)
		}
	}
	for name := range installed.Dependencies {
		if strings.HasSuffix(name, "-adapter") && !documented[name] {
			t.Errorf("docs/shared-database.md does not list %s as tested", name)
		}
	}
}
