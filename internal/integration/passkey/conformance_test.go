package passkey_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The published client for passkeys works with the server of the conformance
// kit, configured as the kit's README describes.
func TestThePublishedClientSignsInAtTheConformanceServer(t *testing.T) {
	server := conformanceServer(t)
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
	}})
	mux.Handle("/scripts/", http.StripPrefix("/scripts/", http.FileServer(http.Dir(scripts(t)))))
	mux.HandleFunc("/", home)
	front := httptest.NewServer(mux)
	defer front.Close()
	s := &site{t: t, url: strings.Replace(front.URL, "127.0.0.1", "localhost", 1)}
	d := s.device(t)

	d.home()
	if to := d.evaluate(`signIn({ email: "ada@example.com" }).then(r => r.url)`); d.codeOf(to) != "" || d.who() != "ada@example.com" {
		t.Fatalf("the registration ends at %s, signed in is %q", to, d.who())
	}
	d.forget()
	if to := d.evaluate(`signIn({ action: "authenticate" }).then(r => r.url)`); d.codeOf(to) != "" || d.who() != "ada@example.com" {
		t.Errorf("the sign-in ends at %s, signed in is %q", to, d.who())
	}
	if to := d.evaluate(`signIn({ action: "register" }).then(r => r.url).catch(e => "?error=" + e.name)`); d.codeOf(to) == "" {
		t.Errorf("the authenticator registers twice for one user, and leads to %s", to)
	}

	state := kitState(t, server)
	if len(state.Users) != 1 || len(state.Accounts) != 1 || len(state.Authenticators) != 1 {
		t.Fatalf("the store has %+v", state)
	}
	passkey, account := state.Authenticators[0], state.Accounts[0]
	if passkey["credentialID"] != account["providerAccountId"] || passkey["userId"] != state.Users[0]["id"] || passkey["counter"] == 0.0 {
		t.Errorf("the passkey is %v, its account %v", passkey, account)
	}

	// The kit seeds the state that it has dumped.
	reset(t, server, state)
	d.forget()
	if to := d.evaluate(`signIn({ action: "authenticate" }).then(r => r.url)`); d.codeOf(to) != "" || d.who() != "ada@example.com" {
		t.Errorf("after a reset the sign-in ends at %s, signed in is %q", to, d.who())
	}
}

type kitRows struct {
	Users              []map[string]any `json:"users"`
	Accounts           []map[string]any `json:"accounts"`
	Sessions           []map[string]any `json:"sessions"`
	VerificationTokens []map[string]any `json:"verificationTokens"`
	Authenticators     []map[string]any `json:"authenticators"`
}

// conformanceServer starts the server and returns its URL.
func conformanceServer(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "server")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../conformance").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	config, err := json.Marshal(map[string]any{
		"host": "127.0.0.1", "port": port, "instance": "passkeys", "recordFile": filepath.Join(dir, "records"),
		"secret": "the secret of a server with passkeys", "trustHost": true,
		"adapter":      map[string]any{"kind": "memory"},
		"experimental": map[string]any{"enableWebAuthn": true},
		"providers":    []any{map[string]any{"kind": "passkey", "id": "passkey", "name": "Passkey"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "config.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), "CONFORMANCE_CONFIG="+file)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // the error of the killed process
	})
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	for deadline := time.Now().Add(pageTimeout); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err == nil {
			_ = c.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server does not listen: %v", err)
		}
	}
	reset(t, url, kitRows{})
	return url
}

func reset(t *testing.T, server string, rows kitRows) {
	t.Helper()
	body, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(server+"/__conformance/reset", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusNoContent || resp.Header.Get("X-Conformance-Instance") != "passkeys" {
		t.Fatalf("reset: %s", resp.Status)
	}
}

func kitState(t *testing.T, server string) (rows kitRows) {
	t.Helper()
	resp, err := http.Get(server + "/__conformance/state")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.NewDecoder(resp.Body).Decode(&rows); err != nil {
		t.Fatal(err)
	}
	return rows
}
