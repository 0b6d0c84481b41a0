package authtest_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestImports keeps the quickstart, which links this package, free of the testing
// flags, and the identity provider free of the code that is tested with it.
func TestImports(t *testing.T) {
	deny := []struct{ what, pkg, why string }{
		{"-deps", "testing", "links the testing flags into the host program"},
		{"-deps", "net/http/httptest", "registers a flag"},

		// Pintle, which the ready providers and the sign-in are for, does link
		// these; the files here must not use them.
		{`-f={{join .Imports "\n"}}`, "github.com/pintleauth/pintle/internal/handshake", "the identity provider must not share code with the client that it tests"},
		{`-f={{join .Imports "\n"}}`, "github.com/pintleauth/pintle/internal/oauth1", "the identity provider must not share code with the client that it tests"},
	}
	imports := map[string]string{}
	for _, d := range deny {
		if imports[d.what] == "" {
			out, err := exec.CommandContext(t.Context(), "go", "list", d.what, ".").Output()
			if err != nil {
				t.Fatal(err)
			}
			imports[d.what] = "\n" + string(out)
		}
		if strings.Contains(imports[d.what], "\n"+d.pkg+"\n") {
			t.Errorf("package authtest imports %s: %s", d.pkg, d.why)
		}
	}
}
