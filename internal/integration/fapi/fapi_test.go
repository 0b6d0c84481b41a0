// Package fapi_test signs in at an OpenID provider of another project that requires the FAPI
// 2.0 Security Profile: pushed requests, signed assertions, and tokens that are bound to a key.
package fapi_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/apiclient"
	"github.com/pintleauth/pintle/internal/integration/formbrowser"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/store/memstore"
)

// RPT-87: sign-in, API call, refresh and revocation at a provider of the profile, which asks for
// a nonce in every proof. A switch at the provider turns on the rules, and one here.
func TestAProviderOfAnotherProjectRequiresFAPI(t *testing.T) {
	var handler http.Handler
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(site.Close)
	issuer, said := startProvider(t, site.URL)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	seen := &recorder{}
	store := memstore.New()
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.OAuth{
			ID: "sso", Protocol: oauth.OIDC, Issuer: issuer, ClientID: "app",
			SecurityProfile: oauth.FAPI2, ClientKeys: []oauth.ClientKey{{Signer: key}},
			Authorization: oauth.Endpoint{Params: map[string]string{"scope": "openid profile email"}}, ProfileFromUserInfo: true,
		}},
		Store:      store,
		Secrets:    []string{"a secret for tests, 32 characters or more"},
		Getenv:     func(string) string { return "" },
		HTTPClient: &http.Client{Transport: seen},
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("/", auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s := pintle.SessionFrom(r.Context()); s != nil {
			_, _ = io.WriteString(w, s.User.ID)
		}
	})))
	handler = mux

	b := formbrowser.New(t)
	p := b.Submit(b.Get(site.URL+"/auth/signin?callbackUrl=/"), "/signin/sso", nil)
	p = b.Submit(p, "/interaction/", url.Values{"login": {"ada"}, "password": {"any"}})
	p = b.Submit(p, "/interaction/", nil)
	if p.URL.Path != "/" || p.Text == "" {
		t.Fatalf("%s shows:\n%s\nthe provider says %q", p.URL, p.Text, said())
	}
	account, err := auth.Account(t.Context(), "sso", "ada")
	if err != nil || account.TokenType != "dpop" {
		t.Fatalf("the account is %v, %v", account, err)
	}

	api, err := apiclient.New(auth, p.Text, apiclient.Options{Provider: "sso", Origins: []string{issuer}, Transport: seen})
	if err != nil {
		t.Fatal(err)
	}
	call := func() {
		t.Helper()
		resp, err := api.Get(issuer + "/me")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if body, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(body), "Ada Lovelace") {
			t.Errorf("the API answers %s with %s, %v; the provider says %q", resp.Status, body, err, said())
		}
	}
	call()
	renewed, err := auth.Refresh(t.Context(), &pintle.Account{Provider: "sso", ProviderAccountID: "ada", AccessToken: account.AccessToken, ExpiresAt: 1})
	if err != nil || renewed.TokenType != "dpop" {
		t.Fatalf("Refresh = %v, %v; the provider says %q", renewed, err, said())
	}
	call()

	// A copy of the token is of no use.
	stolen, err := http.NewRequestWithContext(t.Context(), http.MethodGet, issuer+"/me", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	stolen.Header.Set("Authorization", "Bearer "+renewed.AccessToken)
	resp, err := (&http.Client{}).Do(stolen)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body.Close(); resp.StatusCode == http.StatusOK {
		t.Error("the API accepts the token without a proof")
	}
	if err := auth.RevokeTokens(t.Context(), &pintle.Account{Provider: "sso", ProviderAccountID: "ada"}); err != nil {
		t.Errorf("RevokeTokens: %v; the provider says %q", err, said())
	}
	if pushes := seen.count("/request"); pushes != 2 {
		t.Errorf("%d pushed requests, want one with a nonce and one before it was known", pushes)
	}
}

// A recorder counts the requests of the application.
type recorder struct {
	mu    sync.Mutex
	paths []string
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	r.paths = append(r.paths, req.URL.Path)
	r.mu.Unlock()
	return http.DefaultTransport.RoundTrip(req)
}

func (r *recorder) count(path string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.paths {
		if p == path {
			n++
		}
	}
	return n
}

// startProvider starts the identity provider, and returns its issuer and a function for what
// it has said since.
func startProvider(t *testing.T, app string) (issuer string, said func() []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "idp.mjs", app)
	cmd.Env = append(os.Environ(), "NODE_ENV=production")
	cmd.Stderr = io.Discard // notices about development settings
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: scripts/setup installs what it needs", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // the error of the killed process
	})
	first := make(chan string, 1)
	var mu sync.Mutex
	var lines []string
	go func() {
		defer close(first)
		for in := bufio.NewScanner(out); in.Scan(); {
			line := in.Text()
			if issuer, ok := strings.CutPrefix(line, "issuer "); ok {
				first <- issuer
				continue
			}
			if strings.HasPrefix(line, "error ") {
				mu.Lock()
				lines = append(lines, line)
				mu.Unlock()
			}
		}
	}()
	issuer, ok := <-first
	if !ok {
		t.Fatal("the identity provider does not start: scripts/setup installs what it needs")
	}
	return issuer, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return lines
	}
}
