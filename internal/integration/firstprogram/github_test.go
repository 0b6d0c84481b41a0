package firstprogram_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	"github.com/pintleauth/pintle/internal/integration/services"
)

// A github stands for github.com and api.github.com, and answers as their documentation
// says:
// https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
//
// It signs the user octocat in at once.
type github struct {
	certificate *services.Certificate
	server      *httptest.Server
	proxy       *httptest.Server // through which the program under test reaches it

	mu    sync.Mutex
	codes map[string]url.Values // the authorization request of each code
}

const (
	githubID     = "Iv1.1234567890abcdef"
	githubSecret = "the secret of the OAuth application"
)

func startGitHub(t *testing.T) *github {
	t.Helper()
	g := &github{certificate: services.NewCertificate(t, "github.com", "api.github.com"), codes: map[string]url.Values{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET github.com/login/oauth/authorize", g.authorize)
	mux.HandleFunc("POST github.com/login/oauth/access_token", g.token)
	mux.HandleFunc("GET api.github.com/user", member(map[string]any{"id": 583231, "login": "octocat", "name": "The Octocat", "email": nil}))
	mux.HandleFunc("GET api.github.com/user/emails", member([]map[string]any{{"email": "octocat@github.com", "primary": true, "verified": true}}))
	g.server = httptest.NewUnstartedServer(mux)
	g.server.TLS = &tls.Config{Certificates: []tls.Certificate{g.certificate.TLS}, MinVersion: tls.VersionTLS12}
	g.server.StartTLS()
	t.Cleanup(g.server.Close)
	g.proxy = httptest.NewServer(http.HandlerFunc(g.connect))
	t.Cleanup(g.proxy.Close)
	return g
}

func (g *github) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || q.Get("client_id") != githubID {
		http.Error(w, "the application is not registered", http.StatusNotFound)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	code := "code-" + string(rune('a'+len(g.codes)))
	g.codes[code] = q
	back.RawQuery = url.Values{"code": {code}, "state": {q.Get("state")}}.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (g *github) token(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	asked, known := g.codes[r.PostFormValue("code")]
	delete(g.codes, r.PostFormValue("code"))
	g.mu.Unlock()
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	} else {
		secret, _ = url.QueryUnescape(secret)
	}
	answer := map[string]string{"access_token": "gho_token", "scope": "read:user,user:email", "token_type": "bearer"}
	switch {
	case !known || asked.Get("redirect_uri") != r.PostFormValue("redirect_uri"):
		answer = map[string]string{"error": "bad_verification_code"}
	case id != githubID || secret != githubSecret:
		answer = map[string]string{"error": "incorrect_client_credentials"}
	}
	writeJSON(w, answer) // GitHub reports errors with status 200
}

func member(answer any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer gho_token" {
			http.Error(w, `{"message":"Bad credentials"}`, http.StatusUnauthorized)
			return
		}
		writeJSON(w, answer)
	}
}

func writeJSON(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // the connection is the client's
}

// connect is the proxy: every host is the server of g.
func (g *github) connect(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		http.Error(w, "only CONNECT", http.StatusMethodNotAllowed)
		return
	}
	var dialer net.Dialer
	server, err := dialer.DialContext(r.Context(), "tcp", g.server.Listener.Addr().String())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = server.Close() }()
	client, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer func() { _ = client.Close() }()
	if _, err := io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(server, client) // ends with either side
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
}

// transport leads a browser to the server of g for https addresses, and where they say for
// others.
func (g *github) transport() http.RoundTripper {
	return &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: g.certificate.Pool, MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if _, port, _ := net.SplitHostPort(address); port == "443" {
				address = g.server.Listener.Addr().String()
			}
			var dialer net.Dialer
			return dialer.DialContext(ctx, network, address)
		},
	}
}
