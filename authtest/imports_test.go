package authtest_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestImports keeps the quickstart, which links this package, small and free
// of the testing flags.
func TestImports(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	deny := map[string]string{
		"testing":                           "links the testing flags into the host program",
		"net/http/httptest":                 "registers a flag",
		"github.com/coreos/go-oidc/v3/oidc": "what is tested against must not be built from it",
		"golang.org/x/oauth2":               "what is tested against must not be built from it",
		"github.com/dghubble/oauth1":        "what is tested against must not be built from it",
	}
	for dep := range strings.Lines(string(out)) {
		if why, ok := deny[strings.TrimSpace(dep)]; ok {
			t.Errorf("package authtest imports %s: %s", strings.TrimSpace(dep), why)
		}
	}
}
