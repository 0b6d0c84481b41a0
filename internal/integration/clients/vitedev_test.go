package clients_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
)

// proxyOfVite is the setting that has the development server of Vite forward routes.
var proxyOfVite = regexp.MustCompile(`server: (\{ proxy: \{ '(/\w+)': .*?\} \} \})`)

// The setting that the guides and the example show works without a URL in the configuration.
func TestTheDevelopmentServerOfViteForwardsTheRoutes(t *testing.T) {
	for _, file := range []string{"../../../docs/frameworks.md", "../../../examples/react/page/vite.config.js"} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			setting := proxyOfVite.FindStringSubmatch(string(text))
			if setting == nil {
				t.Fatalf("%s has no setting for Vite", file)
			}
			auth, err := pintle.New(pintle.Config{
				BasePath: setting[2], Secrets: []string{strings.Repeat("secret ", 6)}, Getenv: func(string) string { return "" },
				Providers: []pintle.Provider{&pintle.Credentials{Authorize: func(context.Context, *pintle.Submission) (*pintle.User, error) {
					return &pintle.User{ID: "1", Name: "Mary Anning"}, nil
				}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			srv := httptest.NewServer(auth)
			t.Cleanup(srv.Close)
			site := serveWithVite(t, strings.Replace(setting[1], "http://127.0.0.1:3000", srv.URL, 1))

			jar, _ := cookiejar.New(nil) // never fails
			browser := &http.Client{Jar: jar, Timeout: 10 * time.Second}
			var form struct{ CSRFToken string }
			fetched(t, browser, http.MethodGet, site, setting[2]+"/csrf", nil, &form)
			fetched(t, browser, http.MethodPost, site, setting[2]+"/callback/credentials",
				url.Values{"csrfToken": {form.CSRFToken}, "json": {"true"}}, nil)
			var session struct{ User struct{ Name string } }
			fetched(t, browser, http.MethodGet, site, setting[2]+"/session", nil, &session)
			if session.User.Name != "Mary Anning" {
				t.Errorf("the session is of %q", session.User.Name)
			}
		})
	}
}

// serveWithVite starts the development server with a setting, and returns its address.
func serveWithVite(t *testing.T, setting string) string {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "vite.config.mjs")
	for name, text := range map[string]string{config: "export default { server: " + setting + " }", filepath.Join(dir, "index.html"): "<p>A page"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	free, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	_ = free.Close()
	cmd := exec.CommandContext(t.Context(), "node_modules/.bin/vite", dir, "--config", config, "--host", "localhost", "--port", fmt.Sprint(port), "--strictPort")
	var said strings.Builder
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &said, &said, time.Second
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: scripts/setup installs what it needs", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(said.String())
		}
	})
	site := fmt.Sprint("http://localhost:", port)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		resp, err := http.Get(site)
		if err == nil {
			_ = resp.Body.Close()
			return site
		}
		if time.Now().After(deadline) {
			t.Fatal("Vite has not started: ", err)
		}
	}
}

// fetched sends a request as a script of the page does, and reads the JSON of the answer.
func fetched(t *testing.T, browser *http.Client, method, site, path string, form url.Values, into any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, site+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	if method == http.MethodPost {
		req.Header.Set("Origin", site)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("X-Auth-Return-Redirect", "1")
	}
	resp, err := browser.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: status %d, %v: %.300s", method, path, resp.StatusCode, err, body)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatalf("%s: %v: %.300s", path, err, body)
	}
}
