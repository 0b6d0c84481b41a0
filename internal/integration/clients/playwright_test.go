package clients_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/internal/integration/services"
)

// A storage state of authtest is one for Playwright itself.
func TestABrowserOfPlaywrightStartsSignedIn(t *testing.T) {
	auth := newAuth(t, config(t, "the secret of an application under test"))
	srv := httptest.NewServer(auth.Load(http.HandlerFunc(welcome)))
	defer srv.Close()

	state := filepath.Join(t.TempDir(), "kim.json")
	if err := os.WriteFile(state, authtest.StorageState(t, auth, srv.URL, &pintle.User{Name: "Kim"}), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "node", "playwright.mjs", services.ChromiumPath(t), state, srv.URL).CombinedOutput()
	if err != nil || string(out) != "Welcome, Kim" {
		t.Errorf("the page shows %q, %v", out, err)
	}
}
